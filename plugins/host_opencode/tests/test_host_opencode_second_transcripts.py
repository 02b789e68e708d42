"""What is said in OpenCode 2 is read as it is read from OpenCode 1."""

from contextlib import suppress

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.values.capture import Item
from codexmem_host_opencode import transcript
from codexmem_host_opencode.records import Conversation, SessionInfo
from codexmem_host_opencode.second.messages import adapted
from hypothesis import given
from hypothesis import strategies as st

from .second_messages import CREATED, assistant, session, text, tool, user


def read(opencode, service, *messages):
    """(tier, role, text or tool) of what is read of a session with these messages."""
    service.put("ses_1", *messages)
    return [(item.tier, item.role, item.tool or item.text) for item in opencode.items(session())]


def test_every_page_of_messages_is_read_in_order(opencode, service):
    service.page = 2
    found = read(opencode, service, *[user(f"number {number}", at=number) for number in range(1, 6)])
    assert [words for _, _, words in found] == [f"number {number}" for number in range(1, 6)]
    first, *others = service.asked("GET", "/api/session/ses_1/message")
    assert first.query == {"order": "asc"}
    assert [set(one.query) for one in others] == [{"cursor"}, {"cursor"}]


def test_messages_that_lead_back_to_themselves_are_unreadable(opencode, service):
    service.put("ses_1")
    page = {"data": [user("hello")], "cursor": {"next": "again"}}
    service.broken["/api/session/ses_1/message"] = (200, page)
    with pytest.raises(Unreadable, match="twice"):
        opencode.entries(session())


def test_whose_words_each_message_is(opencode, service):
    found = read(
        opencode,
        service,
        user("always lint", files=[{"mime": "image/png"}]),
        {"type": "synthetic", "id": "msg_s", "time": {"created": CREATED + 2}, "text": "a file changed"},
        {"type": "system", "id": "msg_y", "time": {"created": CREATED + 3}, "text": "the date changed"},
        {"type": "skill", "id": "msg_k", "time": {"created": CREATED + 4}, "name": "lint", "text": "How to lint"},
        assistant({"type": "reasoning", "text": "hm"}, text("Let me look."), at=5, finish="tool-calls"),
        assistant(text("Done."), at=6),
        {
            "type": "compaction",
            "id": "msg_c",
            "time": {"created": CREATED + 7},
            "status": "completed",
            "summary": "short",
        },
        {"type": "idle", "id": "msg_i", "time": {"created": CREATED + 8}, "outcome": "succeeded"},
        {"type": "model-switched", "id": "msg_m", "time": {"created": CREATED + 9}},
    )
    assert [(tier, role) for tier, role, _ in found] == [
        ("human", "user"),
        ("human", "user"),
        ("context", "user"),
        ("context", "user"),
        ("context", "user"),
        ("commentary", "assistant"),
        ("final", "assistant"),
        ("context", "assistant"),
    ]


def test_tools_are_read_with_their_outcome_and_a_question_with_the_users_answer(opencode, service):
    asked = 'User has answered your questions: "Tabs?"="Yes". You can go on.'
    found = read(
        opencode,
        service,
        assistant(tool("bash", input={"command": "make"}, content=[text("all good"), {"type": "file", "uri": "x"}])),
        assistant(tool("bash", "error", input={"command": "rm"}, error={"type": "x", "message": "denied"}), at=3),
        assistant(tool("question", input={"q": 1}, content=[text(asked)]), at=4),
    )
    uses = [use for _, _, use in found if not isinstance(use, str)]
    assert [(use.status, use.output) for use in uses if use.status != "started"] == [
        ("completed", "all good"),
        ("failed", "denied"),
    ]
    assert found[-1][0] == "human"
    assert "Yes" in found[-1][2]


def test_calls_from_inside_a_program_are_calls_of_their_own(opencode, service):
    inner = [{"tool": "read", "input": {"path": "a"}}, {"tool": "webfetch", "input": {"url": "b"}}]
    program = tool("execute", input={"code": "…"}, content=[text("both")], metadata={"toolCalls": inner})
    uses = [use for _, _, use in read(opencode, service, assistant(program))]
    assert [(use.name, use.status, use.output) for use in uses] == [
        ("read", "started", ""),
        ("read", "completed", ""),
        ("webfetch", "started", ""),
        ("webfetch", "completed", "both"),
    ]


def test_a_command_of_the_users_own_is_read(opencode, service):
    shell = {"type": "shell", "id": "msg_1", "time": {"created": CREATED + 1}, "shellID": "sh", "command": "make"}
    started, done = [use for _, _, use in read(opencode, service, shell | {"output": "built"})]
    assert ("make" in started.input, done.output) == (True, "built")


def test_what_is_still_being_made_comes_later(opencode, service):
    making = assistant(text("Now I"), at=3)
    del making["time"]["completed"]
    assert [words for _, _, words in read(opencode, service, user("go"), making)] == ["go"]
    at_work = assistant(text("Look:"), tool("bash", "streaming", input=""), at=3)
    del at_work["time"]["completed"]
    assert len(read(opencode, service, user("go"), at_work)) == 1
    failed = assistant(text("Now I"), at=3, error={"type": "provider", "message": "gone"})
    del failed["time"]["completed"]
    assert [words for _, _, words in read(opencode, service, user("go"), failed)] == ["go", "Now I"]


def test_a_session_that_moved_is_read_with_its_folders(opencode, service):
    moved = {"type": "location-switched", "id": "msg_2", "time": {"created": CREATED + 2}}
    service.put("ses_1", user("here"), moved | {"location": {"directory": "/home/user/new"}}, user("there", at=3))
    assert [item.cwd for item in opencode.items(session())] == ["", "/home/user/new"]


@pytest.mark.parametrize(
    "message", [7, {}, {"type": "user"}, {"type": "assistant", "id": "m", "content": 7}, {"id": "m"}]
)
def test_an_odd_message_hides_no_other(opencode, service, message):
    assert [words for _, _, words in read(opencode, service, user("before"), message, user("after", at=9))] == [
        "before",
        "after",
    ]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
KEYS = ("type", "id", "text", "time", "content", "state", "status", "input", "error", "metadata", "toolCalls", "files")
WORDS = ("user", "assistant", "tool", "text", "shell", "compaction", "execute", "location-switched", "completed")
VALUES = st.recursive(
    SCALARS | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from((*KEYS, "name", "created")), inner),
    max_leaves=20,
)


@given(st.lists(VALUES, max_size=4))
def test_whatever_is_given_as_messages_each_is_read_or_named(messages):
    conversation = Conversation(info=SessionInfo(id="ses_1"), messages=adapted(messages, "/home/user/proj"))
    assert len(conversation.messages) == len(messages)
    with suppress(Unreadable):  # nothing of it is understood
        entries = list(transcript.entries(conversation, session(), 0, CREATED))
        assert all(isinstance(one, Item) or one.reason for one in entries)
