"""A planted token is learned, forgotten and looked for in every byte of the home; then its transcript is read again."""

from __future__ import annotations

import pytest

TOKEN = "ZEBRAFISH-77413"
PARTS = ("zebrafish", "77413")
HINT = f"Always announce the release in the channel {TOKEN} before you deploy."
SIBLING = "Always write the changelog entry first in this repository."
TURNS = (("user", HINT), ("assistant", "I will."), ("user", SIBLING), ("assistant", "Understood."))


@pytest.fixture
def learned(codex_home, learn, home, places_of):
    """Two sessions, one with the token; learned twice, so that there is history."""
    with_token = codex_home(*TURNS)
    codex_home(("user", "From now on use pnpm and never npm in this repository."), ("assistant", "Yes."))
    learn()
    codex_home(("user", "Please always run make lint before a commit."), ("assistant", "Yes."))
    learn()
    found = places_of(*PARTS)
    assert {"memory.db", "memories/MEMORY.md", "memories/raw_memories.md", "memories/memory_summary.md"} <= set(found)
    assert any(".git/objects/pack" in path for path in found)
    return with_token


def test_a_session_is_forgotten_for_good_and_its_neighbours_stay(learned, command, learn, home, places_of):
    status, told = command("forget", learned)
    assert status == 0, told
    assert "memories/MEMORY.md: rewritten" in told
    assert places_of(*PARTS, "changelog entry") == []
    assert "pnpm" in (home / "memories" / "MEMORY.md").read_text()
    report = learn()
    assert any("forgotten" in row.reason for row in report.skipped)
    assert places_of(*PARTS, "changelog entry") == []
    assert "make lint" in (home / "memories" / "memory_summary.md").read_text()


def test_a_transcript_file_is_forgotten_like_its_session(learned, codex_home, command, learn, places_of):
    assert command("forget", codex_home.path(learned))[0] == 0
    learn()
    assert places_of(*PARTS) == []
    assert TOKEN in codex_home.path(learned).read_text()


def test_a_recap_is_forgotten_like_its_session(learned, command, learn, home, places_of):
    (recap,) = [path for path in (home / "memories" / "rollout_summaries").iterdir() if TOKEN in path.read_text()]
    assert command("forget", f"rollout_summaries/{recap.name}")[0] == 0
    learn()
    assert places_of(*PARTS) == []


def test_a_text_is_forgotten_for_good_and_what_else_its_session_gave_stays(
    learned, codex_home, command, learn, home, places_of
):
    status, told = command("forget", "--text", TOKEN.lower().replace("-", " "))
    assert status == 0, told
    assert places_of(*PARTS) == []
    handbook = (home / "memories" / "MEMORY.md").read_text()
    assert SIBLING in handbook
    assert "pnpm" in handbook
    codex_home(("user", "Also never commit on fridays."), ("assistant", "Yes."), session_id=learned)
    learn()
    assert places_of(*PARTS) == []
    handbook = (home / "memories" / "MEMORY.md").read_text()
    assert SIBLING in handbook
    assert "fridays" in handbook


def test_two_memories_forget_together(codex_home, learn, command, places_of, other_memory):
    with_token = codex_home(*TURNS)
    learn(other_memory)
    assert "memories_other/MEMORY.md" in places_of(*PARTS)
    assert command("forget", with_token, plugins=[other_memory])[0] == 0
    learn(other_memory)
    assert places_of(*PARTS) == []


@pytest.mark.parametrize("kind", ["session", "text"])
def test_a_memory_that_is_no_longer_installed_forgets_too(
    kind, codex_home, learn, command, home, places_of, other_memory
):
    with_token = codex_home(*TURNS)
    codex_home(("user", "From now on use pnpm and never npm in this repository."), ("assistant", "Yes."))
    learn(other_memory)
    assert command("forget", with_token if kind == "session" else TOKEN)[0] == 0
    assert places_of(*PARTS) == []
    assert "pnpm" in (home / "memories_other" / "MEMORY.md").read_text()
    assert "pnpm" in (home / "memories_other" / "raw_memories.md").read_text()
