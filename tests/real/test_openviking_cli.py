"""Commands of ours against a real OpenViking server, with sessions of Codex whose hooks found no worker."""

from concurrent.futures import ThreadPoolExecutor

import pytest

SAID = ["Remember harbor-1.", "Noted pier-1."]


@pytest.fixture
def untold(ov, machine, codex):
    """A session that has ended, of which nobody could be told."""
    machine.let_no_worker_start()
    codex.say(SAID[0], {"text": SAID[1]})
    assert machine.waiting_events()
    assert ov.sessions() == []
    return ov


def the_one(ov):
    (name,) = ov.sessions()
    held = ov.session(name)
    assert (held["message_count"], held["commit_count"]) == (0, 1)
    return [text for _, text in ov.messages(name)]


def test_a_run_tells_what_the_hooks_could_not(machine, untold):
    machine.codexmem("run")
    assert the_one(untold) == SAID
    assert machine.end_markers() == []
    machine.codexmem("run")
    assert the_one(untold) == SAID


def test_runs_at_the_same_time_send_and_seal_once(machine, untold):
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda _: machine.codexmem("run"), range(3)))
    assert the_one(untold) == SAID


def test_a_session_that_could_not_be_sealed_is_shown_and_sealed_on_demand(ov, machine, untold):
    machine.belongs_to(ov, key="another key")
    machine.codexmem("run")
    assert ov.sessions() == []
    (marker,) = machine.end_markers()
    waiting = machine.codexmem("ov", "status")
    assert marker.partition(".")[0] in waiting
    machine.codexmem_fails("ov", "doctor")
    machine.belongs_to(ov)
    machine.codexmem("ov", "commit")
    assert the_one(ov) == SAID
    assert machine.end_markers() == []
    machine.codexmem("ov", "commit")
    assert the_one(ov) == SAID
    machine.codexmem("ov", "doctor")
