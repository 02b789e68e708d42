"""Questions to a model, and what becomes of answers."""

from dataclasses import replace

import pytest
from codexmem_hookspecs.testing.memory import DictWorkspace, ListTranscript
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse
from codexmem_hookspecs.values.consolidate import Change
from codexmem_hookspecs.values.extract import NOTHING, PROMPT_MARK, ExtractionRequest, Reply
from codexmem_memory_v1 import plugin

from codexmem_core.models.extractive import find

SESSION = Session(host="codex", id="s-1", cwd="/p")
REQUEST = ExtractionRequest(instructions="", input="", schema={})


def asked(items, budget=2_000_000):
    return plugin.codexmem_extract_request(transcript=ListTranscript(SESSION, items), budget_bytes=budget)


def item(text, role="user", tier="human", position=1):
    return Item(tier=tier, role=role, position=position, parts=(Part(kind="text", text=text),))


def result(**data):
    return plugin.codexmem_extract_result(request=REQUEST, reply=Reply(data=data))


def test_the_conversation_is_rendered_by_role_with_tools_and_without_injected_text():
    request = asked(
        [
            item("be careful", role="system"),
            item("# AGENTS.md instructions for /p\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>"),
            item("<skill>\nname: x\n</skill>"),
            item("Fix it <memory-citation>\n<session_ids>\nx\n</session_ids>\n</memory-citation>"),
            item("   "),
            Item(
                tier="tool",
                role="tool",
                position=2,
                tool=ToolUse(id="1", name="sh", input="ls", output="a b", status="completed"),
            ),
            Item(tier="tool", role="tool", position=3, tool=ToolUse(id="2", name="sh", output="boom", status="failed")),
            item("Fixed.", role="assistant", tier="final"),
        ]
    )
    assert (
        "### user\nFix it\n\n### tool\n[tool: sh] ls\na b\n\n### tool\n[tool: sh]\n[error] boom\n\n### "
        "assistant\nFixed." in request.input
    )
    for absent in ("be careful", "AGENTS.md", "<skill>", "memory-citation"):
        assert absent not in request.input
    assert request.input.startswith(PROMPT_MARK)
    assert "s-1" in request.input
    assert "/p" in request.input
    assert set(request.schema["required"]) == {"rollout_summary", "rollout_slug", "raw_memory"}


def test_a_long_conversation_keeps_its_beginning_and_its_end():
    request = asked([item("FIRST"), *[item("x" * 10_000) for _ in range(100)], item("LAST")])
    assert "FIRST" in request.input
    assert "LAST" in request.input
    assert "the middle of the conversation is left out" in request.input
    assert 600_000 < len(request.input) < 601_000


@pytest.mark.parametrize("budget", [10_000, 50_000])
def test_the_budget_counts_bytes_and_no_character_is_split(budget):
    request = asked([item("設備" * 30_000)], budget)
    assert len((request.instructions + request.input).encode()) <= budget
    assert "設備" in request.input
    assert "\ufffd" not in request.input


def test_braces_in_a_conversation_are_not_filled():
    assert "{{ cwd }} {{ nothing }}" in asked([item("{{ cwd }} {{ nothing }}")]).input


@pytest.mark.parametrize(
    "data",
    [
        {"rollout_summary": "x", "raw_memory": "x"},
        {"rollout_summary": "x", "raw_memory": "x", "rollout_slug": "x", "more": "x"},
        {"rollout_summary": "# (one sentence: what the session was about)", "raw_memory": "x", "rollout_slug": "x"},
        {"rollout_summary": "x", "raw_memory": "description: (one line, easy to search)", "rollout_slug": "x"},
        {"rollout_summary": ["x"], "raw_memory": "x", "rollout_slug": "x"},
    ],
)
def test_an_answer_that_is_incomplete_or_echoes_the_template_is_an_error(data):
    with pytest.raises(ValueError, match=r"\w"):
        result(**data)


def test_half_an_answer_is_nothing_and_a_missing_name_is_allowed():
    assert result(rollout_summary="x", raw_memory=" ", rollout_slug="x") == NOTHING
    assert result(rollout_summary="", raw_memory="x", rollout_slug="x") == NOTHING
    note = result(rollout_summary="x", raw_memory="y", rollout_slug=None)
    assert (note.summary, note.raw, note.slug) == ("x", "y", "")


