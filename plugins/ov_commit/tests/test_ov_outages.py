"""A session of which the server never heard while it ran is sent when the server is back, however it ended."""

from __future__ import annotations

import pytest

HOUR_MS = 3_600_000
MONTH_MS = 30 * 24 * HOUR_MS
SAID = ["Run make check before every commit.", "I will do that from now on."]


@pytest.fixture
def talk(machine):
    """A conversation that begins while the server is down."""
    machine.server.cut = lambda _asked: (503, {})
    return machine.conversation().user(SAID[0]).agent(SAID[1])


def back(machine):
    machine.server.cut = lambda _asked: None
    machine.pass_time(HOUR_MS)
    machine.start()


def test_one_that_ended_is_sent_and_committed_by_the_next_sweep(machine, talk):
    talk.stop()
    talk.end()
    back(machine)
    assert talk.stored.texts == SAID
    assert len(talk.stored.archives) == 1
    assert talk.ended == []


def test_one_whose_first_event_is_its_end_is_too(machine, talk):
    talk.end()
    back(machine)
    assert talk.stored.texts == SAID
    assert len(talk.stored.archives) == 1


def test_one_that_was_killed_is_too(machine, talk):
    talk.stop()
    back(machine)
    assert talk.stored.texts == SAID
    assert len(talk.stored.archives) == 1
    assert "unsent" not in talk.state


def test_one_whose_batches_all_failed_and_that_was_killed_is_too(machine, talk):
    machine.server.cut = lambda asked: (500, {}) if "messages" in asked.path else None
    talk.stop()
    assert talk.stored.messages == []
    back(machine)
    assert talk.stored.texts == SAID


def test_one_that_goes_on_is_left_alone_until_it_is_idle(machine, talk):
    talk.stop()
    machine.server.cut = lambda _asked: None
    machine.start()
    assert talk.stored.messages == []
    talk.stop()
    assert talk.stored.texts == SAID
    assert talk.stored.archives == []
    assert "unsent" not in talk.state


def test_an_outage_of_many_sweeps_forgets_nothing(machine, talk):
    talk.stop()
    for _ in range(5):
        machine.pass_time(HOUR_MS)
        machine.start()
    back(machine)
    assert talk.stored.texts == SAID


def test_one_with_nothing_worth_sending_is_let_go(machine):
    machine.server.cut = lambda _asked: (503, {})
    talk = machine.conversation().user("ok")
    talk.stop()
    back(machine)
    assert machine.server.asked("/commit") == []
    assert "unsent" not in talk.state
    machine.pass_time(HOUR_MS)
    machine.start()
    assert not talk.state_path.exists()


def test_one_whose_transcript_is_gone_for_a_month_is_let_go(machine, talk):
    talk.stop()
    machine.conversations.unreadable.add(talk.session.id)
    back(machine)
    assert talk.state["unsent"] is True
    machine.pass_time(MONTH_MS)
    machine.start()
    assert "unsent" not in talk.state


def test_in_keyword_mode_nothing_is_sent_that_nobody_asked_for(machine, talk):
    machine.set(CAPTURE_MODE="keyword")
    talk.stop()
    back(machine)
    assert talk.stored.messages == []
    assert machine.server.asked("messages/batch") == []


def test_the_commands_count_it_among_those_that_wait(machine, talk):
    from codexmem_ov_commit.pending import commit_waiting, waiting

    talk.stop()
    assert [one.name for one in waiting(machine.services)] == [talk.name]
    machine.server.cut = lambda _asked: None
    assert [done.result for done in commit_waiting(machine.services)] == ["committed"]
    assert talk.stored.texts == SAID
