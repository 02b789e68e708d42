"""What of a conversation leaves the machine: what was said and done, without noise, wrappers, or anybody's aside."""

import json

import pytest
from codexmem_hookspecs.values.capture import Item, Part, ToolUse
from codexmem_ov_commit.cleaning import capped, clean, verdict
from codexmem_ov_commit.turns import Rules, turns
from codexmem_ov_commit.utf16 import length

WRAPPED = (
    '<openviking-context source="auto-recall" format="digest">\nOpenViking memory digest:\n- x\n</openviking-context>'
)


def sent(talk):
    talk.stop()
    return talk.stored.messages


def test_calls_and_results_of_tools_are_paired_by_their_id(machine):
    messages = sent(machine.conversation().tool("shell", '{"cmd":"make check"}', "all green", id_="c-1"))
    assert [(message["role"], message["parts"]) for message in messages] == [
        (
            "assistant",
            [{"type": "tool", "tool_id": "c-1", "tool_name": "shell", "tool_status": "running",
              "tool_input": {"cmd": "make check"}}],
        ),
        (
            "user",
            [{"type": "tool", "tool_id": "c-1", "tool_name": "shell", "tool_status": "completed",
              "tool_output": "all green"}],
        ),
    ]  # fmt: skip


def test_a_call_and_its_result_in_one_item_are_one_part(machine):
    talk = machine.conversation()
    both = ToolUse(id="c-1", name="bash", status="completed", input='{"command":"ls"}', output="a.py")
    talk._put(tier="tool", role="assistant", tool=both)
    assert sent(talk)[0]["parts"] == [
        {"type": "tool", "tool_id": "c-1", "tool_name": "bash", "tool_input": {"command": "ls"},
         "tool_status": "completed", "tool_output": "a.py"},
    ]  # fmt: skip


def test_a_tool_that_failed_says_so(machine):
    messages = sent(machine.conversation().tool(output="no such target", status="failed"))
    assert messages[1]["parts"][0]["tool_status"] == "error"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('{"cmd":"ls"}', {"cmd": "ls"}),
        ("[1,2]", {"value": [1, 2]}),
        ("*** Begin Patch", {"value": "*** Begin Patch"}),
        ('{"x":NaN}', {"value": '{"x":NaN}'}),
        ('{"x":1e999}', {"value": '{"x":1e999}'}),
        ('{"x":"\\ud800"}', {"value": '{"x":"\\ud800"}'}),
    ],
)
def test_arguments_of_tools_are_sent_as_json_where_they_can_be(machine, given, wanted):
    assert sent(machine.conversation().tool(given=given))[0]["parts"][0]["tool_input"] == wanted


def test_halves_of_characters_stop_nothing(machine):
    talk = machine.conversation().user("A half \ud83d of a smile.").tool(given="half \ud83d", output="half \udc00")
    assert [message["role"] for message in sent(talk)] == ["user", "assistant", "user"]
    assert talk.stored.texts[0] == "A half � of a smile."


def test_long_outputs_of_tools_are_cut_where_the_user_says(machine):
    machine.set(CAPTURE_TOOL_MAX_CHARS="200")
    part = sent(machine.conversation().tool(output="x" * 500))[1]["parts"][0]
    assert part["tool_output"] == "x" * 180 + "\n[truncated]"


def test_long_texts_are_cut_in_utf16_units(machine):
    machine.set(CAPTURE_MAX_LENGTH="200")
    text = sent(machine.conversation().user("😀" * 150))[0]["parts"][0]["text"]
    assert text == "😀" * 90 + "\n[truncated]"


@pytest.mark.parametrize("off", ["CAPTURE_ASSISTANT_TURNS", "CAPTURE_TOOL_RESULTS"])
def test_tools_can_be_left_out(machine, off):
    machine.set(**{off: "0"})
    talk = machine.conversation().user("What the user said.").tool().agent("What the agent said.")
    assert [message["role"] for message in sent(talk)] == (
        ["user"] if off == "CAPTURE_ASSISTANT_TURNS" else ["user", "assistant"]
    )


def test_what_was_injected_is_taken_out_of_the_parts_themselves(machine):
    talk = machine.conversation().user(WRAPPED, f"{WRAPPED}\nThe real question of the user.", "ok", "/compact")
    assert [message["parts"] for message in sent(talk)] == [
        [{"type": "text", "text": "The real question of the user."}]
    ]


def test_a_transcript_that_holds_nothing_but_our_own_words_sends_nothing(machine):
    machine.conversation().user(WRAPPED).stop()
    assert machine.server.lines == ["GET /health"]


def test_what_the_agent_says_on_the_way_to_a_tool_is_sent(machine):
    talk = machine.conversation().agent("I will look at the tests first.", tier="commentary")
    assert sent(talk)[0]["role"] == "assistant"


