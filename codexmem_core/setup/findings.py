"""Whether hosts still say what they should: what is installed beside what ``setup`` would install now."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.records import Finding
from codexmem_hookspecs.values.setup import MCP_EVENT

from codexmem_core.safety.text import shown_time
from codexmem_core.setup.changes import SET_UP
from codexmem_core.setup.files import read_file
from codexmem_core.setup.wanted import PLACE, setup_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest

    from codexmem_core.engine import Engine

IMPORT_S = 20.0
"""Longest wait for an interpreter that is tried."""


def host_findings(engine: Engine) -> Iterator[Finding]:
    """Of every host, whatever the others' files are like; then of hosts whose plugin is not there any more."""
    programs: set[str] = set()
    set_up = engine.catalogue.marks(SET_UP)
    for name, host in engine.hosts.items():
        fix = f"codexmem setup {name}"
        try:
            request = setup_request(engine, host)
            yield from HostCheck(engine, host, request, fix, int(set_up.get(name, 0))).findings()
            programs |= {argv[0] for hook in host.installed(request) if (argv := _argv(hook.command))}
        except Refused as error:
            yield Finding(level="fail", message=f"{host.title}: {error}", fix=f"mend the file, then {fix}")
        except Exception as error:  # noqa: BLE001 - one host's plugin hides no other host
            yield Finding(level="fail", message=f"{host.title}: its plugin fails: {type(error).__name__}: {error}")
    for program in sorted(programs):
        yield from _program(program)
    yield from _left_behind(engine, set_up)


class HostCheck:
    """One host: what stands in its files, what should, and why the difference matters."""

    def __init__(self, engine: Engine, host: Host, request: SetupRequest, fix: str, set_up_ms: int) -> None:
        self._engine = engine
        self._host = host
        self._fix = fix
        self._set_up_ms = set_up_ms
        self._edits = host.plan(request)
        self._now = host.installed(request)
        self._wanted = host.installed(replace(request, read=_after(self._edits)))
        self._request = request

    def findings(self) -> Iterator[Finding]:
        """What is wrong, a line a reason; then a line for each hook that is as it should be."""
        if not self._wanted and not self._edits:
            yield Finding(level="info", message=f"{self._host.title} has nothing to set up")
        elif not self._now:
            yield self._absent()
        else:
            faults = list(self._faults())
            yield from self._grouped(faults)
            yield from self._right({hook for hook, _, _ in faults})
            if not faults:
                yield from (
                    Finding(level="fail", message=f"{edit.path} should say otherwise: {edit.summary}", fix=self._fix)
                    for edit in self._edits
                )

    def _grouped(self, faults: Iterable[tuple[str, str, str]]) -> Iterator[Finding]:
        """Hooks that share a reason share a line."""
        events: dict[tuple[str, str], list[str]] = {}
        for event, reason, fix in faults:
            events.setdefault((reason, fix), []).append("MCP server" if event == MCP_EVENT else event)
        for (reason, fix), names in events.items():
            named = f"all {len(names)}" if 1 < len(names) == len(self._wanted) else ", ".join(names)
            yield Finding(level="fail", message=f"{self._host.title} {named}: {reason}", fix=fix)

    def _absent(self) -> Finding:
        title = self._host.title
        if self._set_up_ms:
            files = " and ".join(edit.path for edit in self._edits)
            message = f"{title} was set up on {shown_time(self._set_up_ms)}, but nothing of it is left in {files}"
            return Finding(level="fail", message=message, fix=self._fix)
        return Finding(level="info", message=f"{title} is not set up: it is not told what is remembered", fix=self._fix)

    def _faults(self) -> Iterator[tuple[str, str, str]]:
        """(hook, reason, fix)."""
        there = _by_event(self._now)
        for wanted in self._wanted:
            found = there.pop(wanted.event, [])
            if not found:
                yield wanted.event, f"missing in {wanted.path}", self._fix
            elif len(found) > 1:
                yield wanted.event, f"installed {len(found)} times in {found[0].path}", self._fix
            else:
                yield from self._fault(found[0], wanted)
        for event, (hook, *_) in there.items():
            yield event, f"installed in {hook.path}, and nothing needs it any more", self._fix

    def _fault(self, hook: InstalledHook, wanted: InstalledHook) -> Iterator[tuple[str, str, str]]:
        if hook.command != wanted.command:
            yield hook.event, self._otherwise(_argv(hook.command), _argv(wanted.command)), self._fix
        elif hook.trust == "untrusted":
            reason = f"{self._host.title} does not run it: what {hook.path} says is not what was trusted"
            yield hook.event, reason, self._fix
        elif hook.problem:
            yield hook.event, hook.problem, hook.fix or self._fix

    def _otherwise(self, argv: Sequence[str], wanted: Sequence[str]) -> str:
        if not argv:
            return "its command cannot be read"
        if argv[0] != wanted[0] and not os.access(argv[0], os.X_OK):
            return f"its interpreter {argv[0]} is gone"
        if argv[0] != wanted[0]:
            return f"it runs {argv[0]}, while this codexmem runs {wanted[0]}"
        names = {PLACE: "codexmem in", self._request.home: "home", self._request.config: "settings file"}
        if len(argv) == len(wanted):
            for given, meant in zip(argv, wanted, strict=True):
                if given != meant and meant in names:
                    return f"it works with the {names[meant]} {given}, while this is {meant}"
        return "its command is that of another version"

    def _right(self, wrong: set[str]) -> Iterator[Finding]:
        """A line for each hook that is as it should be, and what sessions of the host were told."""
        title, name, catalogue = self._host.title, self._host.name, self._engine.catalogue
        fired = catalogue.last_fired()
        for hook in self._now:
            if hook.event not in wrong:
                said = "installed, trusted" if hook.trust == "trusted" else "installed"
                at_ms = fired.get((name, hook.event), 0)
                when = f"last fired {shown_time(at_ms)}" if at_ms else "not fired yet"
                shown = f"MCP server: {said}" if hook.event == MCP_EVENT else f"{hook.event}: {said}, {when}"
                yield Finding(level="ok", message=f"{title} {shown}")
        given = catalogue.last_given(name)
        if given is not None:
            what = f"memory {given.memory}, generation {given.generation}, to session {given.session_id}"
            yield Finding(level="ok", message=f"{title}: last gave {what} on {shown_time(given.at_ms)}")


