"""Whose words each item of a rollout holds, and that tools keep their ids, inputs and outcomes."""

import json
from pathlib import Path

import pytest
from codexmem_hookspecs.values.capture import ToolUse

RECORDINGS = Path(__file__).parent / "recordings"


def test_a_recorded_conversation_reads_as_it_was(codex):
    codex.write((RECORDINGS / "rollout-tool-and-resume.jsonl").read_bytes())
    items = codex.items()
    assert [(item.tier, item.role) for item in items if item.tier != "context"] == [
        ("human", "user"),
        ("tool", "assistant"),
        ("tool", "tool"),
        ("final", "assistant"),
        ("human", "user"),
        ("final", "assistant"),
    ]
    assert [item.text for item in items if item.tier in {"human", "final"}] == [
        "run the tool",
        "done with the tool",
        "second turn",
        "resumed fine",
    ]
    call, result = (item.tool for item in items if item.tool)
    assert (call.id, call.name, json.loads(call.input)["cmd"]) == (result.id, "exec_command", "echo hi-from-tool")
    assert (result.status, result.output.splitlines()[-1]) == ("completed", "hi-from-tool")


def test_an_interrupted_turn_and_what_came_after_a_compaction_stay(codex):
    codex.write((RECORDINGS / "rollout-compact-and-interrupt.jsonl").read_bytes())
    said = [text for tier, text in codex.said() if tier in {"human", "final"}]
    assert said == [
        "hi there",
        "first answer",
        "what now?",
        "after compact",
        "slow one",
    ]
    context = [text for tier, text in codex.said() if tier == "context"]
    assert [text for text in context if text.startswith("<turn_aborted>")]
    assert "COMPACTED SUMMARY: the user said hi" in context


def test_the_answer_that_a_compaction_was_made_from_is_no_answer(codex):
    tokens = codex.record("event_msg", {"type": "token_count", "info": None})
    compacted = codex.record("compacted", {"message": "SUMMARY", "replacement_history": [{"type": "message"}]})
    done = codex.record("event_msg", {"type": "task_complete", "last_agent_message": "two"})
    codex.write(
        codex.meta(),
        *(codex.user("a"), codex.agent("one"), codex.agent("SUMMARY"), tokens, compacted),
        *(codex.user("b"), codex.agent("two"), tokens, done, compacted),  # compacted elsewhere: nothing was said
        *(codex.user("c"), codex.agent("three"), tokens),
    )
    tiers = {text: tier for tier, text in codex.said()}
    assert tiers == {
        "a": "human", "one": "final", "SUMMARY": "context", "b": "human", "two": "final", "c": "human", "three": "final"
    }  # fmt: skip
    items = codex.items()
    assert [item.text for item in items] == list(tiers)
    for number, item in enumerate(items):
        assert codex.items(after=item.position) == items[number + 1 :]


