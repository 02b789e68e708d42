"""Who asks for a consolidation at once gets one that has seen the newest notes, also while another is under way."""

from __future__ import annotations

import threading
import time

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest

TURNS = (("user", "Please always run the linter before you commit in this repository."), ("assistant", "I will."))
MORE = (("user", "From now on name every branch after its issue in this repository."), ("assistant", "I will."))
V1 = "memory-v1"


class Slow(type(memory_v1)):
    """Its first consolidation stays under way until it may go on."""

    name = "slow"

    def __init__(self):
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    @hookimpl
    def codexmem_consolidate_files(self, stored):
        if not self.begun.is_set():
            self.begun.set()
            assert self.go_on.wait(60)
        return super().codexmem_consolidate_files(stored)


@pytest.fixture
def slow():
    memory = Slow()
    yield memory
    memory.go_on.set()


@pytest.fixture
def passes(engine_of, slow):
    """A pass of a process of its own over this one memory."""

    def one(**request):
        engine = engine_of(slow, without={V1})
        try:
            return run(engine, RunRequest(idle_hours=0.0, **request)).memories["v1"]
        finally:
            engine.close()

    return one


@pytest.fixture
def under_way(codex_home, passes, slow):
    """A consolidation of the first session that has read its notes already; ends the pass that does it."""
    codex_home(*TURNS)
    thread = threading.Thread(target=passes)
    thread.start()
    assert slow.begun.wait(60)
    codex_home(*MORE)
    return thread


def test_it_waits_for_the_one_under_way_and_then_takes_in_what_is_new(under_way, passes, slow, both):
    ended = []
    asked = threading.Thread(target=lambda: ended.append(passes(now=True)))
    asked.start()
    while len(both.notes("v1")) < 2:
        time.sleep(0.01)
    slow.go_on.set()
    for thread in (under_way, asked):
        thread.join(60)
    assert ended[0].status in ("succeeded", "no_workspace_changes"), "the other one may take it in first, and has then"
    assert "name every branch after its issue" in both.summary("v1")


def test_who_does_not_ask_for_it_at_once_is_told_who_will_do_it(under_way, passes, slow):
    left_out = passes()
    assert (left_out.status, left_out.extracted) == ("skipped_running", 1)
    assert "another process consolidates" in left_out.detail
    slow.go_on.set()
    under_way.join(60)


def test_what_another_noted_meanwhile_is_in_the_memory_although_nobody_asks_again(under_way, passes, slow, both):
    assert passes().status == "skipped_running"
    slow.go_on.set()
    under_way.join(60)
    assert "name every branch after its issue" in both.summary("v1")
