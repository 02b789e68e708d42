"""MEMORY.md and memory_summary.md without a model."""

import re

from codexmem_hookspecs.testing.memory import SHOWN_TOOLS, DictWorkspace
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Extraction
from codexmem_memory_v1 import plugin

MODEL_RAW = """---
description: Moved the queue to Kafka
task: queue
task_group: shop
task_outcome: partial
cwd: /home/user/shop
keywords: kafka, queue
---

### Task 1: Move the queue

Preference signals:
- when deploying, the user said: "deploy to staging first" -> do that

Reusable knowledge:
- the queue needs three brokers
"""


def from_model(number=90, raw=MODEL_RAW):
    return Stored(
        session=Session(host="codex", id=f"model-{number}", cwd="/home/user/shop", updated_at_ms=1_790_000_000_000),
        extraction=Extraction(summary="# A recap by a model", raw=raw, slug="queue"),
        recap_file=f"model-{number}.md",
    )


def test_the_handbook_has_codexs_shape(memory, keep):
    memory.add(
        keep(
            1,
            "Fix the parser. I prefer tabs.",
            ("make", "Error: bad tab", False),
            ("make fix", "", True),
            ("make", "", True),
        ),
        keep(2, "修复登录页面的错误", cwd="/home/user/blog", host="codex"),
    ).consolidate()
    text = memory.handbook
    assert text.startswith("# Task Group: /home/user/blog\n\nscope: ")
    shop = text[text.index("# Task Group: /home/user/shop") :]
    titles = re.findall(r"^#+ .*$", shop, re.MULTILINE)
    assert titles == [
        "# Task Group: /home/user/shop",
        "## Task 1: Fix the parser, uncertain",
        "### rollout_summary_files",
        "### keywords",
        "## User preferences",
        "## Reusable knowledge",
        "## Failures and how to do differently",
    ]
    assert (
        "- rollout_summaries/2026-09-21T00-00-00-0001-recap.md (cwd=/home/user/shop, "
        "updated_at=2026-09-22T14:13:20+00:00, session_id=session-0001, host=claude)" in shop
    )
    assert "applies_to: cwd=/home/user/shop; reuse_rule=" in shop
    assert (
        '"I prefer tabs." -> do so by default '
        "(2026-09-22, rollout_summaries/2026-09-21T00-00-00-0001-recap.md) [Task 1]" in shop
    )
    assert "- `make` failed: Error: bad tab -> then worked: `make fix; make` [Task 1]" in shop
    assert "tabs" not in text[: text.index("# Task Group: /home/user/shop")]


def test_the_summary_has_codexs_shape(five_days):
    recent, older = five_days.summary.split("### Older Memory Topics")
    assert "  - learnings: steps: make" in recent
    assert "learnings" not in older
    assert "- Fix the parser number 4 in p.py: " in recent
    assert "rollout_summaries/2026-09-21T00-00-00-0001-recap.md, session_id=session-0001" in older


def test_a_contradiction_shows_its_newer_side_and_marks_the_older(memory, keep):
    memory.add(keep(1, "I prefer npm for installs."), keep(8, "From now on use pnpm, not npm.")).consolidate()
    assert '"From now on use pnpm, not npm." -> do so by default' in memory.summary
    assert "I prefer npm for installs." not in memory.summary.split("## What's in Memory")[0]
    assert '- replaced on 2026-09-29 by "From now on use pnpm, not npm.": when' in memory.handbook


def test_the_same_wish_in_many_sessions_is_one_line_with_its_count(memory, keep):
    memory.add(*[keep(day, "Always run make test before you commit.") for day in range(5)]).consolidate()
    assert memory.summary.count("Always run make test") == 1
    assert "said in 5 sessions" in memory.summary


def test_a_rule_of_one_project_names_it_and_is_not_told_of_the_other(memory, keep):
    memory.add(keep(1, "In this repo we never use tabs.", cwd="/a"), keep(2, "Fix the parser", cwd="/b")).consolidate()
    line = next(line for line in memory.summary.split("\n") if "never use tabs" in line)
    assert "(in /a;" in line
    group_b = memory.handbook[memory.handbook.index("# Task Group: /b") :].split("# Task Group: /a")[0]
    assert "tabs" not in group_b


def test_a_row_that_a_model_wrote_is_represented_with_its_preferences(memory, keep):
    memory.add(from_model(), from_model(91, raw="No front matter."), keep(1, "Fix the parser")).consolidate()
    assert "Moved the queue to Kafka, partial" in memory.handbook
    assert "A recap by a model" in memory.handbook
    assert "rollout_summaries/model-91.md" in memory.handbook
    assert '"deploy to staging first" -> do that' in memory.handbook
    assert "deploy to staging first" in memory.summary
    assert "the queue needs three brokers" in memory.handbook


