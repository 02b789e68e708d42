"""What ``setup`` and ``unsetup`` share: show each change to hosts' files, ask, write, tell."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from codexmem_hookspecs.errors import Refused

from codexmem_core.plugins.calls import PluginError
from codexmem_core.setup.changes import planned, write
from codexmem_core.setup.diffs import unified
from codexmem_core.setup.files import ChangedMeanwhileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.setup import Edit

    from codexmem_core.cli.state import State
    from codexmem_core.engine import Engine

ATTEMPTS = 5
"""Times that a file may change between showing and writing until it is given up."""
NOTHING = {False: "nothing to change, everything is in place", True: "nothing to change, nothing of codexmem is there"}
"""Said of a host whose files are as they should be, by whether all is to be taken out."""


@dataclass(kw_only=True)
class HostChange:
    """What became of one host's files."""

    host: str
    edits: Sequence[Edit] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    """Files that were written, with where their old content is."""
    error: str = ""

    @property
    def written(self) -> bool:
        """Whether all that was planned is done."""
        return bool(self.edits) and not self.error and len(self.kept) == len(self.edits)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "error": self.error,
            "files": [
                {
                    "path": edit.path,
                    "summary": edit.summary,
                    "diff": unified(edit),
                    "written": edit.path in self.kept,
                    "backup": self.kept.get(edit.path, ""),
                }
                for edit in self.edits
            ],
        }


@dataclass(frozen=True, kw_only=True)
class HostFiles:
    """One run over some hosts. ``out`` takes everything of ours out."""

    engine: Engine
    hosts: Sequence[str]
    out: bool = False
    dry_run: bool = False
    yes: bool = False
    say: Callable[[str], None] = click.echo

    def change(self) -> list[HostChange]:
        """Each of the hosts, which are installed, on its own: what stands in the way of one stops no other."""
        return [self._change(name) for name in dict.fromkeys(self.hosts)]

    def would_ask(self) -> bool:
        """Whether one of the hosts has something to change; what stands in the way of another is no question."""
        for name in self.hosts:
            with suppress(Refused, PluginError):
                if planned(self.engine, name, out=self.out):
                    return True
        return False

    def _change(self, name: str) -> HostChange:
        change = HostChange(host=name)
        host = self.engine.host(name)
        title = host.title
        for _ in range(ATTEMPTS):
            try:
                change.edits = planned(self.engine, name, out=self.out)
            except (Refused, PluginError) as error:
                change.error = str(error)
                self.say(f"{title}: {error}")
                return change
            if not change.edits:
                self.say(f"{title}: {NOTHING[self.out]}")
                return change
            self._show(host, change.edits)
            if self.dry_run or not self._agreed(len(change.edits)):
                return change
            try:
                change.kept = write(self.engine, name, change.edits, out=self.out)
            except ChangedMeanwhileError as error:
                self.say(f"{title}: {error}; nothing is written, this is it now:")
                continue
            except (OSError, Refused) as error:
                change.error = f"nothing is written: {error}"
                self.say(f"{title}: {change.error}")
            for edit in change.edits:
                if edit.path in change.kept:
                    kept = change.kept[edit.path]
                    done = "removed" if edit.after is None else "written"
                    self.say(f"{done}: {edit.path}" + (f" (as it was: {kept})" if kept else ""))
            return change
        change.error = "the files change faster than they are written; end what writes them and try again"
        self.say(f"{title}: {change.error}")
        return change

    def _show(self, host: Host, edits: Sequence[Edit]) -> None:
        for edit in edits:
            self.say(unified(edit).rstrip("\n"))
        self.say(f"{host.title}: {'; '.join(edit.summary for edit in edits)}")
        homes = host.homes(self.engine.environ)
        if not any(map(os.path.exists, (*homes, *(os.path.dirname(edit.path) for edit in edits)))):
            self.say(f"note: there is no {' and no '.join(homes)}; {host.title} seems not to have been used here")

    def _agreed(self, count: int) -> bool:
        return self.yes or click.confirm(f"Write {'this file' if count == 1 else f'these {count} files'}?")


def change_and_show(state: State, hosts: Sequence[str], *, out: bool, yes: bool, dry_run: bool) -> list[HostChange]:
    """Change the hosts' files as asked, showing what happens."""
    for name in hosts:
        state.engine.host(name)  # a name that is none is no question for anybody
    say = _silent if state.as_json else click.echo
    files = HostFiles(engine=state.engine, hosts=hosts, out=out, dry_run=dry_run, yes=yes, say=say)
    if not (yes or dry_run) and (state.as_json or not sys.stdin.isatty()) and files.would_ask():
        raise click.UsageError("nobody can be asked here: say --yes, or --dry-run to see what would change")
    return files.change()


def _silent(_text: str) -> None:
    """For JSON: what happened is in the object."""


def finish(state: State, changes: Sequence[HostChange], told: str) -> None:
    """Say what comes next, or all of it as JSON. Exits with 1 when something stood in the way of a host."""
    written = [change.host for change in changes if change.written]
    *most, last = [state.engine.host(name).title for name in written] or [""]
    titles = f"{', '.join(most)} and {last}" if most else last
    value = {"hosts": {change.host: change.as_json() for change in changes}}
    if state.as_json or written:
        state.show(value, lambda: told.format(titles=titles, names=" ".join(written)))
    if any(change.error for change in changes):
        raise click.exceptions.Exit(1)
