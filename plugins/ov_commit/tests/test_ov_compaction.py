"""Before a compaction the host waits: what it is about to lose is sent and committed, or nothing is touched."""

import pytest


@pytest.fixture
def talk(machine):
    return machine.conversation().user("Port the parser to the new grammar.")


def silences(machine):
    """How long each sign of life was waited for."""
    reasons = [fields["reason"] for event, fields in machine.log.infos if event == "server not reachable"]
    return [reason.rpartition("after ")[2] for reason in reasons]


def test_it_catches_up_commits_and_keeps_the_cursor(machine, talk):
    talk.stop()
    talk.agent("The parser is ported.").compact()
    assert len(talk.stored.archives) == 1
    assert talk.stored.texts == ["Port the parser to the new grammar.", "The parser is ported."]
    assert talk.state["ovSessionId"] is None
    assert talk.state["capturedTurnCount"] == 2
    assert talk.state["lastUpdatedAt"] == machine.clock.now_ms()


def test_the_half_after_it_goes_on_where_the_first_one_ended(machine, talk):
    talk.compact()
    talk.user("Now the tests of it, please.").stop()
    talk.end()
    assert talk.stored.texts == ["Port the parser to the new grammar.", "Now the tests of it, please."]
    assert [len(archive) for archive in talk.stored.archives] == [1, 1]


def test_while_another_writer_has_the_session_nothing_is_touched(machine, talk, foreign_lock):
    talk.stop()
    before, asked = talk.state_path.read_bytes(), len(machine.server.requests)
    foreign_lock(talk)
    machine.set(CODEX_LOCK_WAIT_MS="0")
    talk.agent("The parser is ported.").compact()
    assert talk.state_path.read_bytes() == before
    assert len(machine.server.requests) == asked


def test_nothing_is_committed_when_nothing_could_be_sent(machine, talk, down):
    talk.stop()
    machine.server.cut = down
    talk.agent("The parser is ported.").compact()
    assert machine.server.asked("/commit") == []
    assert talk.state["ovSessionId"] == talk.name
    assert talk.state["capturedTurnCount"] == 1


def test_nothing_is_committed_when_the_transcript_cannot_be_read(machine, talk):
    talk.stop()
    before = talk.state["lastUpdatedAt"]
    machine.conversations.unreadable.add(talk.session.id)
    talk.compact()
    assert machine.server.asked("/commit") == []
    assert talk.state["ovSessionId"] == talk.name
    assert talk.state["lastUpdatedAt"] == before


def test_a_session_without_anything_new_since_its_commit_is_not_committed_again(machine, talk):
    talk.compact()
    talk.compact()
    assert len(machine.server.asked("/commit")) == 1


def test_it_can_be_switched_off(machine, talk):
    machine.set(AUTO_COMMIT_ON_COMPACT="off")
    talk.compact()
    assert machine.server.lines == []


def test_a_commit_that_fails_keeps_the_session_live(machine, talk):
    machine.server.cut = lambda asked: (500, {"status": "error"}) if asked.path.endswith("/commit") else None
    talk.compact()
    assert talk.state["ovSessionId"] == talk.name
    machine.server.cut = lambda _asked: None
    talk.end()
    assert len(talk.stored.archives) == 1


def test_once_the_host_waits_no_longer_it_is_a_stop(machine, talk):
    event_at = machine.clock.now_ms()
    machine.pass_time(61_000)
    talk.compact(at_ms=event_at)
    assert talk.stored.texts == ["Port the parser to the new grammar."]
    assert machine.server.asked("/commit") == []


def test_it_clears_the_marker_of_an_earlier_end(machine, talk):
    machine.markers().mark(talk.session.id, machine.clock.now_ms())
    talk.compact()
    assert talk.ended == []


def test_a_server_that_was_silent_a_moment_ago_holds_nobody_up_for_long(machine, talk):
    machine.server.cut = lambda asked: machine.server.closing.wait(60) and None
    machine.asks("prompt", talk, prompt="What is the grammar called?")
    talk.stop()
    talk.compact()
    assert silences(machine) == ["1.0 s", "5.0 s", "1.0 s"]
    machine.server.cut = lambda _asked: None
    talk.stop()
    assert talk.stored.texts == ["Port the parser to the new grammar."]


def test_a_server_that_a_stop_found_silent_holds_a_compaction_up_for_a_second(machine, talk):
    machine.server.cut = lambda asked: machine.server.closing.wait(60) and None
    talk.stop()
    talk.compact()
    assert silences(machine) == ["5.0 s", "1.0 s"]
    assert machine.asks("prompt", talk, prompt="What is the grammar called?") == ""
    assert len(machine.server.lines) == 2, "no prompt waits for it either"


def test_a_stop_that_finds_the_server_back_ends_the_pause(machine, talk):
    machine.server.cut = lambda _asked: (503, {})
    talk.stop()
    assert machine.place().reach.paused()
    machine.server.cut = lambda _asked: None
    talk.stop()
    assert not machine.place().reach.paused()


def test_what_is_not_asked_any_more_says_nothing_about_the_server(machine):
    place = machine.place()
    assert not place.reach.probe_for(place.server.within(lambda: 0.0), 5.0).ok
    assert not place.reach.paused()
    assert machine.server.lines == []
