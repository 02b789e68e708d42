"""Stops: what is new since the cursor, once and in order; a commit only when enough has come together."""

import json

import pytest

WORDS = "word " * 60


def said(numbers):
    return [f"Turn number {number} of the day." for number in numbers]


def test_every_new_turn_is_sent(machine):
    talk = machine.conversation().user(*said(range(22)))
    talk.stop()
    assert talk.stored.texts == said(range(22))
    assert len(machine.server.asked("/batch")) == 1


def test_a_stop_without_anything_new_sends_nothing_and_is_a_sign_of_life(machine):
    talk = machine.conversation().user(*said(range(2)))
    talk.stop()
    before = len(machine.server.requests)
    talk.stop()
    assert machine.server.lines[before:] == ["GET /health"]
    assert talk.state["lastUpdatedAt"] == machine.clock.now_ms()


def test_only_what_is_past_the_cursor_is_read(machine):
    talk = machine.conversation().user(*said(range(40)))
    talk.stop()
    talk.user("And one more turn after that.").stop()
    assert machine.conversations.tails == [(talk.session.id, 0), (talk.session.id, 3_900)]


def test_enough_tokens_are_committed_and_the_newest_turns_stay(machine):
    machine.set(COMMIT_TOKEN_THRESHOLD="1000", COMMIT_KEEP_RECENT_COUNT="7")
    machine.server.trace_id = "tr-9"
    talk = machine.conversation().user(*(WORDS + text for text in said(range(20))))
    talk.stop()
    assert [one.body for one in machine.server.asked("/commit")] == [{"keep_recent_count": 7}]
    assert len(talk.stored.messages) == 7
    assert talk.state["ovSessionId"] == talk.name
    assert ("committed", {"session": talk.name, "sent": 20, "trace_id": "tr-9"}) in machine.log.infos
    talk.user("A short one after the commit.").stop()
    assert len(machine.server.asked("/commit")) == 1


def test_a_threshold_commit_that_fails_changes_nothing(machine):
    machine.set(COMMIT_TOKEN_THRESHOLD="1000")
    machine.server.cut = lambda asked: (500, {"status": "error"}) if asked.path.endswith("/commit") else None
    talk = machine.conversation().user(*(WORDS + text for text in said(range(20))))
    talk.stop()
    assert talk.state["capturedTurnCount"] == 20
    assert talk.state["ovSessionId"] == talk.name


def test_no_threshold_commit_after_turns_that_went_out_only_in_part(machine):
    machine.set(COMMIT_TOKEN_THRESHOLD="1000")
    batches = iter([None, (503, {})])
    machine.server.cut = lambda asked: next(batches) if asked.path.endswith("/batch") else None
    machine.conversation().user(*(WORDS + text for text in said(range(120)))).stop()
    assert machine.server.asked("/commit") == []


def test_a_stop_never_commits_below_the_threshold(machine):
    talk = machine.conversation()
    for number in range(5):
        talk.user(*said([number])).stop()
    assert machine.server.asked("/commit") == []


def test_a_stop_clears_markers_older_than_itself_and_no_other(machine):
    talk = machine.conversation().user(*said(range(1)))
    began = machine.clock.now_ms()
    machine.markers().mark(talk.session.id, began - 10)
    machine.markers().mark(talk.session.id, began + 500_000)
    talk.stop(at_ms=began)
    assert talk.ended == [began + 500_000]


def test_a_resume_clears_older_markers_and_neither_sends_nor_commits(machine):
    talk = machine.conversation().user(*said(range(2)))
    talk.stop()
    machine.server.cut = lambda asked: (500, {}) if asked.path.endswith("/commit") else None
    talk.end()
    machine.server.cut = lambda _asked: None
    asked = len(machine.server.requests)
    talk.resume()
    assert talk.ended == []
    assert machine.server.lines[asked:] == []


@pytest.mark.parametrize("moment", ["resume", "compact", "fork"])
def test_other_starts_neither_commit_nor_sweep(machine, moment):
    other = machine.conversation().user(*said(range(2)))
    other.stop()
    machine.pass_time(3_600_000)
    asked = len(machine.server.requests)
    machine.start(moment)
    assert machine.server.lines[asked:] == []
    assert other.state["ovSessionId"] == other.name