def test_what_the_harness_put_in_and_what_subagents_do_is_not(machine):
    talk = machine.conversation()
    talk._put(tier="context", role="user", parts=(Part(kind="text", text="<environment_context> of the harness"),))
    talk._put(tier="context", role="system", parts=(Part(kind="text", text="Given by a hook of somebody."),))
    talk._put(tier="other_agent", role="user", parts=(Part(kind="text", text="Do a subagent's task."),), aside=True)
    talk._put(tier="tool", role="assistant", tool=ToolUse(id="s-1", name="grep", input="{}"), aside=True)
    talk.user("The only thing that was said.")
    sent(talk)
    assert talk.stored.texts == ["The only thing that was said."]


def test_images_and_files_are_left_out(machine):
    talk = machine.conversation()
    talk._put(
        tier="human", role="user", parts=(Part(kind="image", text="data"), Part(kind="text", text="See this image."))
    )
    assert sent(talk)[0]["parts"] == [{"type": "text", "text": "See this image."}]


# bypass


@pytest.mark.parametrize("pattern", ["/home/*/secret", "**/secret", "/home/user/sec*", "0198a000-*"])
def test_sessions_that_match_a_bypass_pattern_send_nothing(machine, pattern):
    machine.set(BYPASS_SESSION_PATTERNS=f"/nothing/else,{pattern}")
    talk = machine.conversation(cwd="/home/user/secret").user("Words of a secret project.")
    talk.stop()
    talk.compact()
    talk.end()
    assert machine.server.lines == []
    assert not list(machine.state_folder().glob("*"))


@pytest.mark.parametrize("pattern", ["/home/*", "secret", "/home/user/secret/**/x"])
def test_a_star_stops_at_a_slash(machine, pattern):
    machine.set(BYPASS_SESSION_PATTERNS=pattern)
    talk = machine.conversation(cwd="/home/user/secret").user("Words of a project.")
    talk.stop()
    assert talk.stored.texts == ["Words of a project."]


def test_a_whole_process_can_be_left_alone(machine):
    machine.set(BYPASS_SESSION="yes")
    machine.conversation().user("Words of a project.").stop()
    assert machine.server.lines == []


@pytest.mark.parametrize(
    ("users", "projects"),
    [
        ({"bypass_session": True}, {"bypass_session": False}),
        ({"bypass_session_patterns": ("**/secret",)}, {"bypass_session_patterns": ()}),
        ({}, {"bypass_session_patterns": ("**/secret",)}),
    ],
)
def test_a_projects_file_passes_over_more_than_the_user_does_and_never_less(machine, monkeypatch, users, projects):
    monkeypatch.setattr(machine.services, "settings", {**machine.services.settings, **users})
    merged = {**machine.services.settings, **projects}
    monkeypatch.setattr(machine.services, "settings_for", lambda cwd: merged if cwd else machine.services.settings)
    talk = machine.conversation(cwd="/home/user/secret").user("Words of a secret project.")
    talk.stop()
    machine.asks("prompt", talk, prompt="What was the secret again?")
    assert machine.server.lines == []


# cleaning


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[2024-01-01 12:00:00] The build is red.", "The build is red."),
        ("[2024-01-01 12:00:00 ERROR] out of memory", "[2024-01-01 12:00:00 ERROR] out of memory"),
        ("2024-01-01 12:00:00 ERROR out of memory", "2024-01-01 12:00:00 ERROR out of memory"),
        ("1715000000000 words after a stamp", "words after a stamp"),
        ("<system-reminder>be brief</system-reminder>What is left.", "What is left."),
        ("<OpenViking-Context>x</openviking-context>Kept text.", "Kept text."),
        ("﻿ text between odd blanks ﻿", "text between odd blanks"),
        ("a\x00b", "ab"),
    ],
)
def test_texts_are_cleaned_without_losing_what_was_said(text, left):
    assert clean(text) == left


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/compact", "slash_command"),
        ("/help me please", "slash_command"),
        ("/review-all: the diff", "slash_command"),
        ("/plugin:command with words", "slash_command"),
        ("/etc/hosts names the wrong machine.", "kept"),
        ("/my-shop/main.py fails in line 3.", "kept"),
        ("/srv/ is full.", "kept"),
        ("/README.md says something else.", "kept"),
    ],
)
def test_words_that_begin_with_a_path_are_no_command(text, said):
    assert verdict(text, user=True) == said


def test_long_unclosed_wrappers_take_no_time():
    text = "<openviking-context " * 20_000
    assert clean(text) == text.strip()


def test_a_cap_of_zero_is_none():
    assert length(capped("x" * 300_000, 0)) == 300_000


def test_a_result_without_a_name_has_that_of_its_call():
    items = [
        Item(
            tier="tool", role="assistant", position=1, tool=ToolUse(id="a", name="shell", status="started", input="{}")
        ),
        Item(tier="tool", role="tool", position=2, tool=ToolUse(id="a", status="completed", output="done")),
        Item(tier="tool", role="tool", position=3, tool=ToolUse(id="b", status="completed", output="orphan")),
    ]
    parts = [turn.parts[0] for _, turn in turns(items, Rules()) if turn]
    assert [part.get("tool_name") for part in parts] == ["shell", "shell", None]
    assert json.dumps(parts[2], sort_keys=True) == json.dumps(
        {"type": "tool", "tool_id": "b", "tool_status": "completed", "tool_output": "orphan"}, sort_keys=True
    )
