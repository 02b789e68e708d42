"""The sweep at a start: commits what no end could, never what goes on, and lets go of cursors that nobody needs."""

import json

import pytest
from codexmem_hookspecs.values.capture import Session

IDLE_MS = 1_800_000
MONTH_MS = 2_592_000_000
WORDS = "Keep the changelog by hand."


@pytest.mark.parametrize("moment", ["startup", "clear"])
def test_a_session_with_a_marker_is_committed(machine, failing, moment):
    before = failing.state["lastUpdatedAt"]
    machine.start(moment)
    assert len(failing.stored.archives) == 1
    assert failing.state["ovSessionId"] is None
    assert failing.state["lastUpdatedAt"] == before
    assert failing.ended == []


def test_a_bare_marker_of_old_builds_counts(machine, live):
    (live.state_path.parent / f"{live.session.id}.ended").write_text(f" {machine.clock.now_ms()}\n")
    machine.start()
    assert len(live.stored.archives) == 1
    assert not list(live.state_path.parent.glob("*.ended*"))


def test_a_fresh_live_session_is_left_alone(machine, live):
    machine.pass_time(IDLE_MS - 60_000)
    machine.start()
    assert machine.server.asked("/commit") == []


def test_a_live_session_past_its_idle_time_is_committed(machine, live):
    machine.pass_time(IDLE_MS)
    machine.start()
    assert len(live.stored.archives) == 1
    assert live.state["ovSessionId"] is None


def test_what_is_in_the_transcript_past_the_cursor_goes_first(machine, live):
    live.agent("I will keep it by hand.")
    machine.pass_time(IDLE_MS)
    machine.start()
    assert live.stored.texts == [WORDS, "I will keep it by hand."]
    assert len(live.stored.archives) == 1


def test_an_ended_session_that_a_compaction_released_is_caught_up(machine, live):
    live.compact()
    live.agent("The tail that no end ever sent.")
    machine.markers().mark(live.session.id, machine.clock.now_ms())
    machine.start()
    assert live.stored.texts == [WORDS, "The tail that no end ever sent."]
    assert len(live.stored.archives) == 2
    assert live.ended == []


def test_a_marker_without_anything_to_send_or_commit_is_cleared(machine, live):
    live.compact()
    machine.markers().mark(live.session.id, machine.clock.now_ms())
    machine.start()
    assert live.ended == []
    assert len(machine.server.asked("/commit")) == 1


def test_a_transcript_that_cannot_be_read_is_never_committed(machine, failing):
    machine.conversations.unreadable.add(failing.session.id)
    machine.start()
    assert failing.stored.archives == []
    assert failing.state["ovSessionId"] == failing.name
    assert len(failing.ended) == 1


def test_after_a_month_an_unreadable_session_is_committed_as_the_server_has_it(machine, failing):
    machine.conversations.unreadable.add(failing.session.id)
    machine.pass_time(MONTH_MS)
    machine.start()
    assert len(failing.stored.archives) == 1
    assert failing.ended == []


def test_a_session_without_a_known_transcript_is_committed_as_it_is(machine, live):
    del machine.conversations.items[live.session.id]
    live.state_path.write_text(json.dumps({**live.state, "transcriptPath": None}))
    machine.pass_time(IDLE_MS)
    machine.start()
    assert len(live.stored.archives) == 1


def test_what_went_out_only_in_part_stays_live_with_its_marker(machine, failing):
    batches = iter([None, (503, {})])
    machine.server.cut = lambda asked: next(batches) if asked.path.endswith("/batch") else None
    failing.agent(*(f"Answer number {number} of many." for number in range(150)))
    machine.start()
    assert failing.stored.archives == []
    assert failing.state["ovSessionId"] == failing.name
    assert len(failing.ended) == 1


def test_a_locked_session_is_skipped(machine, failing, foreign_lock):
    foreign_lock(failing)
    asked = len(machine.server.requests)
    machine.start()
    assert machine.server.lines[asked:] == []
    assert len(failing.ended) == 1


def test_the_new_session_itself_is_never_examined(machine, failing):
    machine.start(id_=failing.session.id)
    assert failing.stored.archives == []


def test_a_session_of_another_host_is_swept_too_though_it_has_the_same_id(machine, failing):
    machine.start(host="claude", id_=failing.session.id)
    assert len(failing.stored.archives) == 1


def test_a_newer_end_keeps_its_marker(machine, failing):
    later = machine.clock.now_ms() + 60_000
    listed = machine.markers().newest(failing.session.id)
    machine.server.cut = lambda asked: (
        machine.markers().mark(failing.session.id, later) if asked.path.endswith("/commit") else None
    )
    machine.start()
    assert len(failing.stored.archives) == 1
    assert failing.ended == [later]
    assert listed < later


