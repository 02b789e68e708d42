"""memory_summary.md: the one file that leads to everything."""

import re

from codexmem_hookspecs.testing.memory import SHOWN_TOOLS, DictWorkspace
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Change, Stored
from codexmem_hookspecs.values.extract import NOTHING, PROMPT_MARK, Extraction
from codexmem_memory_v2 import MEMORY, plugin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.models.extractive import find

MODEL_RECAP = """# Moved the queue to Kafka

Session of codex in /home/user/shop, 2026-09-21.

## 1. Move the queue

Stated preferences:
- the person said "deploy to staging first" (for this shop)

Went wrong:
- the brokers were down
"""


def from_model(number=90, recap=MODEL_RECAP):
    return Stored(
        session=Session(host="codex", id=f"model-{number}", cwd="/home/user/shop", updated_at_ms=1_790_000_000_000),
        extraction=Extraction(summary=recap, slug="queue"),
        recap_file=f"model-{number}.md",
    )


def check(files):
    return [problem.message for problem in plugin.codexmem_consolidate_check(workspace=DictWorkspace("v2", files))]


def test_the_memory_has_files_and_a_database_of_its_own():
    assert (MEMORY.name, MEMORY.folder, MEMORY.database) == ("v2", "memories_v2", "memory_v2.db")
    assert MEMORY.generated == ()
    assert "MEMORY.md" not in MEMORY.agent_writes
    assert plugin.codexmem_consolidate_files(stored=[from_model()]) == {}


def test_the_summary_has_codexs_shape_and_leads_to_exact_recaps(five_days):
    recent, older = five_days.summary.split("### Older Memory Topics")
    assert (
        "- rollout_summaries/2026-09-21T00-00-00-0004-recap.md — Fix the parser number 4 in p.py; "
        "session_id=session-0004\n  - state: uncertain\n" in recent
    )
    assert "- rollout_summaries/2026-09-21T00-00-00-0001-recap.md — Fix the parser number 1" in older
    assert "state:" not in older


def test_preferences_stand_with_their_reach_and_replaced_ones_do_not(memory, keep):
    memory.add(
        keep(1, "I prefer npm for installs."),
        keep(8, "From now on use pnpm, not npm."),
        keep(2, "In this repo we never use tabs.", cwd="/a"),
        keep(3, "Make the button blue here, please.", ("make", "", True)),
    ).consolidate()
    preferences = memory.summary.split("## User preferences")[1].split("## General Tips")[0]
    assert '"From now on use pnpm, not npm." -> do so by default' in preferences
    assert "I prefer npm" not in preferences
    assert "(in /a;" in preferences
    assert "blue" not in preferences  # one task's wish stays with its task


def test_a_recap_that_a_model_wrote_gives_its_stated_preferences_and_its_title(memory, keep):
    memory.add(from_model(), from_model(91, recap="Only prose."), keep(1, "Fix the parser")).consolidate()
    assert (
        '- the person said "deploy to staging first" (for this shop) (2026-09-21; rollout_summaries/model-90.md)'
        in (memory.summary)
    )
    assert "- rollout_summaries/model-90.md — Moved the queue to Kafka; session_id=model-90" in memory.summary
    assert "- rollout_summaries/model-91.md — Only prose.; session_id=model-91" in memory.summary
    assert "brokers" not in memory.summary


def test_what_a_person_writes_stays_and_what_they_remove_stays_away(memory, keep):
    memory.add(keep(1, "Fix the parser. I prefer tabs."), keep(2, "Always sign the commits.")).consolidate()
    edited = memory.summary.replace("## User preferences\n\n", "## User preferences\n\n- I like green tests.\n")
    edited = "\n".join(line for line in edited.split("\n") if "sign the commits" not in line)
    memory.workspace.files["memory_summary.md"] = edited.replace("I prefer tabs.", "I prefer spaces, really.")
    memory.add(keep(3, "Fix the printer", ("make", "", True))).consolidate()
    assert memory.summary.count("- I like green tests.") == 1
    assert "I prefer spaces, really." in memory.summary
    assert "I prefer tabs." not in memory.summary
    assert '"Always sign the commits." ->' not in memory.summary


def test_a_summary_is_valid_with_its_first_line_four_headings_and_fewer_than_10_000_bytes(memory, keep):
    memory.add(keep(1, "Fix the parser")).consolidate()
    good = memory.summary
    assert check({"memory_summary.md": good}) == []
    assert check({"memory_summary.md": good.replace("\n", "\r\n")}) == []
    assert check({}) == ["missing, or no regular file"]
    assert check({"memory_summary.md": "v2" + good[2:]}) == ["the first line is not exactly v1"]
    assert check({"memory_summary.md": good.replace("## General Tips", "### General Tips")}) == [
        "headings are missing: ## General Tips"
    ]
    assert check({"memory_summary.md": good + "x" * (9_999 - len(good.encode()))}) == []
    (told,) = check({"memory_summary.md": good + "é" * 5_000})
    assert "at most 9999 are allowed: shorten" in told