def test_findings_become_recap_and_raw_memory_in_the_shape_of_the_prompt(checkout):
    note = plugin.codexmem_extract_result(request=REQUEST, reply=Reply(findings=find(checkout)))
    lines = note.summary.split("\n")
    assert lines[0] == '# Fix the "checkout" test: it fails'
    assert lines[2] == "Rollout context: claude session in /home/user/shop, 2026-09-22 (UTC)."
    for line in (
        '## Task 1: Fix the "checkout" test: it fails',
        "Outcome: success",
        "Preference signals:",
        'said: "Always run make test before you commit." -> do so by default',
        "Key steps:",
        "Failures and how to do differently:",
        "- `make test` failed: Error: no module yaml -> then worked: `pip install pyyaml; make test`",
        "Reusable knowledge:",
        '- decided: "let\'s go with Redis for the cache"',
        "References:",
    ):
        assert line in note.summary
    front, _, body = note.raw.removeprefix("---\n").partition("\n---\n")
    keys = [line.split(":")[0] for line in front.split("\n")]
    assert keys == ["description", "task", "task_group", "task_outcome", "cwd", "keywords"]
    assert 'description: "Fix the \\"checkout\\" test: it fails"' in front
    assert body.lstrip().startswith('### Task 1: Fix the "checkout" test: it fails\n\ntask: ')
    assert note.slug.startswith("Fix the")


def test_what_was_said_stands_under_the_task_in_which_it_was_said(conversation):
    found = find(
        conversation(1, "Fix the parser. I prefer tabs.", ("make", "", True), "Add a lexer. I prefer short answers.")
    )
    note = plugin.codexmem_extract_result(request=REQUEST, reply=Reply(findings=found))
    first, second = note.summary.split("## Task 2")
    assert "tabs" in first
    assert "short answers" not in first
    assert "short answers" in second


def test_a_session_of_preferences_alone_has_a_note(conversation):
    found = find(conversation(1, "I prefer tabs."))
    note = plugin.codexmem_extract_result(request=REQUEST, reply=Reply(findings=found))
    assert "I prefer tabs." in note.summary
    assert "### Task 1: Preferences and decisions" in note.raw


def test_raw_memories_follow_ascending_ids_and_are_bounded(keep):
    rows = [keep(2, "Fix the parser"), keep(1, "Fix the lexer", cwd="")]
    long = replace(rows[0], extraction=replace(rows[0].extraction, raw="y" * 20_000))
    text = plugin.codexmem_consolidate_files(stored=[long, rows[1]])["raw_memories.md"]
    assert text.startswith("# Raw Memories\n\n")
    assert text.index("## Session `session-0001`") < text.index("## Session `session-0002`")
    assert "updated_at: 2026-09-22T14:13:20+00:00\ncwd: /home/user/shop\nrollout_summary_file: 2026-" not in text
    assert "updated_at: 2026-09-23T14:13:20+00:00\ncwd: /home/user/shop\nrollout_summary_file: 2026-" in text
    assert "cwd: unknown" in text
    assert "y" * 10_000 + "\n\n[truncated]\n" in text
    assert "y" * 10_001 not in text
    assert "No raw memories yet." in plugin.codexmem_consolidate_files(stored=[])["raw_memories.md"]


def test_the_agent_is_told_its_mode_and_what_changed():
    empty = DictWorkspace("v1", {})
    changes = [Change(status="A", path="rollout_summaries/x.md"), Change(status="M", path="MEMORY.md")]
    first = plugin.codexmem_consolidate_request(workspace=empty, changes=changes)
    assert "Mode: INIT" in first.prompt
    assert "- A rollout_summaries/x.md\n- M MEMORY.md" in first.prompt
    assert "ad_hoc" not in first.prompt
    assert first.prompt.startswith(PROMPT_MARK)
    full = {"MEMORY.md": "x", "memory_summary.md": "v1\n", "extensions/ad_hoc/instructions.md": "x"}
    later = plugin.codexmem_consolidate_request(workspace=DictWorkspace("v1", full), changes=[])
    assert "Mode: INCREMENTAL" in later.prompt
    assert "- none" in later.prompt
    assert "extensions/ad_hoc/notes/" in later.prompt
    for rule in ("phase2_workspace_diff.md", "# Task Group:", "## User Profile", "### Older Memory Topics", "v1"):
        assert rule in later.instructions