def test_cursors_are_kept_as_long_as_a_session_may_be_resumed(machine, live):
    live.compact()
    machine.pass_time(MONTH_MS - 60_000)
    machine.start()
    assert live.state["capturedTurnCount"] == 1
    machine.pass_time(120_000)
    machine.start()
    assert not live.state_path.exists()


def test_a_state_that_never_captured_a_turn_goes_after_the_idle_time(machine):
    talk = machine.conversation()
    talk.stop()
    machine.pass_time(IDLE_MS - 60_000)
    machine.start()
    assert talk.state_path.exists()
    machine.pass_time(120_000)
    machine.start()
    assert not talk.state_path.exists()
    assert machine.server.asked("/commit") == []


def test_a_state_whose_time_is_no_number_is_neither_swept_nor_let_go(machine, live):
    live.state_path.write_text(json.dumps({**live.state, "lastUpdatedAt": "yesterday"}))
    machine.markers().mark(live.session.id, machine.clock.now_ms())
    machine.pass_time(MONTH_MS * 2)
    machine.start()
    assert machine.server.asked("/commit") == []
    assert live.state["lastUpdatedAt"] == "yesterday"


def test_what_is_no_state_is_passed_over(machine, live):
    folder = live.state_path.parent
    (folder / "recall-compressor-profile.json").write_text('{"schemaVersion":3}')
    (folder / "broken.json").write_text("{")
    machine.pass_time(IDLE_MS)
    machine.start()
    assert len(live.stored.archives) == 1
    assert (folder / "recall-compressor-profile.json").exists()


def test_a_start_of_any_host_sweeps_the_sessions_of_all(machine):
    talks = [machine.conversation(host=host).user(WORDS) for host in ("codex", "claude", "opencode", "elsewhere")]
    for talk in talks:
        machine.tell("start", talk.session, moment="startup")
        talk.stop()
    machine.pass_time(IDLE_MS)
    machine.start(host="claude")
    assert [talk.name[:3] for talk in talks] == ["cx-", "cc-", "oc-", "els"]
    assert [len(talk.stored.archives) for talk in talks] == [1, 1, 1, 1]


def test_what_the_user_wants_left_alone_is_sent_no_more(machine, live):
    machine.services.sessions.modes["codex", live.session.id] = "disabled"
    live.agent("Words said after that.")
    machine.pass_time(IDLE_MS)
    machine.start()
    assert live.stored.texts == [WORDS]
    assert machine.server.asked("/commit") == []


def test_one_session_that_fails_stops_no_other(machine, failing):
    broken = machine.conversation("000-first").user(WORDS)
    broken.stop()
    machine.markers().mark(broken.session.id, machine.clock.now_ms())
    machine.conversations.items["000-first"] = None  # iterating it raises what no contract names
    machine.start()
    assert len(failing.stored.archives) == 1


def test_a_moved_transcript_is_found_by_the_catalogue(machine, live):
    moved = Session(
        host="codex", id=live.session.id, locator="/home/user/archived/rollout.jsonl", cwd="/home/user/shop"
    )
    machine.services.sessions.known["codex", live.session.id] = moved
    machine.pass_time(IDLE_MS)
    live.agent("Said before it was moved.")
    machine.start()
    assert live.state["transcriptPath"] == moved.locator


# what the user hears of it


def test_the_next_session_is_told_once_what_was_committed(machine, failing):
    machine.start()
    assert machine.notice() == f"OpenViking session {failing.name} is committed"
    assert machine.notice() == ""


def test_several_commits_are_one_line_with_their_traces(machine):
    machine.server.trace_id = "tr-1"
    talks = [machine.conversation().user(WORDS) for _ in range(2)]
    for talk in talks:
        talk.stop()
    machine.pass_time(IDLE_MS)
    machine.start()
    names = ", ".join(talk.name for talk in talks)
    assert machine.notice() == f"OpenViking sessions {names} are committed (trace_ids=tr-1,tr-1)"


def test_nobody_is_told_of_a_sweep_that_committed_nothing(machine, live):
    machine.start()
    assert machine.notice() == ""


def test_status_tells_what_a_sweep_could_not_commit(machine, failing):
    machine.conversations.unreadable.add(failing.session.id)
    machine.start()
    assert any(failing.name in finding.message and finding.level == "warn" for finding in machine.findings())
    machine.conversations.unreadable.clear()
    machine.start()
    assert not any(finding.level == "warn" for finding in machine.findings())
    assert any("1 committed" in finding.message for finding in machine.findings())
