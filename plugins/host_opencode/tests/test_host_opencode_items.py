"""What is said in OpenCode becomes items that say whose words they are."""

import json

import pytest
from codexmem_hookspecs.errors import Rewritten, Unreadable
from codexmem_hookspecs.values.capture import Item, Session
from codexmem_host_opencode import plugin, transcript
from codexmem_host_opencode.records import Conversation, Revert, SessionInfo, Times
from codexmem_host_opencode.words import unquoted
from hypothesis import given
from hypothesis import strategies as st

NOW_MS = 1_800_000_000_000
BEGAN_MS = NOW_MS - 3_600_000
SESSION = Session(host="opencode", id="ses_1", cwd="/home/user/proj")
OWN_TEXT = plugin.codexmem_capture_host()[0].own_text


def message(role, *parts, at=1, done=True, **info):
    times = {"created": BEGAN_MS + at, **({"completed": BEGAN_MS + at + 1} if done else {})}
    return {"info": {"id": f"msg_{at}", "role": role, "time": times, **info}, "parts": list(parts)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def tool(name="bash", status="completed", **state):
    return {"type": "tool", "tool": name, "callID": "c1", "state": {"status": status, **state}}


def entries(*messages, after=0, revert=None):
    taken_back = None if revert is None else Revert(**revert)
    info = SessionInfo(id="ses_1", directory="/home/user/proj", time=Times(created=BEGAN_MS), revert=taken_back)
    conversation = Conversation(info=info, messages=list(messages))
    return list(transcript.entries(conversation, SESSION, after, NOW_MS))


def said(*messages, **info):
    return [(item.tier, item.role, item.text) for item in entries(*messages, **info)]


def test_a_recorded_conversation_reads_as_it_was(opencode, recorded, server):
    conversation = recorded("tools-question-subagent-compaction")
    server.put(conversation)
    opencode.services.settings["url"] = server.url
    items = opencode.items(opencode.session(conversation))
    spoken = [(item.tier, item.text) for item in items if item.tool is None and "/README.md" not in item.text]
    question = (
        'Assistant question: {"questions": [{"question": "Tabs or spaces?", "header": "Indent", "options": '
        '[{"label": "Tabs", "description": "t"}, {"label": "Spaces", "description": "s"}]}]}\nHuman reply: '
        'User has answered your questions: "Tabs or spaces?"="Spaces". '
        "You can now continue with the user's answers in mind."
    )
    assert spoken == [
        ("human", "first turn: please lint before a commit, see @README.md"),
        ("human", "[file omitted]"),
        ("commentary", "Let me lint and look."),
        ("final", "Linted. I will always lint before a commit."),
        ("human", "second turn: which indentation?"),
        ("human", question),
        ("final", "Spaces it is."),
        ("human", "third turn: have somebody look"),
        ("final", "The helper found README.md."),
        ("context", "Summary: lint before commits, spaces."),
        ("human", "fourth turn"),
        ("final", "ok"),
    ]
    tools = [(item.tool.name, item.tool.status, item.tool.output.strip()[:30]) for item in items if item.tool]
    assert tools == [
        ("bash", "started", ""),
        ("bash", "completed", "lint ok"),
        ("read", "started", ""),
        ("read", "failed", "File not found: /home/user/pro"),
        ("question", "started", ""),
        ("task", "started", ""),
        ("task", "completed", '<task id="ses_dd1cf406affesxrQ'),
    ]
    assert json.loads(next(item.tool.input for item in items if item.tool)) == {
        "command": "echo lint ok",
        "description": "Lint",
    }


def test_prompts_on_the_command_line_lose_the_quotes_that_opencode_puts_around_them(opencode, recorded, server):
    conversation = recorded("run-and-continue")
    server.put(conversation)
    opencode.services.settings["url"] = server.url
    items = opencode.items(opencode.session(conversation))
    assert [item.text for item in items if item.tier == "human"] == ["say it twice please", "and again"]


@given(st.text())
def test_unquoting_is_the_opposite_of_quoting(words):
    assert unquoted('"' + words.replace('"', '\\"') + '"') == words or "\\" in words
    if not words.strip().startswith('"'):
        assert unquoted(words) == words


def test_two_quoted_words_are_not_one():
    assert unquoted('"one" and "two"') == '"one" and "two"'


def test_what_opencode_or_we_add_to_a_message_is_not_the_users():
    added = message("user", text("hi"), text("Called the Read tool", synthetic=True))
    ours = message("user", text("REMEMBERED", synthetic=True, metadata={"codexmem": True}), at=5)
    items = entries(added, ours)
    assert [(item.tier, OWN_TEXT(item)) for item in items] == [("human", False), ("context", False), ("context", True)]


def test_what_a_model_thought_and_marks_of_steps_and_ignored_pieces_are_not_kept():
    pieces = [{"type": "reasoning", "text": "hm"}, {"type": "step-start"}, {"type": "patch", "hash": "x", "files": []}]
    pieces += [text("unseen", ignored=True), text("  \n"), {"type": "some-new-piece", "text": "?"}]
    assert said(message("assistant", *pieces, {"type": "step-finish"}, text("done"), finish="stop")) == [
        ("final", "assistant", "done")
    ]


def test_a_tool_that_failed_is_read_with_its_error():
    (call, result) = entries(message("assistant", tool(status="error", input={"command": "x"}, error="no such file")))
    assert (call.tool.status, result.tool.status, result.tool.output) == ("started", "failed", "no such file")
    assert call.tool.id == result.tool.id == "c1"


def test_only_an_answer_to_a_question_is_the_users_word():
    answer = 'User has answered your questions: "a"="b".'
    unanswered = 'User has answered your questions: "a"="Unanswered".'
    assert [item.tier for item in entries(message("assistant", tool("question", output=answer)))] == ["tool", "human"]
    for name, output in (("bash", answer), ("question", unanswered), ("question", "cancelled")):
        assert [item.tier for item in entries(message("assistant", tool(name, output=output)))] == ["tool", "tool"]


def test_images_and_files_leave_a_placeholder():
    pieces = [{"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}, {"type": "file", "mime": "x"}]
    assert [item.text for item in entries(message("user", *pieces))] == ["[image omitted]", "[file omitted]"]


def test_a_turn_that_is_going_on_is_given_up_to_what_is_still_being_made():
    finished, running = tool(output="ok"), tool("read", status="running", input={})
    going_on = message(
        "assistant", text("Let me see.", time={"start": 1, "end": 2}), finished, running, done=False, at=5
    )
    seen = entries(message("user", text("hi")), going_on)
    assert [item.text for item in seen] == ["hi", "Let me see.", "", "ok"]
    later = message("assistant", *going_on["parts"][:2], tool("read", output="content"), text("Done."), at=5)
    more = entries(message("user", text("hi")), later, after=seen[-1].position)
    assert [item.text for item in more] == ["", "content", "Done."]


def test_a_call_that_was_never_answered_stays_when_the_session_went_on():
    broken_off = message("assistant", tool(status="running", input={"command": "sleep"}), done=False)
    assert [item.tier for item in entries(broken_off, message("user", text("stop"), at=5))] == ["tool", "human"]


def test_a_fork_gives_only_what_was_said_in_it(opencode, recorded, server):
    conversation = recorded("fork-taken-back")
    conversation["info"].pop("revert")
    conversation["messages"].append(message("user", text("on my own way"), at=0))
    server.put(conversation)
    opencode.services.settings["url"] = server.url
    assert [item.text for item in opencode.items(opencode.session(conversation))] == ["on my own way"]


def test_what_the_user_took_back_is_not_given():
    messages = [message("user", text("one"), at=1), message("user", text("two", id="prt_2"), text("three"), at=2)]
    assert [entry[2] for entry in said(*messages, revert={"messageID": "msg_2"})] == ["one"]
    partly = entries(*messages, revert={"messageID": "msg_2", "partID": "prt_2"})
    assert [item.text for item in partly] == ["one"]


def test_reading_on_after_something_was_taken_away_starts_anew():
    messages = [message("user", text("one"), at=1), message("user", text("two"), at=2)]
    last = entries(*messages)[-1].position
    with pytest.raises(Rewritten):
        entries(messages[0], after=last)


def test_a_clock_that_was_set_back_lets_no_position_decrease():
    items = entries(message("user", text("one"), at=9), message("user", text("two"), at=3))
    assert [item.text for item in items] == ["one", "two"]
    assert items[0].position < items[1].position


def test_times_that_cannot_be_are_not_told():
    assert [item.at_ms for item in entries(message("user", text("x"), at=7_200_000))] == [0]


def test_a_piece_or_message_in_another_form_is_named_and_stops_nothing():
    odd = message("user", {"type": 7}, text("still here"))
    found = entries(odd, {"info": "?"}, message("user", text("and here"), at=5))
    assert [entry.text if isinstance(entry, Item) else entry.reason.split(":")[0] for entry in found] == [
        "unexpected shape",
        "still here",
        "unexpected shape",
        "and here",
    ]


def test_nothing_understood_is_no_empty_session():
    with pytest.raises(Unreadable, match="0 of 2 messages"):
        entries({"a": 1}, {"b": 2})


def test_a_session_in_which_nothing_was_said_is_empty():
    assert entries() == []


def test_an_agent_that_works_elsewhere_says_where():
    elsewhere = message("assistant", text("done"), path={"cwd": "/home/user/other", "root": "/"})
    here = message("assistant", text("done"), path={"cwd": "/home/user/proj"}, at=5)
    assert [item.cwd for item in entries(elsewhere, here)] == ["/home/user/other", ""]


PIECES = st.one_of(
    st.builds(text, st.text(min_size=1)),
    st.builds(tool, status=st.sampled_from(["completed", "running", "error", "odd"]), output=st.text()),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5), max_size=3),
)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.lists(PIECES, max_size=4), st.booleans()), max_size=5)
)
def test_whatever_it_holds_a_reading_from_any_place_is_the_rest_of_a_whole_one(rows):
    messages = [message(role, *parts, at=number, done=done) for number, (role, parts, done) in enumerate(rows, 1)]
    try:
        whole = entries(*messages)
    except Unreadable:
        return
    for position in {entry.position for entry in whole}:
        assert entries(*messages, after=position) == [entry for entry in whole if entry.position > position]
