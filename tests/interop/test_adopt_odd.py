"""Homes with contents that nobody meant: what cannot be taken over is told, and everything else comes."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing

import pytest

from .other_homes import CODEX_MEMORY, CODEX_THREADS, database, write

FACTS = {"source_updated_at": 1_790_000_000, "raw_memory": "### Task 1\n- a fact\n", "rollout_summary": "# a\nfact."}


@pytest.fixture
def codex(user):
    """Two notes, of which the second is about to be spoilt."""
    home = user.codex
    home.mkdir()
    rows = [{"thread_id": name, "rollout_slug": name, "generated_at": 1, **FACTS} for name in ("good", "odd")]
    job = {"kind": "memory_stage1", "status": "done", "retry_remaining": 3, "last_success_watermark": 1_790_000_000}
    jobs = [{"job_key": name, **job} for name in ("good", "odd")]
    database(home / "memories_1.sqlite", CODEX_MEMORY, stage1_outputs=rows, jobs=jobs)
    threads = [
        {"id": name, "rollout_path": "/nowhere", "updated_at": 1, "cwd": "/home/dev/boat"} for name in ("good", "odd")
    ]
    database(home / "state_5.sqlite", CODEX_THREADS, threads=threads)
    return home


def spoil(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("name", "statement", "told"),
    [
        ("memories_1", "UPDATE stage1_outputs SET source_updated_at = 9000000000000000000", "source_updated_at"),
        ("memories_1", "UPDATE stage1_outputs SET generated_at = 4000000000000000000", "generated_at"),
        ("memories_1", "UPDATE jobs SET last_success_watermark = 9000000000000000000", "last_success_watermark"),
        ("memories_1", "UPDATE stage1_outputs SET thread_id = ''", "thread_id is empty"),
        ("state_5", "UPDATE threads SET cwd = '/a' || char(0) || 'b'", "cwd is no path"),
    ],
)
def test_a_row_with_an_impossible_value_is_told_and_the_others_come(user, codex, name, statement, told):
    column = {"state_5": "id"}.get(name, "job_key" if "jobs" in statement else "thread_id")
    spoil(codex / f"{name}.sqlite", f"{statement} WHERE {column} = 'odd'")
    done = user.codexmem("import", "codex")
    (line,) = done["skipped"]
    assert told in line
    assert done["memories"]["v1"]["notes"] + done["memories"]["v1"]["settled"] == 3
    assert user.codexmem("run")["memories"]["v1"]["status"] == "succeeded"


def test_a_text_that_is_no_utf_8_comes_with_what_can_be_read_of_it(user, codex):
    spoil(
        codex / "memories_1.sqlite",
        "UPDATE stage1_outputs SET raw_memory = CAST(x'2D20616D626572FF0A' AS TEXT) WHERE thread_id = 'odd'",
    )
    done = user.codexmem("import", "codex")
    assert (done["memories"]["v1"]["notes"], done["skipped"]) == (2, [])
    with closing(sqlite3.connect(user.memory / "memory.db")) as connection:
        query = "SELECT raw_memory FROM memory_stage1_outputs WHERE session_id = 'odd'"
        assert connection.execute(query).fetchall() == [("- amber\N{REPLACEMENT CHARACTER}\n",)]


def test_a_folder_that_cannot_be_looked_into_is_told(user, codex):
    (codex / "memories").write_text("no folder")
    write(codex / "memories_v2", **{"memory_summary.md": "v1\n- a fact\n"})
    done = user.codexmem("import", "codex", "--dry-run")
    (line,) = done["conflicts"]
    assert line.startswith(f"{codex}/memories cannot be read")
    assert done["memories"]["v1"]["notes"] == 2


def test_without_any_home_it_is_said_what_to_name(user):
    report = user.codexmem("import", "codex", HOME="")
    assert "say where it is" in report["error"]


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_while_codex_consolidates_nothing_is_taken_over(user, codex, options):
    """Its agent may have half written a file."""
    lock = codex / "memories.lock"
    lock.write_bytes(b"")
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "Codex consolidates its memory just now" in user.codexmem("import", "codex", *options)["error"]
    assert user.codexmem("import", "codex", *options)["memories"]["v1"]["notes"] == 2
    assert lock.read_bytes() == b""


def test_a_memory_that_is_not_installed_here_is_told_also_when_nothing_else_comes(user, codex, command):
    write(codex / "memories", **{"MEMORY.md": "# Task Group: boat\n"})
    status, text = command("import", "codex", CODEXMEM_DISABLE="memory-v1")
    assert (status, text.splitlines()) == (
        0,
        [
            f"nothing new in {codex}",
            "  v1: 2 notes stay there: its memory is not installed here",
            f"  conflict: {codex}/memories stays there: its memory is not installed here",
        ],
    )