def test_what_a_person_wrote_is_never_cut_even_where_it_is_too_long(memory, keep):
    memory.add(keep(1, "Fix the parser")).consolidate()
    mine = "\n".join(f"- my own rule number {number}" for number in range(600))
    files = {**memory.workspace.files, "memory_summary.md": memory.summary + f"\n## Mine\n\n{mine}\n"}
    workspace = DictWorkspace("v2", files)
    written = plugin.codexmem_consolidate_offline(
        workspace=workspace, stored=memory.rows, changes=(), digest=memory.digest
    )
    assert mine in written.get("memory_summary.md", files["memory_summary.md"])
    assert check({**files, **written})


def test_a_thousand_sessions_stay_below_the_limit_and_the_used_one_is_named(thousand_sessions):
    memory = thousand_sessions
    assert 6_000 < len(memory.summary.encode()) < 10_000
    assert "1000 sessions remembered" in memory.summary
    assert re.search(r"- \d+ more sessions, each with its recap in rollout_summaries/: /home", memory.summary)
    assert "session_id=session-0003" in memory.summary
    assert memory.consolidate() == {}


def test_the_context_leads_to_recaps_and_speaks_of_no_handbook():
    workspace = DictWorkspace("v2", {"memory_summary.md": "v1\n" + "START " + "x" * 20_000 + " END"})
    with_tools = plugin.codexmem_read_summary(workspace=workspace, tools=SHOWN_TOOLS, citations=True)
    without = plugin.codexmem_read_summary(workspace=workspace, tools={}, citations=False)
    for text in (with_tools, without):
        assert "START" in text
        assert text.rstrip().endswith("END")
        assert "rollout_summaries/" in text
        assert "MEMORY.md" not in text
        assert len(text) < 12_500
    assert "shown_as_memory_read" in with_tools
    assert "directly, not from inside a program" in with_tools.replace("\n", " ").replace("  ", " ")
    assert "codexmem read PATH" in without
    assert "memory-citation" not in without


def test_the_agent_is_told_of_one_file_and_what_changed():
    changes = [Change(status="D", path="rollout_summaries/x.md")]
    asked = plugin.codexmem_consolidate_request(workspace=DictWorkspace("v2", {}), changes=changes)
    assert asked.prompt.startswith(f"{PROMPT_MARK}\nMode: INIT\n")
    assert "- D rollout_summaries/x.md" in asked.prompt
    for rule in ("phase2_workspace_diff.md", "## User Profile", "### Older Memory Topics", "10,000 bytes"):
        assert rule in asked.instructions
    for absent in ("MEMORY.md\n", "raw_memories", "skills/", "extensions/ad_hoc"):
        assert absent not in asked.prompt
    files = {"memory_summary.md": "v1\n", "extensions/ad_hoc/instructions.md": "x"}
    later = plugin.codexmem_consolidate_request(workspace=DictWorkspace("v2", files), changes=[])
    assert "Mode: INCREMENTAL" in later.prompt
    assert "extensions/ad_hoc/notes/" in later.prompt


sentences = st.one_of(
    st.text(max_size=120),
    st.sampled_from(["Always use tabs.", "Fix a.py, please", "以后都用中文", "## User Profile\nv1", "- a\n```\n# b"]),
)
turns = st.lists(
    st.one_of(sentences, st.tuples(st.sampled_from(["make", "ls"]), st.text(max_size=80), st.booleans())), max_size=5
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(turns, max_size=6),
    st.sampled_from(["", "/a", "/b\n# c"]),
    st.dictionaries(st.sampled_from(["extensions/ad_hoc/notes/a.md", "extensions/x/b.md"]), st.text(max_size=400)),
    st.text(max_size=200),
)
def test_any_sessions_give_a_valid_bounded_and_repeatable_summary(conversation, memory, sessions, cwd, notes, model):
    memory.rows.clear()
    memory.workspace.files.clear()
    memory.notes = notes
    for number, spoken in enumerate(sessions):
        transcript = conversation(number, *spoken, cwd=cwd)
        note = memory.note(findings=find(transcript))
        if note != NOTHING:
            assert len(note.summary.encode("utf-8", "replace")) <= 9_000
            memory.add(memory.row(transcript))
    memory.add(from_model(recap=model))
    memory.consolidate()
    files = dict(memory.workspace.files)
    assert all(row.recap_file in memory.summary for row in memory.rows)
    assert memory.consolidate() == {}
    memory.workspace.files.clear()
    memory.consolidate()
    assert memory.workspace.files == files


def test_notes_are_told_and_what_other_tools_remember_is_led_to(memory, keep):
    shop = "extensions/other/resources/-home-user-shop"
    memory.notes = {
        "extensions/ad_hoc/notes/2026-10-01T00-00-00-host.md": "The staging host is heron.\n",
        "extensions/other/instructions.md": "Mark it with `[from other]`.\n",
        f"{shop}/scope.json": '{"cwd":"/home/user/shop"}',
        f"{shop}/port.md": "---\nname: port\ndescription: where the server listens\n---\n\nThe port is 4100.\n",
    }
    memory.add(keep(1, "I prefer zebra stripes.")).consolidate()
    before, _, older = memory.summary.partition("### Older Memory Topics")
    assert '"The staging host is heron." (from extensions/ad_hoc/notes/' in before
    assert "[from other]" not in before
    assert f"- port: where the server listens ({shop}/port.md) [from other]" in older
