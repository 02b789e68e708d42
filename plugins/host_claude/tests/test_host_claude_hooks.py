"""Claude Code's hooks: what its payloads mean, and what we print."""

import json
from pathlib import Path

import pytest
from codexmem_hookspecs.values.capture import Answer
from codexmem_host_claude.host import ClaudeHost

PAYLOADS = json.loads((Path(__file__).parent / "recordings" / "payloads.json").read_text(encoding="utf-8"))
HOST = ClaudeHost()


def decoded(name):
    return [event for event, payload in PAYLOADS if event == name for event in HOST.decode(event, payload, 5)]


def test_starts_say_their_moment_and_name_a_file_that_need_not_exist():
    events = decoded("SessionStart")
    assert {event.moment for event in events} == {"startup", "resume", "compact"}
    assert all(event.session.locator.endswith(f"{event.session.id}.jsonl") for event in events)


def test_the_agent_that_compacts_is_nothing():
    assert decoded("SubagentStop") == []
    assert HOST.decode("Stop", {"session_id": "s", "agent_id": "a"}, 1) == ()


def test_one_compaction_is_one_event():
    assert [event.kind for event in decoded("PreCompact") + decoded("PostCompact")] == ["compaction"]


def test_prompts_and_tools_are_told():
    assert {event.prompt for event in decoded("UserPromptSubmit")} == {"run the tool", "second turn"}
    assert {event.tool for event in decoded("PostToolUse")} == {"Bash"}


def test_answers_have_claude_codes_form():
    assert json.loads(HOST.encode("UserPromptSubmit", Answer(context="C"))) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "C"}
    }
    assert HOST.encode("SessionEnd", Answer(context="C", notice="N")) == b""


@pytest.mark.parametrize(
    ("environ", "home"),
    [
        ({"CLAUDE_CONFIG_DIR": "/data/claude/", "HOME": "/home/user"}, ("/data/claude",)),
        ({"HOME": "/home/user"}, ("/home/user/.claude",)),
        ({}, ()),
    ],
)
def test_the_home_is_where_claude_code_looks(environ, home):
    assert HOST.homes(environ) == home


def test_each_projects_auto_memory_is_its_own():
    assert HOST.own_memories({"HOME": "/home/user"}) == ("/home/user/.claude/projects/*/memory",)
