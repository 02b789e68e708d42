"""Whose words each item of a transcript holds, and that tools keep their ids, inputs and outcomes."""

import json
from pathlib import Path

import pytest
from codexmem_hookspecs.values.capture import ToolUse
from codexmem_host_claude.host import ClaudeHost

RECORDINGS = Path(__file__).parent / "recordings"


def test_a_recorded_conversation_reads_as_it_was(claude):
    claude.write((RECORDINGS / "tool-resume-compact.jsonl").read_bytes())
    items = claude.items()
    assert [(item.tier, item.text) for item in items if item.tier not in {"context", "tool"}] == [
        ("human", "run the tool"),
        ("final", "done with the tool"),
        ("human", "second turn"),
        ("final", "resumed"),
    ]
    call, result = (item.tool for item in items if item.tool)
    assert (call.id, call.name, json.loads(call.input)["command"]) == (result.id, "Bash", "echo hi-from-tool")
    assert (result.status, result.output) == ("completed", "hi-from-tool")
    own = [item.text for item in items if ClaudeHost().own_text(item)]
    assert "MARK-PROMPT likes tea" in own
    assert "MARK-SESSIONSTART blue door" in own
    assert next(item for item in items if item.text.startswith("This session is being continued")).tier == "context"


def test_feedback_of_a_hook_is_context(claude):
    claude.write((RECORDINGS / "stop-block.jsonl").read_bytes())
    said = claude.said()
    assert ("human", "x") in said
    assert {tier for tier, text in said if text.startswith("Stop hook feedback")} == {"context"}
    assert [text for tier, text in said if tier == "final"][:3] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("text", "more", "tier"),
    [
        ("fix the test", {}, "human"),
        ("fix the test", {"origin": {"kind": "human"}}, "human"),
        ("a task ended", {"origin": {"kind": "task-notification"}}, "context"),
        ("Caveat: x", {"isMeta": True}, "context"),
        ("The summary", {"isCompactSummary": True}, "context"),
        ("<command-name>/clear</command-name>", {}, "context"),
        ("<local-command-stdout>done</local-command-stdout>", {}, "context"),
        (" <system-reminder>x</system-reminder>", {}, "context"),
        ("[Request interrupted by user for tool use]", {}, "context"),
        ('<teammate-message teammate_id="lead">go</teammate-message>', {}, "other_agent"),
    ],
)
def test_text_in_the_users_name_is_told_from_the_users(claude, text, more, tier):
    claude.write(claude.user(text, **more), claude.user([{"type": "text", "text": text}], **more))
    assert claude.said() == [(tier, text), (tier, text)]


def test_a_reminder_beside_the_users_words_becomes_an_item_of_its_own(claude):
    parts = [{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": "fix it"}]
    claude.write(claude.user(parts))
    assert claude.said() == [("context", "<system-reminder>x"), ("human", "fix it")]


def test_words_on_the_way_to_a_tool_are_thinking_aloud_and_thinking_is_not_kept(claude):
    thinking = {"type": "thinking", "thinking": "hidden", "signature": "s"}
    claude.write(
        claude.agent(thinking, "Looking.", stop="tool_use"),
        claude.agent("Reading.", claude.call("t1"), stop=None),
        claude.agent(thinking, "Done."),
    )
    assert [(item.tier, item.text) for item in claude.items() if not item.tool] == [
        ("commentary", "Looking."),
        ("commentary", "Reading."),
        ("final", "Done."),
    ]
    assert "hidden" not in repr(claude.items())


def test_what_claude_code_says_itself_is_context(claude):
    line = claude.agent("API Error: 500")
    line["message"]["model"] = "<synthetic>"
    claude.write(claude.user("hi"), line, claude.agent("API Error: 429", isApiErrorMessage=True))
    assert [tier for tier, _ in claude.said()] == ["human", "context", "context"]


@pytest.mark.parametrize(
    ("content", "failed", "text"),
    [
        ("hi", False, "hi"),
        ("x" * 300_000, False, "x" * 300_000),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], False, "a\nb"),
        ("Exit code 1\nno", True, "Exit code 1\nno"),
        ({"odd": 1}, False, '{"odd": 1}'),
    ],
)
def test_results_are_whole_once_and_say_whether_the_tool_failed(claude, content, failed, text):
    claude.write(claude.agent(claude.call("t1", command="ls")), claude.result("t1", content, failed=failed))
    call, result = (item.tool for item in claude.items())
    assert call == ToolUse(id="t1", name="Bash", status="started", input='{"command": "ls"}')
    assert result == ToolUse(id="t1", status="failed" if failed else "completed", output=text)


def test_tools_that_run_at_the_provider_are_tools_too(claude):
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"type": "web_search_result", "url": "u"}],
    }
    claude.write(claude.agent(search, found, "Found it."))
    assert [(item.tool.name, item.tool.id) for item in claude.items() if item.tool] == [
        ("web_search", "s1"),
        ("", "s1"),
    ]


ANSWER = 'User has answered your questions: "Tabs or spaces?"="tabs". You can now continue.'


def test_answers_to_the_agents_questions_are_the_users_words(claude):
    claude.write(claude.agent(claude.call("q1", "AskUserQuestion", q="Tabs?")), claude.result("q1", ANSWER))
    call, answer = claude.items()
    assert (answer.tier, answer.role) == ("human", "user")
    assert answer.text == f'Assistant question: {{"q": "Tabs?"}}\nHuman reply: {ANSWER}'
    assert claude.items(after=call.position) == [answer]


def test_what_only_looks_like_an_answer_is_a_tools(claude):
    claude.write(claude.agent(claude.call("q1", "WebFetch", url="x")), claude.result("q1", ANSWER))
    call, result = claude.items()
    assert result.tier == "tool"
    assert claude.items(after=call.position) == [result]


def test_a_prompt_typed_while_the_agent_worked_is_given_once(claude):
    claude.write(
        {"type": "queue-operation", "operation": "enqueue", "content": "also tabs", "sessionId": "s"},
        claude.attachment(type="queued_command", prompt="also tabs", commandMode="prompt"),
        claude.attachment(type="queued_command", prompt=[{"type": "text", "text": "and now"}]),
        claude.attachment(type="queued_command", prompt="<task-notification>", commandMode="task-notification"),
        claude.attachment(type="skill_listing", content="- a skill"),
    )
    assert claude.said() == [("human", "also tabs"), ("human", "and now"), ("context", "<task-notification>")]


def test_what_hooks_gave_is_known_again(claude):
    claude.write(
        claude.attachment(type="hook_additional_context", content=["remember the door", "and the key"]),
        claude.attachment(type="hook_success", content="plain text", stdout="plain text\n"),
        claude.attachment(type="hook_success", content="", stdout='{"hookSpecificOutput":{}}'),
        claude.user("hi"),
    )
    items = claude.items()
    assert [item.text for item in items] == ["remember the door\nand the key", "plain text", "hi"]
    assert [ClaudeHost().own_text(item) for item in items] == [True, True, False]


def test_the_working_directory_is_told_where_it_differs_from_the_sessions(claude):
    claude.write(claude.user("one"), claude.user("two", cwd="/home/user/proj/sub"), claude.user("three"))
    assert [item.cwd for item in claude.items()] == ["", "/home/user/proj/sub", ""]
