"""When the worker makes a pass: what comes in quick succession is done together, whether or not the last found work."""

from __future__ import annotations

import errno

import pytest

from codexmem_core.pipeline import take_in_events
from codexmem_core.worker.engines import Engines
from codexmem_core.worker.intake import Intake
from codexmem_core.worker.passes import Passes

LONG_S = 3_600.0
RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "ok"))


@pytest.fixture
def passes_resting(hooks, request):
    """Passes in this process that rest so long after one that found nothing, and after one that did something."""
    started = []

    def start(*, empty_s, rest_s, engines_type=Engines):
        hooks.config.write_text(f"[worker]\nrest_s = {rest_s:g}\n")
        engines = engines_type(str(hooks.home), str(hooks.config), hooks.environ)
        passes = Passes(engines, breath_s=empty_s)
        started.append((passes, engines))
        passes.thread.start()
        return passes

    yield start
    for passes, engines in started:
        passes.stop(60.0)
        engines.close()


def made(hooks, passes, eventually, *, urgent):
    """Wait until a pass that is wanted was made; how many there were by then."""
    passes.want(urgent=urgent)
    eventually(lambda: passes.idle, "a pass")
    return len(hooks.passes())


def test_after_a_pass_that_found_nothing_the_next_waits_a_little(hooks, passes_resting, eventually):
    passes = passes_resting(empty_s=LONG_S, rest_s=LONG_S)
    assert made(hooks, passes, eventually, urgent=False) == 1
    passes.want(urgent=False)
    assert not passes.idle
    assert made(hooks, passes, eventually, urgent=True) == 2, "an urgent one waits for nothing, and does both"


def test_after_a_pass_that_did_something_the_next_waits_longer(hooks, passes_resting, eventually):
    hooks.no_worker()
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    passes = passes_resting(empty_s=0.0, rest_s=LONG_S)
    assert made(hooks, passes, eventually, urgent=True) == 1
    assert b"linter" in hooks.ready("SessionStart-startup")
    passes.want(urgent=False)
    assert not passes.idle
    assert made(hooks, passes, eventually, urgent=True) == 2


def test_a_user_may_do_without_any_rest(hooks, passes_resting, eventually):
    passes = passes_resting(empty_s=LONG_S, rest_s=0)
    for number in (1, 2, 3):
        assert made(hooks, passes, eventually, urgent=False) == number


def test_a_pass_lets_go_of_what_hooks_told_long_ago(hooks, passes_resting, eventually):
    passes = passes_resting(empty_s=0.0, rest_s=0)
    engine = Engines(str(hooks.home), str(hooks.config), hooks.environ).fresh()
    engine.catalogue.context_given("codex", "old", "g", 1)
    engine.catalogue.context_given("codex", "new", "g", engine.clock.now_ms())
    engine.close()
    made(hooks, passes, eventually, urgent=True)
    assert hooks.rows("catalog.db", "SELECT session_id FROM session_contexts") == [("new",)]


def test_what_a_command_took_in_and_did_not_read_is_not_left_to_the_next_event(hooks, passes_resting, eventually):
    hooks.no_worker()
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    hooks.cli("consolidate")
    assert hooks.is_quiet()
    assert hooks.ready("SessionStart-startup") == b""
    passes = passes_resting(empty_s=0.0, rest_s=0)
    engines = Engines(str(hooks.home), str(hooks.config), hooks.environ)
    intake = Intake(engines, passes)
    intake.take_in()
    eventually(lambda: passes.idle, "a pass")
    assert b"linter" in hooks.ready("SessionStart-startup")
    before = len(hooks.passes())
    intake.take_in()
    eventually(lambda: passes.idle, "a rest")
    engines.close()
    assert len(hooks.passes()) == before, "once"


class EnginesOnAFullDisk(Engines):
    """The first engines cannot be had, then there is room."""

    tries = 0
    full = 1

    def fresh(self):
        self.tries += 1
        if self.tries <= self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().fresh()


class EnginesOnADiskThatStaysFull(EnginesOnAFullDisk):
    full = 1_000


def test_a_pass_that_could_not_even_begin_is_made_up_for(hooks, passes_resting, eventually):
    passes = passes_resting(empty_s=0.0, rest_s=0, engines_type=EnginesOnAFullDisk)
    assert made(hooks, passes, eventually, urgent=True) == 1
    assert [line["error"] for line in hooks.log() if line["event"] != "pass"] == [
        "OSError: [Errno 28] No space left on device"
    ]


def test_passes_that_fail_again_and_again_wait_for_the_next_event(hooks, passes_resting, eventually):
    there = []

    def engines(*arguments):
        there.append(EnginesOnADiskThatStaysFull(*arguments))
        return there[0]

    passes = passes_resting(empty_s=0.0, rest_s=0, engines_type=engines)
    assert made(hooks, passes, eventually, urgent=True) == 0
    tries = there[0].tries
    assert made(hooks, passes, eventually, urgent=True) == 0
    assert there[0].tries == tries + 1 + 1, "one more pass that wants an engine, and its line in the log"


def test_after_a_pass_that_failed_the_next_waits_too(hooks, passes_resting, eventually):
    passes = passes_resting(empty_s=0.0, rest_s=LONG_S)
    (hooks.home / "catalog.db").mkdir()
    passes.want(urgent=True)
    eventually(lambda: any(line["event"] == "pass failed" for line in hooks.log()), "a pass that fails")
    assert not passes.idle
    (hooks.home / "catalog.db").rmdir()
    assert made(hooks, passes, eventually, urgent=True) == 1


def test_what_was_taken_in_before_a_worker_was_killed_is_in_the_next_ones_pass(hooks, passes_resting, eventually):
    """A session outside of its host's home is found by what its hooks say, and by nothing else."""
    hooks.no_worker()
    hooks.codex = hooks.folder / "elsewhere"
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    killed = Engines(str(hooks.home), str(hooks.config), hooks.environ).fresh()
    take_in_events(killed)
    killed.close()
    assert hooks.spool.names() == []
    passes = passes_resting(empty_s=0.0, rest_s=0)
    made(hooks, passes, eventually, urgent=True)
    assert b"linter" in hooks.ready("SessionStart-startup")
    assert hooks.catalogue("SELECT count(*) FROM marks WHERE key LIKE 'answered:%'") == 0
