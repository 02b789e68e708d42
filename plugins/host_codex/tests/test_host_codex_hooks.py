"""Codex's hooks: what its payloads mean, and that what we print keeps to its schemas."""

import json
from pathlib import Path

import pytest
from codexmem_hookspecs.values.capture import Answer, Session
from codexmem_host_codex.host import CodexHost

PAYLOADS = json.loads((Path(__file__).parent / "recordings" / "payloads.json").read_text(encoding="utf-8"))
HOST = CodexHost()


def decoded(test):
    return [event for name, payload in PAYLOADS if test(payload) for event in HOST.decode(name, payload, 5)]


def test_a_subagents_hooks_are_nothing_although_they_carry_the_parents_id():
    children = [payload for _, payload in PAYLOADS if payload.get("agent_id")]
    assert {payload["hook_event_name"] for payload in children} >= {"SubagentStart", "UserPromptSubmit", "SubagentStop"}
    assert decoded(lambda payload: payload.get("agent_id")) == []


def test_sessions_without_a_rollout_are_nothing_so_codexs_memory_agent_is_not_heard():
    assert [payload for _, payload in PAYLOADS if payload["cwd"].endswith("memories_v2")]
    assert decoded(lambda payload: payload["transcript_path"] is None) == []


def test_starts_say_their_moment():
    events = decoded(lambda payload: payload["hook_event_name"] == "SessionStart")
    assert {event.moment for event in events} == {"startup", "resume", "clear", "compact"}
    (event,) = HOST.decode("SessionStart", {"session_id": "s", "transcript_path": "/x", "source": "brand new"}, 1)
    assert (event.kind, event.moment) == ("start", "startup")


def test_an_interrupted_turn_counts_as_stopped():
    assert [event.kind for event in decoded(lambda payload: payload["hook_event_name"] == "Interrupt")] == [
        "stop",
        "stop",
    ]


def test_prompts_and_tools_are_told():
    prompts = decoded(lambda payload: payload["hook_event_name"] == "UserPromptSubmit")
    assert "PARENT-GO" in {event.prompt for event in prompts}
    assert {event.tool for event in decoded(lambda payload: payload["hook_event_name"] == "PostToolUse")} == {"Bash"}


def test_half_characters_of_a_prompt_can_be_stored():
    (event,) = HOST.decode("UserPromptSubmit", {"session_id": "s", "transcript_path": "/x", "prompt": "a\ud83d"}, 1)
    assert event.prompt.encode() == "a\ufffd".encode()


def test_answers_keep_to_the_schema():
    printed = json.loads(HOST.encode("SessionStart", Answer(context="C", notice="N")))
    assert printed == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "C"},
        "systemMessage": "N",
    }
    assert json.loads(HOST.encode("Stop", Answer(context="C", notice="N"))) == {"systemMessage": "N"}
    assert HOST.encode("SessionEnd", Answer(context="C", notice="N")) == b""


@pytest.mark.parametrize(
    ("environ", "home"),
    [
        ({"CODEX_HOME": "/data/codex/", "HOME": "/home/user"}, ("/data/codex",)),
        ({"CODEX_HOME": "relative", "HOME": "/home/user"}, ("/home/user/.codex",)),
        ({"HOME": "/home/user"}, ("/home/user/.codex",)),
        ({}, ()),
    ],
)
def test_the_home_is_where_codex_looks(environ, home):
    assert HOST.homes(environ) == home


def test_its_memories_of_any_version_are_its_own():
    assert HOST.own_memories({"CODEX_HOME": "/c[1]"}) == ("/c[[]1]/memories*",)


def test_only_internal_sessions_are_its_own_agents():
    assert HOST.own_agent(Session(host="codex", id="1", kind="internal"))
    assert not HOST.own_agent(Session(host="codex", id="1", kind="subagent"))
