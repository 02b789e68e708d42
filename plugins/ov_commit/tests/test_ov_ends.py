"""A session's end: everything that was said is sent, then it is committed; what fails is left to the next sweep."""

import threading

import pytest
from codexmem_hookspecs.values.capture import Session
from codexmem_ov_commit.locks import lock_name

FIRST = "Run make check before every commit."


@pytest.fixture
def talk(machine):
    """A conversation of which a stop sent the first words."""
    talk = machine.conversation().user(FIRST)
    talk.stop()
    return talk


def commits(machine):
    return len(machine.server.asked("/commit"))


def test_the_tail_goes_before_the_commit(machine, talk):
    talk.agent("I will run it each time.").end()
    lines = [line for line in machine.server.lines if line.startswith("POST")]
    assert [line.rpartition("/")[2] for line in lines] == ["batch", "batch", "commit"]
    assert machine.server.asked("/commit")[0].body == {}
    assert talk.stored.texts == [FIRST, "I will run it each time."]


def test_an_end_does_not_count_as_a_sign_of_life(machine, talk):
    before = talk.state["lastUpdatedAt"]
    talk.end(later_ms=50_000)
    assert talk.state["lastUpdatedAt"] == before


def test_a_commit_that_fails_keeps_the_session_and_its_marker(machine, talk):
    machine.server.cut = lambda asked: (500, {"status": "error"}) if asked.path.endswith("/commit") else None
    event = talk.end()
    assert talk.state["ovSessionId"] == talk.name
    assert talk.ended == [event.at_ms]


def test_the_trace_of_a_failed_commit_is_in_the_log(machine, talk):
    failure = {"status": "error", "error": {"message": "archive failed", "trace_id": "tr-77"}}
    machine.server.cut = lambda asked: (500, failure) if asked.path.endswith("/commit") else None
    talk.end()
    ((_, fields),) = [one for one in machine.log.warnings if "commit" in one[0]]
    assert (fields["trace_id"], fields["reason"]) == ("tr-77", "archive failed")


def test_a_server_that_is_not_there_leaves_cursor_and_marker_alone(machine, talk):
    before = talk.state
    machine.set(URL="http://127.0.0.1:9")
    event = talk.agent("More words that wait.").end()
    assert talk.state == before
    assert talk.ended == [event.at_ms]


def test_a_wrong_key_is_a_server_that_is_not_there_and_its_status_is_in_the_log(machine, talk):
    machine.server.key = "right"
    machine.set(API_KEY="wrong")
    event = talk.end()
    assert talk.ended == [event.at_ms]
    assert machine.log.infos[-1][1]["status"] == 401


def test_a_transcript_that_cannot_be_read_is_not_an_empty_one(machine, talk):
    machine.conversations.unreadable.add(talk.session.id)
    event = talk.end()
    assert commits(machine) == 0
    assert talk.state["capturedTurnCount"] == 1
    assert talk.state["ovSessionId"] == talk.name
    assert talk.ended == [event.at_ms]
    machine.conversations.unreadable.clear()
    talk.agent("What was said after that is sent as well.")
    machine.start()
    assert talk.stored.texts == [FIRST, "What was said after that is sent as well."]
    assert commits(machine) == 1


def test_an_empty_transcript_neither_sends_nor_moves_the_cursor(machine):
    talk = machine.conversation()
    talk.end()
    assert machine.server.lines == ["GET /health"]
    assert talk.ended == []


def test_what_was_sent_only_in_part_is_not_committed(machine, talk):
    batches = iter([None, (503, {})])
    machine.server.cut = lambda asked: next(batches) if asked.path.endswith("/batch") else None
    event = talk.agent(*(f"Answer number {number} of many." for number in range(150))).end()
    assert commits(machine) == 0
    assert talk.state["capturedTurnCount"] == 101
    assert talk.ended == [event.at_ms]
    machine.server.cut = lambda _asked: None
    machine.start()
    assert talk.stored.texts == [FIRST, *(f"Answer number {number} of many." for number in range(150))]
    assert commits(machine) == 1
    assert talk.ended == []


def test_nothing_happens_while_capture_is_off(machine):
    machine.set(AUTO_CAPTURE="0")
    talk = machine.conversation().user(FIRST)
    talk.stop()
    talk.end()
    assert machine.server.lines == []
    assert not machine.state_folder().exists() or not list(machine.state_folder().glob("*.ended*"))


def test_without_a_session_id_nothing_is_written(machine):
    talk = machine.conversation()
    nobody = talk.session.__class__(host="codex", id="", cwd="/home/user")
    for kind in ("stop", "compaction", "end"):
        machine.tell(kind, nobody)
    assert machine.server.lines == []
    assert not machine.state_folder().exists()


def test_a_marker_that_is_gone_when_the_lock_is_ours_stops_the_commit(machine, talk, until):
    """A resume in another process took it away while this end waited."""
    asked = len(machine.server.requests)
    with machine.states().folder.lock(lock_name(talk.session.id)) as held:
        assert held
        ending = threading.Thread(target=talk.end)
        ending.start()
        until(lambda: talk.ended)
        machine.markers().clear_all(talk.session.id)
    ending.join(60)
    assert machine.server.lines[asked:] == []
    assert talk.state["ovSessionId"] == talk.name


