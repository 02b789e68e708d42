"""What other tools remember stands in both files, marked, under the directory that it is about and nowhere else."""

from __future__ import annotations

import pytest

BASE = "extensions/external_agent_import"
SHOP = f"{BASE}/resources/-home-user-shop"
TABS = "---\nname: tabs\ndescription: tabs, not spaces\nmetadata:\n  type: feedback\n---\n\nUse tabs in Makefiles.\n"
PORT = "---\nname: port\ndescription: where the server listens\ntype: project\n---\n\nThe port is 4100.\n"


@pytest.fixture
def imported(memory):
    memory.notes = {
        f"{BASE}/instructions.md": "Mark it with `[from claude]`.\n",
        f"{SHOP}/scope.json": '{"cwd":"/home/user/shop"}',
        f"{SHOP}/tabs.md": TABS,
        f"{SHOP}/port.md": PORT,
        "extensions/codex_import/instructions.md": "Mark it with `[from codex]`.\n",
        "extensions/codex_import/resources/codex/memory_summary.md": "v1\n\n## General Tips\n\n- the mast is gannet\n",
    }
    return memory


def test_the_handbook_has_a_group_for_each_directory_with_the_files_behind_it(imported):
    imported.consolidate()
    shop, _, others = imported.handbook.partition("# Task Group: imported, other tools")
    assert "# Task Group: imported, /home/user/shop" in shop
    assert "applies_to: cwd=/home/user/shop; reuse_rule=only there" in shop
    assert f"- {SHOP}/tabs.md" in shop
    preferences, knowledge = shop.split("## User preferences")[1].split("## Reusable knowledge")
    assert preferences.strip() == '- tabs: "Use tabs in Makefiles." [from claude] [Task 1]'
    assert knowledge.strip() == '- port: "The port is 4100." [from claude] [Task 1]'
    assert "applies_to: cwd=as each fact says" in others
    assert '- "the mast is gannet" [from codex] [Task 1]' in others


def test_the_summary_leads_there_under_older_topics_and_says_nothing_of_it_before(imported, keep):
    imported.add(keep(1, "I prefer zebra stripes.", cwd="/home/user/shop")).consolidate()
    before, _, older = imported.summary.partition("### Older Memory Topics")
    assert "[from" not in before
    shop, _, others = older.partition("#### imported from other tools")
    assert "#### /home/user/shop" in shop
    assert f"- tabs: tabs, not spaces ({SHOP}/tabs.md) [from claude]" in shop
    assert "the mast is gannet" in others


def test_what_is_gone_is_forgotten_and_the_users_own_line_stays(imported):
    imported.consolidate()
    imported.workspace.files["MEMORY.md"] += "\nMy own line about heron.\n"
    del imported.notes[f"{SHOP}/tabs.md"]
    imported.consolidate()
    text = imported.handbook + imported.summary
    assert "Makefiles" not in text
    assert "tabs.md" not in text
    assert "The port is 4100." in text
    assert "My own line about heron." in text
    imported.notes.clear()
    imported.consolidate()
    assert "gannet" not in imported.handbook + imported.summary


def test_many_imports_leave_room_for_everything_else(imported, keep):
    imported.add(keep(1, "I prefer zebra stripes."))
    for number in range(400):
        imported.notes[f"{SHOP}/fact-{number:03}.md"] = PORT.replace("port", f"fact {number}") + "word " * 200
    imported.consolidate()
    assert len(imported.summary.encode()) <= 10_000
    assert "zebra" in imported.summary
    assert "more below extensions/" in imported.summary
    assert "more below extensions/" in imported.handbook
    assert len(imported.handbook) < 80_000
    assert imported.consolidate() == {}