# the cursor


def test_a_compaction_that_shortened_the_transcript_resumes_at_the_latest_words_of_the_user(machine):
    talk = machine.conversation().user(*said(range(10)))
    talk.stop()
    talk.items.clear()
    talk.agent("A summary of what came before.").user("Earlier words that were kept.")
    machine.pass_time(120_000)
    talk.items.append(talk.items[-1]._replace(position=950, at_ms=machine.clock.now_ms(), parts=_words("The new one.")))
    talk.items.append(talk.items[-1]._replace(role="assistant", tier="final", position=990, parts=_words("Answered.")))
    talk.stop()
    assert talk.stored.texts == [*said(range(10)), "The new one.", "Answered."]


def test_a_rewrite_that_is_longer_than_before_is_noticed_as_well(machine):
    talk = machine.conversation().user(*said(range(3)))
    talk.stop()
    talk.items[:] = [item._replace(parts=_words(f"Rewritten {item.position}")) for item in talk.items]
    machine.pass_time(120_000)
    talk._put(tier="human", role="user", parts=_words("What is new after it."), at_ms=machine.clock.now_ms())
    talk.stop()
    assert talk.stored.texts == [*said(range(3)), "What is new after it."]


def test_a_rewrite_without_any_words_of_the_user_is_sent_whole(machine):
    talk = machine.conversation().user(*said(range(3)))
    talk.stop()
    talk.items.clear()
    talk.agent("Only the summary is left here.").stop()
    assert talk.stored.texts == [*said(range(3)), "Only the summary is left here."]


def test_a_resumed_session_in_a_new_file_with_more_turns_loses_none(machine):
    """The original counts turns only, and loses the first ones here (spec 11.7)."""
    talk = machine.conversation().user(*said(range(2)))
    talk.stop()
    talk.items.clear()
    machine.pass_time(120_000)
    for text in said(range(100, 103)):
        talk._put(tier="human", role="user", parts=_words(text), at_ms=machine.clock.now_ms())
    talk.stop()
    assert talk.stored.texts[-1] == said([102])[0]


def test_items_that_share_a_position_are_each_sent_once(machine):
    talk = machine.conversation()
    talk.agent("Before the call in one record.")
    first = talk.items[-1]
    talk.items.append(first._replace(parts=_words("Second piece of the same record.")))
    talk.stop()
    talk.items.append(first._replace(parts=_words("Third piece, written later on.")))
    talk.stop()
    assert talk.stored.texts == [
        "Before the call in one record.",
        "Second piece of the same record.",
        "Third piece, written later on.",
    ]


def test_the_state_of_the_original_goes_on(machine):
    talk = machine.conversation().user(*said(range(6)))
    _original(machine, talk, capturedTurnCount=4, lastUpdatedAt=talk.items[3].at_ms)
    talk.stop()
    assert talk.stored.texts == said([4, 5])
    assert talk.state["ovSessionId"] == talk.name
    assert talk.state["somethingLater"] == {"kept": True}


def test_turns_that_the_original_counted_and_we_leave_out_hide_no_new_ones(machine):
    talk = machine.conversation().user("ok", "/compact", *said(range(3)))
    saved = talk.items[-1].at_ms
    talk.user(*said([3]))
    _original(machine, talk, capturedTurnCount=5, lastUpdatedAt=saved)
    talk.stop()
    assert talk.stored.texts == said([3])


def test_a_count_of_the_original_that_is_too_high_hides_no_turn_since_its_last_save(machine):
    talk = machine.conversation().user("ok", "/compact", *said(range(3)))
    saved = talk.items[-1].at_ms
    talk.user(*said(range(3, 7)))
    _original(machine, talk, capturedTurnCount=5, lastUpdatedAt=saved)
    talk.stop()
    assert talk.stored.texts == said(range(3, 7))


