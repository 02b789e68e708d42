"""Two memories registered is all that dual-write is: one may raise, hang or have a damaged database."""

from __future__ import annotations

import sqlite3

import pytest

TURNS = (
    ("user", "Please always run the linter before you commit in this repository."),
    ("assistant", "Understood, I will run it first."),
    ("user", "Add a retry to the uploader."),
    ("assistant", "Added."),
)


@pytest.fixture
def sessions(codex_home):
    return sorted(codex_home(*TURNS) for _ in range(3))


def outputs(path):
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT session_id FROM memory_stage1_outputs ORDER BY 1").fetchall()
    database.close()
    return [row[0] for row in rows]


def test_both_memories_extract_every_session_from_one_reading(sessions, run_with, other_memory, tmp_path):
    other = other_memory()
    report = run_with(other)
    assert {name: memory.extracted for name, memory in report.memories.items()} == {"v1": 3, "other": 3}
    assert report.sessions["extracted"] == 3
    assert outputs(tmp_path / "home" / "memory.db") == outputs(tmp_path / "home" / "other.db") == sessions
    assert (tmp_path / "home" / "memories" / "memory_summary.md").read_bytes().startswith(b"v1\n")
    assert (tmp_path / "home" / "memories_other" / "memory_summary.md").read_bytes().startswith(b"v1\n")


def test_a_memory_that_raises_costs_the_other_nothing_and_only_it_is_tried_again(
    sessions, run_with, other_memory, clock
):
    def trouble():
        raise RuntimeError("cannot think today")

    broken = other_memory(trouble=trouble)
    first = run_with(broken)
    assert first.memories["v1"].extracted == 3
    assert first.memories["other"].failed == 3
    assert any("cannot think today" in row.reason for row in first.skipped if row.memory == "other")

    waiting = run_with(mended := other_memory())
    assert mended.asked == []
    assert all("retry at" in row.reason for row in waiting.skipped if row.memory == "other")

    clock.turn(hours=1.1)
    second = run_with(mended := other_memory())
    assert sorted(mended.asked) == sessions
    assert second.memories["other"].extracted == 3
    assert second.memories["v1"].claimed == 0


def test_a_memory_that_hangs_is_given_up_and_only_it_is_tried_again(
    sessions, run_with, other_memory, never_ends, clock, tmp_path
):
    first = run_with(other_memory(trouble=never_ends), config="[models]\njob_minutes = 0.03\n")
    assert first.memories["v1"].status == "succeeded"
    assert first.memories["other"].status == "failed"
    assert "nothing moved" in first.memories["other"].detail
    assert outputs(tmp_path / "home" / "memory.db") == sessions

    clock.turn(hours=1.1)
    second = run_with(mended := other_memory())
    assert second.memories["other"].extracted == 3
    assert sorted(mended.asked) == sessions
    assert second.memories["v1"].claimed == 0


def test_a_memory_whose_database_is_rubbish_costs_the_other_nothing(sessions, run_with, other_memory, tmp_path):
    run_with(other_memory())
    damaged = tmp_path / "home" / "other.db"
    content = bytearray(damaged.read_bytes())
    content[:100] = b"\xff" * 100
    damaged.write_bytes(content)
    for suffix in ("-wal", "-shm"):
        (tmp_path / "home" / f"other.db{suffix}").unlink(missing_ok=True)

    report = run_with(mended := other_memory())
    assert report.memories["v1"].status == "up_to_date"
    assert report.memories["other"].extracted == 3
    assert sorted(mended.asked) == sessions
    assert list((tmp_path / "home").glob("other.db.corrupt-*"))
    assert any("other.db" in warning for warning in report.warnings)


def test_a_memory_that_writes_what_it_does_not_declare_fails_alone(sessions, run_with, other_memory):
    class Greedy(other_memory):
        def codexmem_consolidate_offline(self, workspace, stored, changes, digest):
            return {"../memories/MEMORY.md": "mine now"}

    from codexmem_hookspecs import hookimpl

    Greedy.codexmem_consolidate_offline = hookimpl(Greedy.codexmem_consolidate_offline)
    report = run_with(Greedy())
    assert report.memories["v1"].status == "succeeded"
    assert report.memories["other"].status == "failed"
    assert "may not write" in report.memories["other"].detail
