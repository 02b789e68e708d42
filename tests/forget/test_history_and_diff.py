"""The memory's own history: what each consolidation changed, and what nobody has consolidated yet."""

from __future__ import annotations

import json

import pytest

FIRST = (("user", "Always tag the release before you deploy."), ("assistant", "Yes."))
SECOND = (("user", "Please always run make lint before a commit."), ("assistant", "Yes."))


@pytest.fixture
def two(codex_home, learn, clock):
    codex_home(*FIRST)
    learn()
    clock.turn(hours=1)
    codex_home(*SECOND)
    learn()


def commits(command):
    status, told = command("history", "--json")
    assert status == 0
    return json.loads(told)["history"]


def test_history_lists_the_consolidations_newest_first(two, command):
    entries = commits(command)
    assert [entry["message"] for entry in entries] == ["consolidation", "consolidation", "memory baseline: empty"]
    assert entries[0]["at_ms"] - entries[1]["at_ms"] == 3_600_000
    _, told = command("history", "--memory", "v1")
    assert [line[:10] for line in told.splitlines()] == [entry["id"][:10] for entry in entries]
    assert "2026-11-30 13:00 UTC" in told


def test_diff_shows_what_a_consolidation_changed(two, command):
    newest, oldest, _ = (entry["id"] for entry in commits(command))
    status, told = command("diff", newest[:8])
    assert status == 0
    assert "+++ b/MEMORY.md" in told
    assert "make lint" in told
    assert told.count("+++ b/rollout_summaries/") == 1
    value = json.loads(command("diff", oldest, "--json")[1])
    assert value["commit"] == oldest
    assert {"status": "A", "path": "MEMORY.md"} in value["changes"]
    assert "tag the release" in value["patch"]


def test_diff_without_a_commit_shows_what_changed_since(two, command, home):
    assert command("diff") == (0, "nothing has changed\n")
    with (home / "memories" / "MEMORY.md").open("a") as file:
        file.write("\n- my own line\n")
    _, told = command("diff")
    assert "+- my own line" in told
    assert json.loads(command("diff", "--json")[1])["changes"] == [{"status": "M", "path": "MEMORY.md"}]


def test_a_secret_that_was_written_by_hand_is_not_shown(two, command, home):
    secret = "ghp_" + "a1B2" * 9
    with (home / "memories" / "MEMORY.md").open("a") as file:
        file.write(f"\n- token {secret}\n")
    _, told = command("diff")
    assert "- token" in told
    assert secret not in told


@pytest.mark.parametrize("commit", ["abc", "zzzzzz", "HEAD~1", "0000000"])
def test_an_unknown_commit_is_an_error_that_says_where_to_look(two, commit, command):
    status, told = command("diff", commit)
    assert status == 1
    assert "see codexmem history" in told


def test_a_memory_without_history_says_so(command):
    assert command("history") == (0, "nothing was consolidated yet (see codexmem status)\n")
    status, told = command("diff")
    assert status == 1
    assert "no history yet" in told
