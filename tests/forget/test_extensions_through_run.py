"""The extensions contract, seen from outside: notes, resources and their seven days, through whole runs."""

from __future__ import annotations

import pytest

from codexmem_core.readpath.arguments import Note


@pytest.fixture
def handbook(home):
    return (home / "memories" / "MEMORY.md").read_text


@pytest.fixture
def learned(codex_home, learn):
    codex_home(("user", "Always write the changelog entry first."), ("assistant", "Yes."))
    learn()


def test_a_note_is_in_the_memory_after_the_next_run_and_stays_a_file(learned, engine_of, learn, home, handbook):
    engine = engine_of()
    added = engine.memory_tools.note("memory-v1", Note(note="The staging cluster is called amber."))
    engine.close()
    learn()
    assert "The staging cluster is called amber." in handbook()
    assert "[ad-hoc note]" in handbook()
    path = home / "memories" / added.path
    path.write_text(path.read_text().replace("amber", "cobalt"))
    learn()
    assert "cobalt" in handbook()
    assert "amber" not in handbook()
    assert path.exists()
    path.unlink()
    learn()
    assert "cobalt" not in handbook()
    assert "changelog" in handbook()


def test_the_notes_instructions_are_seeded_once_and_the_users_own_stay(learned, learn, home):
    instructions = home / "memories" / "extensions" / "ad_hoc" / "instructions.md"
    assert "[ad-hoc note]" in instructions.read_text()
    instructions.write_text("# Mine\n")
    learn()
    assert instructions.read_text() == "# Mine\n"


def test_resources_of_an_extension_go_after_seven_days_and_their_facts_with_them(learned, learn, home, handbook, clock):
    folder = home / "memories" / "extensions" / "screen"
    (folder / "resources").mkdir(parents=True)
    (folder / "instructions.md").write_text("Summaries of the screen.\n")
    (folder / "resources" / "2026-11-30T11-00-00-work.md").write_text("The mast is called gannet.\n")
    (folder / "resources" / "lasting.md").write_text("The lamp is called petrel.\n")
    (folder / "resources" / "2026-11-23T12-00-01-old.md").write_text("Still in time.\n")
    (folder / "resources" / "2026-11-23T12-00-00-older.md").write_text("Exactly seven days.\n")
    learn()
    assert {path.name for path in (folder / "resources").iterdir()} == {
        "2026-11-30T11-00-00-work.md", "lasting.md", "2026-11-23T12-00-01-old.md"
    }  # fmt: skip
    assert "gannet" in handbook()
    clock.turn(hours=24 * 7)
    learn()
    assert {path.name for path in (folder / "resources").iterdir()} == {"lasting.md"}
    assert "gannet" not in handbook()
    assert "petrel" in handbook()


def test_a_folder_without_instructions_is_no_extension_and_is_left_alone(learned, learn, home):
    folder = home / "memories" / "extensions" / "loose" / "resources"
    folder.mkdir(parents=True)
    (folder / "2020-01-01T00-00-00-old.md").write_text("Very old.\n")
    learn()
    assert (folder / "2020-01-01T00-00-00-old.md").exists()