@pytest.mark.parametrize(
    ("kinds", "text", "tier"),
    [
        (["user.text"], "fix the test", "human"),
        (["user.text"], "<skill> is what I typed", "human"),
        (["environments.environment_context"], "<environment_context>x</environment_context>", "context"),
        (["generic.turn_aborted"], "<turn_aborted>\nx", "context"),
        (["multi_agent.subagent_notification"], "<subagent_notification>\n{}", "other_agent"),
        (None, "fix the test", "human"),
        (None, "<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "context"),
        (None, "<user_instructions>\nx\n</user_instructions>", "context"),
        (None, "  <turn_aborted>\nx", "context"),
        (None, "<subagent_notification>\n{}", "other_agent"),
        (None, "Message Type: NEW_TASK\nTask name: /root/kid\nSender: /root\nPayload:\ngo", "other_agent"),
    ],
)
def test_what_codex_notes_about_a_user_message_decides_then_how_it_begins(codex, kinds, text, tier):
    codex.write(codex.meta(), codex.message("user", text, kinds=kinds))
    assert codex.said() == [(tier, text)]


def test_a_message_of_two_speakers_becomes_two_items(codex):
    kinds = ["environments.environment_context", "user.text"]
    codex.write(codex.meta(), codex.message("user", "<environment_context>x", "fix it", kinds=kinds))
    assert codex.said() == [("context", "<environment_context>x"), ("human", "fix it")]


def test_quoted_instruction_files_and_skills_are_left_out(codex):
    agents = "# AGENTS.md instructions for /home/user\n\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>"
    codex.write(codex.meta(), codex.message("user", agents), codex.message("user", "<skill>\nx\n</skill>", "go"))
    assert codex.said() == [("human", "go")]


def test_phases_tell_thinking_aloud_from_answers(codex):
    codex.write(
        codex.meta(),
        codex.message("assistant", "Looking.", phase="commentary"),
        codex.message("assistant", "Done.", phase="final_answer"),
        codex.response(type="reasoning", summary=[{"type": "summary_text", "text": "hidden"}], content=None),
    )
    assert codex.said() == [("commentary", "Looking."), ("final", "Done.")]


def test_of_developer_messages_only_what_a_hook_gave_stays(codex):
    from codexmem_host_codex.host import CodexHost

    codex.write(
        codex.meta(),
        codex.message("developer", "permissions", kinds=["permissions.instructions"]),
        codex.message("developer", "remember the door", kinds=["hooks.additional_context"]),
        codex.message("developer", "nobody says whose"),
    )
    items = codex.items()
    assert [(item.tier, item.role, item.text) for item in items] == [
        ("context", "system", "remember the door"),
        ("context", "system", "nobody says whose"),
    ]
    assert all(CodexHost().own_text(item) for item in items)


def test_other_agents_words_are_marked_and_encrypted_parts_dropped(codex):
    content = [
        {"type": "input_text", "text": "Message Type: NEW_TASK"},
        {"type": "encrypted_content", "encrypted_content": "Zz"},
    ]
    codex.write(
        codex.meta(),
        codex.response(type="agent_message", author="/root", recipient="/root/kid", content=content),
        codex.record("inter_agent_communication", {"author": "/root", "recipient": "/root/kid", "content": "go on"}),
        codex.record("inter_agent_communication_metadata", {"trigger": True}),
    )
    assert codex.said() == [("other_agent", "Message Type: NEW_TASK"), ("other_agent", "go on")]


@pytest.mark.parametrize(
    ("payload", "tool"),
    [
        (
            {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": '{"command":"ls"}'},
            ToolUse(id="c1", name="shell", status="started", input='{"command":"ls"}'),
        ),
        (
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "spawn_agent",
                "namespace": "multi_agent_v1",
                "arguments": "{}",
            },
            ToolUse(id="c1", name="multi_agent_v1.spawn_agent", status="started", input="{}"),
        ),
        (
            {"type": "function_call", "call_id": "c1", "name": "find", "namespace": "mcp__docs__", "arguments": "{}"},
            ToolUse(id="c1", name="mcp__docs__find", status="started", input="{}"),
        ),
        (
            {"type": "function_call", "call_id": "c1", "name": "find", "namespace": "mcp__docs", "arguments": "{}"},
            ToolUse(id="c1", name="mcp__docs__find", status="started", input="{}"),
        ),
        (
            {
                "type": "custom_tool_call",
                "call_id": "c2",
                "name": "apply_patch",
                "input": "*** Begin",
                "status": "completed",
            },
            ToolUse(id="c2", name="apply_patch", status="completed", input="*** Begin"),
        ),
        (
            {
                "type": "local_shell_call",
                "call_id": "c3",
                "status": "failed",
                "action": {"type": "exec", "command": ["ls"]},
            },
            ToolUse(id="c3", name="local_shell", status="failed", input='{"type": "exec", "command": ["ls"]}'),
        ),
        (
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "demo"},
            },
            ToolUse(id="ws_1", name="web_search", status="completed", input='{"type": "search", "query": "demo"}'),
        ),
        (
            {"type": "tool_search_call", "call_id": "c4", "arguments": {"query": "db"}},
            ToolUse(id="c4", name="tool_search", status="started", input='{"query":"db"}'),
        ),
    ],
)
def test_calls_keep_everything_that_was_asked(codex, payload, tool):
    codex.write(codex.meta(), codex.response(**payload))
    (item,) = codex.items()
    assert (item.tier, item.role, item.tool) == ("tool", "assistant", tool)


LONG = "x" * 300_000
CHUNK = "Chunk ID: 51103f\nWall time: 0.1 seconds\nProcess exited with code {}\nOriginal token count: 4\nOutput:\nhi"


