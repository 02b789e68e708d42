"""Imports and exports of one home happen one after the other, whichever memory, lane or command makes them."""

from __future__ import annotations

import os
import threading

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.interop import Mirror
from codexmem_memory_v2 import plugin as memory_v2

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.exchange import Exchange
from codexmem_core.safety.files import GuardedFolder

WAIT_S = 60.0
OTHERWISE_S = 1.0
"""For something to end that must not; it ends long before where it can."""


class OtherTool:
    """Takes in something under the other tool's lock, for which it does not wait at all, and gives out everything.

    ``reading`` is called with the lock held, ``in_hand`` when an export has the memory's files and did not write yet.
    """

    name = "other-tool"

    def __init__(self, place):
        self.place = place
        self.reading = self.in_hand = lambda: None
        self.held = []
        place.mkdir()

    @hookimpl
    def codexmem_interop_import(self, workspace, services):
        with services.open_folder(str(self.place), write=True).lock("theirs") as held:
            self.held.append(held)
            if held:
                self.reading()
        return [Mirror(extension="theirs", instructions="Facts.\n", files={"fact.md": b"- a fact\n"})]

    @hookimpl
    def codexmem_interop_export(self, snapshot, services):
        self.in_hand()
        theirs = self.place / "memory"
        theirs.mkdir(exist_ok=True)
        lock = str(self.place / "theirs.lock")
        return [Mirror(extension="ours", instructions="Read.\n", files=snapshot.files, root=str(theirs), lock=lock)]

    @property
    def given(self):
        return "".join(path.read_text() for path in sorted(self.place.glob("memory/extensions/ours/resources/*.md")))


class SecondMemory(type(memory_v2)):
    """Memory V2, beside V1."""

    name = "memory-v2"


@pytest.fixture
def tool(tmp_path):
    return OtherTool(tmp_path / "other")


def test_no_memory_goes_without_because_another_of_ours_has_the_other_tools_lock(engine_of, tool):
    """However long that one takes."""
    engine = engine_of(tool, SecondMemory())
    access = engine.access
    roots = {plugin: access.root(plugin) for plugin in access.memories}

    def take_in(plugin):
        os.makedirs(roots[plugin])
        exchange = Exchange(access.stages, access.tombstones(), roots.values(), access.home.locks, access.log, print)
        workspace = MemoryWorkspace(access.memories[plugin], roots[plugin])
        exchange.take_in(GuardedFolder(roots[plugin], write=True), workspace)

    first, second = (threading.Thread(target=take_in, args=(plugin,)) for plugin in roots)

    def while_the_second_wants_it():
        tool.reading = lambda: None
        second.start()
        second.join(OTHERWISE_S)

    tool.reading = while_the_second_wants_it
    first.start()
    first.join(WAIT_S)
    second.join(WAIT_S)
    assert tool.held == [True, True]
    assert [root for root in roots.values() if not os.path.exists(f"{root}/extensions/theirs/resources/fact.md")] == []


def test_an_export_under_way_does_not_bring_back_what_is_forgotten_meanwhile(
    codex_home, engine_of, learn, command, tool
):
    """It holds the memory's files as they were; whoever forgets waits for it, and gives out what is left."""
    reached, go_on, found = threading.Event(), threading.Event(), []
    codex_home(("user", "The server is called amber. Always write the changelog first."), ("assistant", "Yes."))
    tool.in_hand = lambda: (reached.set(), go_on.wait(WAIT_S))
    run = threading.Thread(target=learn, args=(tool,))
    run.start()
    assert reached.wait(WAIT_S)
    tool.in_hand = lambda: None
    forgetting = threading.Thread(target=lambda: found.append(command("forget", "--text", "amber", plugins=[tool])))
    forgetting.start()
    forgetting.join(OTHERWISE_S)
    go_on.set()
    run.join(WAIT_S)
    forgetting.join(WAIT_S)
    assert found[0][0] == 0, found
    assert "changelog" in tool.given
    assert "amber" not in tool.given