def test_a_rewrite_after_which_only_the_agent_spoke_sends_its_words_and_not_the_question_again(machine):
    talk = machine.conversation().user(*said(range(3)))
    talk.stop()
    del talk.items[0]
    talk.items[:] = [item._replace(position=item.position + 7) for item in talk.items]
    words = _words("The answer that came afterwards.")
    talk._put(tier="final", role="assistant", parts=words, at_ms=machine.clock.now_ms())
    talk.stop()
    assert talk.stored.texts == [*said(range(3)), "The answer that came afterwards."]


def test_settings_that_change_what_is_sent_do_not_move_the_cursor(machine):
    machine.set(CAPTURE_ASSISTANT_TURNS="0")
    talk = machine.conversation()
    for number in range(4):
        talk.user(*said([number])).agent(f"Answer number {number} to that.")
    talk.stop()
    machine.set(CAPTURE_ASSISTANT_TURNS="1")
    talk.user(*said([9])).stop()
    assert talk.stored.texts == said([0, 1, 2, 3, 9])


def test_a_state_file_that_is_damaged_is_begun_anew(machine):
    talk = machine.conversation().user(*said(range(2)))
    talk.state_path.parent.mkdir(parents=True)
    talk.state_path.write_text("{half")
    talk.stop()
    assert talk.state["capturedTurnCount"] == 2


# keyword mode


def test_keyword_mode_sends_nothing_until_somebody_asks_for_it(machine):
    machine.set(CAPTURE_MODE="keyword")
    talk = machine.conversation().user(*said(range(2)))
    talk.stop()
    assert talk.stored.texts == []
    talk.user("Please remember that the port is 8125.").stop()
    assert talk.stored.texts == [*said(range(2)), "Please remember that the port is 8125."]


def test_keyword_mode_commits_nothing_at_an_end_where_nobody_asked(machine):
    machine.set(CAPTURE_MODE="keyword")
    talk = machine.conversation().user(*said(range(2)))
    talk.end()
    assert machine.server.lines == ["GET /health"]
    assert talk.ended == []


def test_every_message_names_the_peer_of_the_directory(machine):
    talk = machine.conversation(cwd="/tmp/work").user(*said(range(1)))
    talk.stop()
    assert [message["peer_id"] for message in talk.stored.messages] == ["-tmp-work"]
    assert machine.server.asked("/batch")[0].headers["x-openviking-actor-peer"] == "-tmp-work"
    assert talk.state["workspacePeerId"] == "-tmp-work"


def test_the_peer_that_the_user_named_goes_first(machine):
    machine.set(PEER_ID="team")
    talk = machine.conversation(cwd="/tmp/work").user(*said(range(1)))
    talk.stop()
    assert [message["peer_id"] for message in talk.stored.messages] == ["team"]
    assert talk.state["workspacePeerId"] == "-tmp-work"


@pytest.mark.parametrize(
    ("named", "sent"), [("a/b c", "a-b-c"), ("teäm", "te-m"), ("git.example-team_1", "git.example-team_1")]
)
def test_a_peer_is_named_so_that_the_server_takes_it(machine, named, sent):
    machine.set(PEER_ID=named)
    talk = machine.conversation().user(*said(range(1)))
    talk.stop()
    assert [message["peer_id"] for message in talk.stored.messages] == [sent]


def _words(text):
    from codexmem_hookspecs.values.capture import Part

    return (Part(kind="text", text=text),)


def _original(machine, talk, **fields):
    state = {
        "codexSessionId": talk.session.id,
        "ovSessionId": "5f0e3c1a-legacy-uuid",
        "workspacePeerId": "",
        "transcriptPath": talk.session.locator,
        "createdAt": 1,
        "somethingLater": {"kept": True},
        **fields,
    }
    talk.state_path.parent.mkdir(parents=True)
    talk.state_path.write_text(json.dumps(state))


def test_a_session_that_is_resumed_elsewhere_keeps_its_peer(machine):
    talk = machine.conversation("s-1", cwd="/tmp/work").user(*said(range(1)))
    talk.stop()
    elsewhere = machine.conversation("s-1", cwd="/tmp/other")
    elsewhere.user(*said([1])).stop()
    assert [message["peer_id"] for message in elsewhere.stored.messages] == ["-tmp-work", "-tmp-work"]