def _program(program: str) -> Iterator[Finding]:
    """Whether an interpreter of hooks is there, finds us, and is not a script in front of one."""
    if not os.access(program, os.X_OK):
        return  # said above, hook by hook
    with open(program, "rb") as file:
        if file.read(2) == b"#!":
            yield Finding(
                level="warn",
                message=f"{program} is a script that starts Python, which every hook waits for",
                fix="run codexmem setup with the interpreter itself: the path that python -c 'import sys;"
                " print(sys.executable)' prints",
            )
    problem = import_problem(program)
    if problem:
        yield Finding(
            level="fail",
            message=f"{program} -I cannot import codexmem: {problem}",
            fix="install codexmem in a virtual environment (not with --user), then codexmem setup from there",
        )


def import_problem(program: str) -> str:
    """Why the worker that this interpreter's hooks start would do nothing; empty when it would. It runs with ``-I``."""
    code = "import codexmem_core.host.shim"
    try:
        done = subprocess.run(
            [program, "-I", "-c", code], capture_output=True, text=True, timeout=IMPORT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1] if done.returncode else ""


def _left_behind(engine: Engine, set_up: Mapping[str, str]) -> Iterator[Finding]:
    """Hosts that were set up, and whose plugin is disabled, refused or uninstalled."""
    off = [info.name for info in engine.plugins.infos if info.state != "active"]
    for name in sorted(set(set_up) - set(engine.hosts)):
        yield Finding(
            level="fail",
            message=f"{name} was set up on {shown_time(int(set_up[name]))}, but no active plugin provides it"
            f" (not active: {', '.join(off) or 'none'}); its hooks run for nothing",
            fix=f"let the plugin be loaded again ([plugins] disabled in {engine.config_path}, CODEXMEM_DISABLE),"
            f" then codexmem unsetup {name} if it shall go",
        )


def _after(edits: Sequence[Edit]) -> Callable[[str], bytes | None]:
    """Reads hosts' files as they would be after the edits."""
    written = {edit.path: edit.after for edit in edits}
    return lambda path: written[path] if path in written else read_file(path)


def _by_event(hooks: Iterable[InstalledHook]) -> dict[str, list[InstalledHook]]:
    found: dict[str, list[InstalledHook]] = {}
    for hook in hooks:
        found.setdefault(hook.event, []).append(hook)
    return found


def _argv(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []
