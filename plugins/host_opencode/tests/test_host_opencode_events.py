"""What the plugin file tells becomes events."""

import pytest
from codexmem_hookspecs.values.capture import Answer
from codexmem_hookspecs.values.read import Caller
from codexmem_host_opencode import plugin

HOST = plugin.codexmem_capture_host()[0]
SESSION = {"session_id": "ses_1", "cwd": "/home/user/proj"}


def decoded(event, **more):
    return HOST.decode(event, {**SESSION, **more}, 1_790_000_000_000)


def one(event, **more):
    (found,) = decoded(event, **more)
    return found


@pytest.mark.parametrize(
    ("event", "kind", "moment"),
    [
        ("session.start-startup", "start", "startup"),
        ("session.start-resume", "start", "startup"),
        ("chat.message", "prompt", "prompt"),
        ("tool.execute.before", "tool", ""),
        ("experimental.text.complete", "cited", ""),
        ("session.idle", "idle", ""),
        ("experimental.session.compacting", "compaction", ""),
        ("session.deleted", "deleted", ""),
    ],
)
def test_each_event_is_of_its_kind(event, kind, moment):
    found = one(event)
    assert (found.kind, found.moment, found.session.id, found.session.cwd) == (kind, moment, "ses_1", "/home/user/proj")
    assert found.session.locator == "opencode:/ses_1"


def test_a_session_that_goes_on_says_so_whatever_it_was_asked_as():
    assert one("session.start-startup", source="resume").moment == "resume"


def test_the_end_of_a_process_is_the_end_of_all_its_sessions():
    ends = HOST.decode("dispose", {"sessions": [SESSION, {"session_id": "ses_2"}, {"cwd": "/x"}, 7]}, 1)
    assert [(event.kind, event.session.id) for event in ends] == [("end", "ses_1"), ("end", "ses_2")]
    assert [HOST.decode("dispose", {"sessions": odd}, 1) for odd in ("x", None, {})] == [[], [], []]


def test_what_was_cited_and_asked_and_called_is_told():
    assert one("experimental.text.complete", cited="<memory-citation>").cited == "<memory-citation>"
    assert one("chat.message", prompt='"two words"').prompt == "two words"
    assert one("tool.execute.before", tool="webfetch").tool == "webfetch"


def test_events_of_our_own_sessions_are_none():
    assert decoded("session.idle", title="codexmem-extraction") == ()


def test_two_answers_at_one_time_are_two_events():
    first, second = (one("experimental.text.complete", part_id=part, cited="x") for part in ("prt_1", "prt_2"))
    assert first.id != second.id


def test_an_answer_is_the_text_itself_and_no_line_for_the_user():
    assert HOST.encode("session.start-resume", Answer(context="Remember.", notice="for the user")) == b"Remember."
    assert HOST.encode("session.idle", Answer(context="Remember.")) == b""


def test_tools_are_named_as_opencode_shows_them():
    assert HOST.tool_name("memory_search") == "codexmem_memory_search"


def calls(waiting):
    """Who calls our server, of which the plugin file says that ``waiting`` do."""
    files = {"/memory/calls/7.json": waiting}
    caller = Caller(host="opencode", cwd="/home/user/proj", parent=7)
    return HOST.caller(caller, {"CODEXMEM_OPENCODE_CALLS": "/memory/calls"}, files.get)


def test_the_one_session_that_waits_for_a_tool_is_the_caller():
    assert calls(b'{"pid": 7, "sessions": ["ses_1"]}') == "ses_1"


@pytest.mark.parametrize(
    "waiting",
    [
        b'{"pid": 7, "sessions": ["ses_1", "ses_2"]}',
        b'{"pid": 8, "sessions": ["ses_1"]}',
        b'{"pid": 7, "sessions": [1]}',
        b'{"pid": 7}',
        b"[]",
        b"{",
        None,
    ],
)
def test_when_several_wait_or_nothing_is_known_the_caller_is_not_told(waiting):
    assert calls(waiting) == ""


def test_opencode_2_sends_the_session_along_with_each_call():
    caller = Caller(host="opencode", cwd="/home/user/proj", parent=7, meta={"codexmem/session": "ses_1"})
    assert HOST.caller(caller, {}, {}.get) == "ses_1"