@pytest.mark.parametrize(
    ("output", "text", "status"),
    [
        (LONG, LONG, "completed"),
        (CHUNK.format(0), CHUNK.format(0), "completed"),
        (CHUNK.format(2), CHUNK.format(2), "failed"),
        ("Exit code: 1\nWall time: 1s\nOutput:\nno", "Exit code: 1\nWall time: 1s\nOutput:\nno", "failed"),
        ("ok\nOutput:\nExit code: 1", "ok\nOutput:\nExit code: 1", "completed"),
        ({"content": "no", "success": False}, "no", "failed"),
        ({"content": "Exit code: 1", "success": True}, "Exit code: 1", "completed"),
        (json.dumps({"output": "boom\n", "metadata": {"exit_code": 1}}, separators=(",", ":")), "boom\n", "failed"),
        (json.dumps({"output": "fine", "metadata": {"exit_code": 0}}, separators=(",", ":")), "fine", "completed"),
        (
            [
                {"type": "input_text", "text": "Script completed\nOutput:\n"},
                {"type": "input_image", "image_url": "data:x"},
            ],
            "Script completed\nOutput:\n\n[image omitted]",
            "completed",
        ),
        ([{"type": "input_text", "text": "Script failed\nError: x"}], "Script failed\nError: x", "failed"),
        (
            [{"type": "input_text", "text": "Script completed\n"}, {"type": "input_text", "text": '{"exit_code":3}'}],
            'Script completed\n\n{"exit_code":3}',
            "failed",
        ),
    ],
)
def test_outputs_are_whole_and_say_whether_the_tool_failed(codex, output, text, status):
    codex.write(codex.meta(), codex.response(type="function_call_output", call_id="c1", output=output))
    (item,) = codex.items()
    assert (item.role, item.tool) == ("tool", ToolUse(id="c1", status=status, output=text))


ANSWER = json.dumps({"answers": {"q": {"answers": ["use tabs"]}}})


def test_answers_to_the_agents_questions_are_the_users_words(codex):
    ask = {"type": "function_call", "call_id": "c1", "name": "request_user_input", "arguments": '{"q":"tabs?"}'}
    codex.write(
        codex.meta(), codex.response(**ask), codex.response(type="function_call_output", call_id="c1", output=ANSWER)
    )
    call, answer = codex.items()
    assert (answer.tier, answer.role) == ("human", "user")
    assert answer.text == f'Assistant question: {{"q":"tabs?"}}\nHuman reply: {ANSWER}'
    assert codex.items(after=call.position) == [answer]


@pytest.mark.parametrize("output", [ANSWER, json.dumps({"answers": {"q": {"answers": ["  "]}}})])
def test_what_only_looks_like_an_answer_is_a_tools(codex, output):
    name = "request_user_input" if "  " in output else "fetch_page"
    codex.write(
        codex.meta(),
        codex.response(type="function_call", call_id="c1", name=name, arguments="{}"),
        codex.response(type="function_call_output", call_id="c1", output=output),
    )
    call, result = codex.items()
    assert result.tier == "tool"
    assert codex.items(after=call.position) == [result]


def legacy(codex, kind, text):
    return codex.record("event_msg", {"type": kind, "message": text})


def test_old_files_that_have_only_events_are_read_from_them(codex):
    codex.write(
        codex.meta(),
        legacy(codex, "user_message", "<user_instructions>\nx"),
        legacy(codex, "user_message", "fix it"),
        legacy(codex, "agent_reasoning", "hm"),
        legacy(codex, "agent_message", "fixed"),
    )
    assert codex.said() == [("context", "<user_instructions>\nx"), ("human", "fix it"), ("final", "fixed")]


def test_events_that_repeat_response_items_give_nothing_twice(codex):
    codex.write(
        codex.meta(),
        legacy(codex, "user_message", "fix it"),
        codex.message("user", "fix it"),
        legacy(codex, "agent_message", "fixed"),
        codex.message("assistant", "fixed"),
        codex.message("user", "again"),
        legacy(codex, "user_message", "again"),
        codex.record(
            "event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "content": [{"text": "again"}]}}
        ),
    )
    items = codex.items()
    assert [item.text for item in items] == ["fix it", "fixed", "again"]
    for item in items:
        assert codex.items(after=item.position) == [other for other in items if other.position > item.position]


def test_the_working_directory_is_told_where_it_differs_from_the_sessions(codex):
    codex.write(
        codex.meta(cwd="/home/user/a"),
        codex.user("one"),
        codex.record("turn_context", {"cwd": "/home/user/b"}),
        codex.user("two"),
        codex.user("x" * 400_000),
        codex.user("three"),
        codex.record("turn_context", {"cwd": "/home/user/a"}),
        codex.user("four"),
    )
    items = codex.items()
    assert [item.cwd for item in items] == ["", "/home/user/b", "/home/user/b", "/home/user/b", ""]
    for item in items:
        assert codex.items(after=item.position) == [other for other in items if other.position > item.position]