def test_an_end_that_another_one_followed_leaves_the_commit_to_that(machine, talk):
    machine.markers().mark(talk.session.id, machine.clock.now_ms() + 5_000)
    before = len(machine.server.requests)
    talk.end(later_ms=1_000)
    assert machine.server.lines[before:] == []
    assert len(talk.ended) == 2


def test_an_end_after_which_the_session_went_on_sends_and_does_not_commit(machine, talk):
    talk.agent("One more thing before you go.").end(newer=("start",))
    assert talk.stored.texts == [FIRST, "One more thing before you go."]
    assert commits(machine) == 0
    assert talk.ended == []


def test_the_same_end_told_twice_commits_once(machine, talk):
    event = talk.end()
    before = len(machine.server.requests)
    machine.tell("end", talk.session, at_ms=event.at_ms)
    assert machine.server.lines[before:] == ["GET /health"]
    assert (commits(machine), talk.ended) == (1, [])


def test_after_an_end_the_next_turn_goes_to_the_same_session(machine, talk):
    talk.end()
    talk.resume()
    talk.user("Let us go on where we stopped.").stop()
    assert talk.stored.texts == [FIRST, "Let us go on where we stopped."]
    assert talk.state["ovSessionId"] == talk.name
    talk.end()
    assert len(talk.stored.archives) == 2


# a server that is away from the beginning


@pytest.fixture
def away(machine):
    """A session that was never sent; the server comes back with ``machine.set(URL=...)``."""
    machine.set(URL="http://127.0.0.1:9")
    return machine.conversation().user(FIRST)


def back(machine):
    machine.set(URL=machine.server.url)


@pytest.mark.parametrize("events", [("stop",), ("end",), ("stop", "end"), ("compact",), ("stop", "compact", "end")])
def test_a_session_that_never_reached_the_server_is_sent_by_a_sweep(machine, away, events):
    for event in events:
        getattr(away, event)()
    back(machine)
    machine.pass_time(1_800_000)
    machine.start()
    assert away.stored.texts == [FIRST]
    assert len(away.stored.archives) == 1
    assert (away.ended, away.state["ovSessionId"]) == ([], None)


def test_the_tail_after_a_compaction_is_owed_too(machine, talk):
    talk.compact()
    machine.set(URL="http://127.0.0.1:9")
    talk.agent("The tail, said while the server was away.").stop()
    back(machine)
    machine.pass_time(1_800_000)
    machine.start()
    assert talk.stored.texts == [FIRST, "The tail, said while the server was away."]


@pytest.mark.parametrize("cut", [(503, {}), (401, {})])
def test_turns_that_the_server_did_not_take_are_owed_after_a_crash(machine, cut):
    machine.server.cut = lambda asked: cut if asked.path.endswith("/batch") else None
    talk = machine.conversation().user(FIRST)
    talk.stop()
    machine.server.cut = lambda _asked: None
    machine.pass_time(1_800_000)
    machine.start()
    assert talk.stored.texts == [FIRST]
    assert len(talk.stored.archives) == 1


def test_turns_of_a_transcript_that_could_not_be_read_are_owed_after_a_crash(machine):
    talk = machine.conversation().user(FIRST)
    machine.conversations.unreadable.add(talk.session.id)
    talk.stop()
    machine.conversations.unreadable.clear()
    machine.pass_time(1_800_000)
    machine.start()
    assert talk.stored.texts == [FIRST]


def test_in_keyword_mode_nothing_is_owed_that_nobody_asked_for(machine, away):
    machine.set(CAPTURE_MODE="keyword")
    away.stop()
    away.end()
    back(machine)
    machine.pass_time(1_800_000)
    machine.start()
    assert machine.server.asked("/batch") == []
    assert away.ended == []


def test_a_session_of_which_its_host_keeps_nothing_leaves_no_marker(machine):
    talk = machine.conversation(locator="")
    for server in ("http://127.0.0.1:9", machine.server.url):
        machine.set(URL=server)
        talk.stop()
        talk.end()
    assert talk.ended == []
    machine.start()
    assert not any(finding.level == "warn" for finding in machine.findings() if talk.name in finding.message)


def test_an_event_without_a_place_uses_the_one_that_is_known(machine, talk):
    talk.agent("Said before an event that names no file.")
    machine.tell("stop", talk.session.__class__(host="codex", id=talk.session.id, cwd=talk.session.cwd))
    assert talk.stored.texts == [FIRST, "Said before an event that names no file."]


def test_a_host_that_is_killed_in_its_first_turn_has_said_at_the_start_where_the_transcript_lies(machine):
    talk = machine.conversation()
    talk.event("start", moment="startup")
    talk.user(FIRST)
    machine.tell("end", Session(host="codex", id=talk.session.id))
    assert talk.stored.texts == [FIRST]
    assert len(talk.stored.archives) == 1
    assert talk.ended == []
