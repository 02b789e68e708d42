"""What every host's set-up must do, as the part of :class:`HostContract` that is about ``plan`` and ``installed``."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import EventKind
from codexmem_hookspecs.values.setup import MCP_EVENT, SHIM, SetupRequest, Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import ClassVar

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.specs import Capture
    from codexmem_hookspecs.testing.services import PlainServices
    from codexmem_hookspecs.values.setup import Edit, InstalledHook

PYTHON = '/opt/it\'s a "place"/bin/python'
MOVED = "/elsewhere/bin/python"
NOT_UNDERSTOOD = b'\x00{"an": unfinished [\xff'
WORDS = re.compile(rb'"[^"]*"|[\w.-]+')
"""What a configuration file says, whatever stands between: a neighbour may need a comma."""
BASE: Mapping[EventKind, float] = {"start": 0.0, "stop": 0.0, "end": 0.0}


def wanted(services: PlainServices, files: Mapping[str, bytes], python: str = PYTHON) -> SetupRequest:
    """All kinds of events and the MCP server, for a host whose files are these."""
    home, config = os.path.join(services.home, "memory home"), os.path.join(services.home, "settings.toml")
    shim = f"from {SHIM} import main; main()"
    return SetupRequest(
        environ=services.environ,
        read=files.get,
        kinds={kind: 60.0 if kind == "compaction" else 0.0 for kind in get_args(EventKind)},
        hook=lambda event: (python, "-I", "-c", shim, "host", event, home, config),
        mcp=(python, "-I", "-m", "codexmem_core.cli", "--home", home, "mcp", "host"),
        python=python,
        home=home,
        config=config,
    )


def unwanted(request: SetupRequest) -> SetupRequest:
    """The same, to take everything out."""
    return replace(request, kinds={}, mcp=())


def applied(files: Mapping[str, bytes], edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files after the edits, which must have been planned for exactly these files."""
    after = dict(files)
    for edit in edits:
        assert edit.before == files.get(edit.path)
        assert edit.before != edit.after
        assert edit.summary.strip()
        if edit.after is None:
            del after[edit.path]
        else:
            after[edit.path] = edit.after
    return after


class SetupContract:
    """Part of :class:`HostContract`. A host that has nothing to set up passes with plans that are empty."""

    plugin: ClassVar[Capture]
    """The plugin object that the entry point names."""
    set_up: ClassVar[Mapping[str, bytes]] = {}
    """The host's own configuration with entries of others, by path below the user's home."""

    def host(self) -> Host:
        """The one host that the plugin registers."""
        (host,) = self.plugin.codexmem_capture_host()
        return host

    def configured(self, services: PlainServices) -> dict[str, bytes]:
        """The configuration of others, by absolute path."""
        return {os.path.join(services.home, path): content for path, content in self.set_up.items()}

    def hooks(self, request: SetupRequest, files: Mapping[str, bytes]) -> Sequence[InstalledHook]:
        """What the host says is installed in these files."""
        return self.host().installed(replace(request, read=files.get))

    def stores(self, services: PlainServices) -> list[dict[str, bytes]]:
        """Without any file, and with the configuration of others."""
        return [{}, self.configured(services)] if self.set_up else [{}]

    def test_a_plan_comes_from_what_it_is_given(self, codexmem_services: PlainServices) -> None:
        """The same every time; absolute files, each once; nothing is written, and nothing is ours before."""
        for files in self.stores(codexmem_services):
            request = wanted(codexmem_services, files)
            edits = list(self.host().plan(request))
            assert edits == list(self.host().plan(request))
            assert all(os.path.isabs(edit.path) for edit in edits)
            assert len({edit.path for edit in edits}) == len(edits)
            assert not list(self.host().installed(request))
            assert not list(self.host().plan(unwanted(request)))
            assert not any(os.path.exists(edit.path) for edit in edits)

    def test_what_was_planned_is_installed_and_needs_no_second_edit(self, codexmem_services: PlainServices) -> None:
        """Each entry once, with the command that was asked for, trusted, and without a problem."""
        for files in self.stores(codexmem_services):
            request = wanted(codexmem_services, files)
            edits = list(self.host().plan(request))
            after = applied(files, edits)
            assert not list(self.host().plan(replace(request, read=after.get)))
            hooks = self.hooks(request, after)
            assert bool(hooks) == bool(edits)
            assert len({(hook.event, hook.path) for hook in hooks}) == len(hooks)
            for hook in hooks:
                assert hook.path in after
                assert hook.trust in get_args(Trust)
                assert (hook.trust != "untrusted", hook.problem) == (True, "")
                if hook.event != MCP_EVENT:
                    assert hook.command == request.command(hook.event)

    def test_fewer_events_take_the_others_out(self, codexmem_services: PlainServices) -> None:
        """Whichever way one comes to a set of events, the files are the same."""
        for files in self.stores(codexmem_services):
            full = wanted(codexmem_services, files)
            few = replace(full, kinds=BASE)
            after = applied(files, self.host().plan(full))
            fewer = applied(after, self.host().plan(replace(few, read=after.get)))
            assert self.hooks(few, fewer) == self.hooks(few, applied(files, self.host().plan(few)))

    def test_a_moved_interpreter_replaces_the_entries(self, codexmem_services: PlainServices) -> None:
        """The old ones are ours as well, so none is left beside the new ones."""
        for files in self.stores(codexmem_services):
            before = applied(files, self.host().plan(wanted(codexmem_services, files)))
            request = wanted(codexmem_services, before, MOVED)
            after = applied(before, self.host().plan(request))
            assert self.hooks(request, after) == self.hooks(
                request, applied(files, self.host().plan(replace(request, read=files.get)))
            )

    def test_entries_of_others_stay_and_come_back_as_they_were(self, codexmem_services: PlainServices) -> None:
        """Each word of theirs stands in the same order, and taking ours out restores every byte."""
        for files in self.stores(codexmem_services):
            request = wanted(codexmem_services, files)
            after = applied(files, self.host().plan(request))
            for path, content in files.items():
                stands = iter(WORDS.findall(after[path]))
                assert all(word in stands for word in WORDS.findall(content))
            left = unwanted(replace(request, read=after.get))
            assert applied(after, self.host().plan(left)) == files
            assert not self.hooks(request, applied(after, self.host().plan(left)))

    def test_a_file_that_is_not_understood_is_refused_by_its_name(self, codexmem_services: PlainServices) -> None:
        """Nothing overwrites it, nothing guesses at it."""
        request = wanted(codexmem_services, {})
        for edit in self.host().plan(request):
            asked = replace(request, read={edit.path: NOT_UNDERSTOOD}.get)
            with pytest.raises(Refused, match=re.escape(edit.path)):
                list(self.host().plan(asked))
            try:
                assert edit.path not in {hook.path for hook in self.host().installed(asked)}
            except Refused:
                continue
