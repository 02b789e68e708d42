"""A host whose hooks are commands with JSON: what a plugin gets by naming what differs."""

import json

import pytest
from codexmem_hookspecs.command_hooks import CommandHost
from codexmem_hookspecs.values.capture import Answer, Item, Session


class Robot(CommandHost):
    name = "robot"
    title = "Robot"
    kinds = {"Begin": "start", "Say": "prompt", "Use": "tool", "Bye": "end"}  # noqa: RUF012 - a test's
    answers = {"Begin": "startup"}  # noqa: RUF012
    notices = frozenset({"Bye"})
    home_variable = "ROBOT_HOME"
    home_folder = ".robot"
    turn_keys = ("step", "turn")


HOST = Robot()


def decoded(event, **payload):
    return list(HOST.decode(event, {"session_id": "s", **payload}, 1_700_000_000_000))


def test_an_event_carries_what_the_hook_was_told():
    (event,) = decoded("Say", cwd="/w", transcript_path="/t", prompt="half \ud83d", turn="t1")
    assert event.id == "001700000000000-robot-s-Say-t1"
    assert (event.host, event.kind, event.moment, event.prompt) == ("robot", "prompt", "prompt", "half \ufffd")
    assert event.session == Session(
        host="robot",
        id="s",
        locator="/t",
        cwd="/w",
        updated_at_ms=1_700_000_000_000,
        touched_at_ms=1_700_000_000_000,
    )


@pytest.mark.parametrize(
    ("source", "moment"), [("resume", "resume"), ("compact", "compact"), ("new", "startup"), (3, "startup")]
)
def test_a_start_says_where_the_session_comes_from(source, moment):
    assert decoded("Begin", source=source)[0].moment == moment


def test_the_finest_key_tells_two_events_apart():
    assert decoded("Use", step="1", turn="t")[0].id.endswith("-Use-1")
    assert decoded("Use", turn="t")[0].id.endswith("-Use-t")
    assert decoded("Use")[0].id.endswith("-Use")


def test_subagents_and_what_is_not_known_are_nothing():
    assert decoded("Say", agent_id="a1") == decoded("Dance") == decoded("Say", session_id="") == []


def test_an_answer_has_only_what_the_event_may_carry():
    answer = Answer(context="know this \ud83d", notice="done")
    assert json.loads(HOST.encode("Begin", answer)) == {
        "hookSpecificOutput": {"hookEventName": "Begin", "additionalContext": "know this \ufffd"}
    }
    assert json.loads(HOST.encode("Bye", answer)) == {"systemMessage": "done"}
    assert HOST.encode("Say", answer) == HOST.encode("Begin", Answer(notice="done")) == b""


def test_own_text_is_what_was_given_in_the_name_of_the_system():
    given = Item(tier="context", role="system", position=1)
    assert HOST.own_text(given)
    assert not HOST.own_text(given._replace(role="user"))
    assert not HOST.own_text(given._replace(tier="final", role="assistant"))


def test_the_host_lives_where_its_variable_says():
    assert HOST.homes({"ROBOT_HOME": "/opt/robot"}) == ("/opt/robot",)
    assert HOST.homes({"HOME": "/home/u"}) == ("/home/u/.robot",)