def test_notes_are_told_and_marked(memory):
    memory.notes = {"extensions/ad_hoc/notes/2026-10-01T00-00-00-host.md": "The staging host is heron.\n"}
    memory.consolidate()
    for text in (memory.handbook, memory.summary):
        assert (
            '"The staging host is heron." (from extensions/ad_hoc/notes/2026-10-01T00-00-00-host.md) [ad-hoc note]'
            in text
        )


def test_what_the_user_said_about_themselves_is_the_profile(memory, keep):
    memory.add(keep(1, "My name is Sam. Fix the parser.")).consolidate()
    profile = memory.summary.split("## User preferences")[0]
    assert "My name is Sam." in profile
    assert "1 sessions remembered; agents: claude (1)" in profile


def test_an_empty_memory_is_valid(memory):
    memory.consolidate()
    assert memory.handbook == "Nothing is remembered yet.\n"
    assert memory.summary.startswith("v1\n")


def test_invalid_files_are_told(memory, keep):
    memory.add(keep(1, "Fix the parser")).consolidate()
    check = plugin.codexmem_consolidate_check
    for text, bad in (
        ("v1\r\n\nx", False),
        ("v1", False),
        (" v1\n", True),
        ("v2\n", True),
        ("# v1\n", True),
        ("", True),
    ):
        files = {**memory.workspace.files, "memory_summary.md": text}
        assert bool(list(check(workspace=DictWorkspace("v1", files)))) is bad
    assert [problem.path for problem in check(workspace=DictWorkspace("v1", {"memory_summary.md": "v1\n"}))] == [
        "MEMORY.md"
    ]


def test_the_context_cuts_the_summary_in_the_middle_and_says_how_to_search():
    summary = "v1\n" + "START " + "x" * 20_000 + " END"
    workspace = DictWorkspace("v1", {"memory_summary.md": summary})
    with_tools = plugin.codexmem_read_summary(workspace=workspace, tools=SHOWN_TOOLS, citations=True)
    without = plugin.codexmem_read_summary(workspace=workspace, tools={}, citations=False)
    for text in (with_tools, without):
        assert "START" in text
        assert text.rstrip().endswith("END")
        told = text[text.index("v1\n") :].strip()
        assert len(told) == 10_000
        assert "\n[...truncated...]\n" in told
        assert "{{" not in text
    assert "shown_as_memory_search" in with_tools
    assert "shown_as_memory_add_note" in with_tools
    assert "memory_search" not in without
    assert "codexmem search" in without


def test_what_was_decided_is_told_in_the_summary(memory, keep):
    memory.add(keep(1, "Fix the parser. Let's go with SQLite for tests.", ("make", "", True))).consolidate()
    tips = memory.summary.split("## General Tips")[1].split("## What's in Memory")[0]
    assert '- in /home/user/shop decided: "Let\'s go with SQLite for tests." (2026-09-22; rollout_summaries/' in tips


def test_when_space_is_short_preferences_are_told_without_their_recaps(memory, keep):
    few = [keep(number, f"Always mention part number{number} in the reports.") for number in range(3)]
    assert memory.add(*few).consolidate()
    assert memory.summary.split("## General Tips")[0].count("; rollout_summaries/") == 3
    memory.add(*(keep(number, f"Always mention part number{number} in the reports.") for number in range(3, 60)))
    memory.consolidate()
    told = memory.summary.split("## General Tips")[0]
    assert "; rollout_summaries/" not in told
    assert told.count("-> do so by default") > 35
    assert "more preferences in MEMORY.md" in told


def test_what_holds_anywhere_comes_first(memory, keep):
    memory.add(keep(1, "Always answer in German in all my projects."), keep(2, "I prefer tabs."))
    memory.consolidate()
    preferences = memory.summary.split("## User preferences")[1]
    assert preferences.index("German") < preferences.index("tabs")


def test_a_failure_met_in_two_projects_stands_in_both_groups(memory, keep):
    turns = (
        "Run the tests",
        ("make test", "Error: no database", False),
        ("make db", "", True),
        ("make test", "", True),
    )
    memory.add(keep(1, *turns, cwd="/home/user/shop"), keep(2, *turns, cwd="/home/user/blog")).consolidate()
    assert memory.handbook.count("no database -> then worked: `make db; make test`; met in 2 sessions") == 2


def test_keywords_are_words_that_somebody_would_search_for(memory, keep):
    memory.add(keep(1, "Please show them what the scheduler does with overdue invoices when restarting.")).consolidate()
    assert "\n- scheduler, overdue, invoices, restarting" in memory.handbook
