"""A home of opencode-codex-memory is taken over: both databases, modes, the memory that sessions read, and files."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from .other_homes import OPENCODE, OPENCODE_3, RAW, SUMMARY, database, write

PAINT, SAIL, SECRET, EMPTY = "ses_paint", "ses_sail", "ses_secret", "ses_empty"
READ_MS = int(time.time() * 1000) - 3_600_000


def note(session, what, **more):
    return {
        "session_id": session, "source_updated_at": READ_MS, "raw_memory": RAW.format(what=what, cwd="/home/dev/boat"),
        "rollout_summary": f"# {what}\nHow to {what}.", "rollout_slug": what, "cwd": "/home/dev/boat",
        "generated_at": READ_MS, **more,
    }  # fmt: skip


def job(session):
    return {
        "kind": "memory_stage1", "job_key": session, "status": "done", "retry_remaining": 3,
        "last_success_watermark": READ_MS,
    }  # fmt: skip


def meta(session, mode, polluted=0):
    return {"session_id": session, "memory_mode": mode, "polluted": polluted, "updated_at": 1}


@pytest.fixture
def older(user):
    """A home whose databases have the newest schema."""
    home = user.home / ".local/share/opencode"
    home.mkdir(parents=True)
    database(
        home / "memory.db",
        OPENCODE + OPENCODE_3,
        memory_stage1_outputs=[note(PAINT, "paint", usage_count=2, last_usage=READ_MS), note(SAIL, "sail")],
        memory_jobs=[job(PAINT), job(SAIL), job(EMPTY)],
        memory_session_meta=[meta(SECRET, "disabled"), meta(EMPTY, "enabled", polluted=1), meta(PAINT, "enabled")],
        memory_session_versions=[
            {"session_id": SAIL, "version": "v2"},
            {"session_id": PAINT, "version": "v1"},
        ],
        consolidation_progress=[{"singleton": 1, "max_thread_count": 2}],
    )
    database(
        home / "memory_v2.db",
        OPENCODE + OPENCODE_3,
        memory_stage1_outputs=[note(PAINT, "paint", raw_memory="")],
        memory_jobs=[job(PAINT)],
        consolidation_progress=[{"singleton": 1, "max_thread_count": 7}],
    )
    write(
        home / "memories",
        **{
            "MEMORY.md": "# Task Group: boat\n\n- two coats\n",
            "memory_summary.md": SUMMARY.format(cwd="/home/dev/boat", recap="2026-11-29T09-00-00-abcd-paint.md"),
            "rollout_summaries/2026-11-29T09-00-00-abcd-paint.md": f"session_id: {PAINT}\n\n# paint\n",
            "extensions/ad_hoc/notes/2026-11-01T00-00-00-pier.md": "The pier is called amber.\n",
            "extensions/external_agent_import/instructions.md": "Read scope.json first.\n",
            "extensions/external_agent_import/resources/-home-dev-boat/scope.json": '{"cwd":"/home/dev/boat"}',
            "extensions/external_agent_import/resources/-home-dev-boat/MEMORY.md": "- the keel is called petrel\n",
        },
    )
    write(home / "memories_v2", **{"memory_summary.md": SUMMARY.format(cwd="/home/dev/boat", recap="x.md")})
    return home


def take_over(user, home, *options):
    return user.codexmem("import", "opencode-codex-memory", str(home), *options)


def query(user, name, statement):
    with closing(sqlite3.connect(user.memory / name)) as connection:
        return connection.execute(statement).fetchall()


def test_notes_uses_and_what_was_read_come_into_both_memories(user, older):
    done = take_over(user, older)
    assert [plan["notes"] for plan in done["memories"].values()] == [2, 1]
    assert query(user, "memory.db", "SELECT host, session_id, usage_count FROM memory_stage1_outputs ORDER BY 2") == [
        ("opencode", PAINT, 2),
        ("opencode", SAIL, 0),
    ]
    jobs = "SELECT job_key, last_success_watermark FROM memory_jobs WHERE kind = 'memory_stage1' ORDER BY 1"
    assert query(user, "memory.db", jobs) == [(f"opencode:{session}", READ_MS) for session in (EMPTY, PAINT, SAIL)]
    assert query(user, "memory_v2.db", "SELECT max_thread_count FROM consolidation_progress") == [(7,)]


def test_modes_come_and_sessions_go_on_reading_their_memory(user, older):
    done = take_over(user, older)
    assert done["modes"] == {f"opencode:{SECRET}": "disabled", f"opencode:{EMPTY}": "polluted"}
    assert done["reads"] == {f"opencode:{SAIL}": "v2", f"opencode:{PAINT}": "v1"}
    stamps = "SELECT session_id, version FROM memory_session_versions ORDER BY 1"
    assert query(user, "catalog.db", stamps) == [(PAINT, "v1"), (SAIL, "v2")]
    again = take_over(user, older)
    assert (again["modes"], again["reads"]) == ({}, {})


def test_files_come_imports_included_and_everything_is_told_after_a_run(user, older):
    take_over(user, older)
    user.run()
    root = user.memory / "memories"
    handbook = (root / "MEMORY.md").read_text()
    assert "- two coats" in handbook
    assert "The pier is called amber." in handbook
    assert "the keel is called petrel" in handbook
    assert "always sail first" in handbook
    assert len(list((root / "rollout_summaries").iterdir())) == 2
    told = user.codexmem("context", "--memory", "v2")["context"]
    assert "two coats of paint" in told


def test_nothing_at_the_source_is_changed_and_a_second_time_nothing_comes(user, older):
    before = {path: path.read_bytes() for path in sorted(older.rglob("*")) if path.is_file()}
    shown = take_over(user, older, "--dry-run")
    done = take_over(user, older)
    assert {**shown, "dry_run": False} == done
    again = take_over(user, older)
    assert [(plan["notes"], plan["files"]) for plan in again["memories"].values()] == [(0, []), (0, [])]
    assert {path: path.read_bytes() for path in sorted(older.rglob("*")) if path.is_file()} == before


def test_an_older_schema_is_read_with_what_it_has(user):
    home = user.home / "older"
    home.mkdir()
    database(
        home / "memory.db",
        OPENCODE,
        memory_stage1_outputs=[note(PAINT, "paint")],
        memory_jobs=[job(PAINT)],
        memory_session_meta=[meta(SECRET, "odd mode")],
    )
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        connection.execute("ALTER TABLE memory_stage1_outputs DROP COLUMN last_usage")
        connection.commit()
    done = take_over(user, home)
    assert done["memories"]["v1"]["notes"] == 1
    assert done["skipped"] == [f"{home}/memory.db: the mode of 'ses_secret' is 'odd mode'"]


def test_placeholders_of_a_memory_that_has_learned_nothing_do_not_come(user):
    home = user.home / "fresh"
    write(home / "memories", **{"MEMORY.md": "# Memory\n\n_Nothing yet._\n", "memory_summary.md": ""})
    done = take_over(user, home)
    assert done["memories"]["v1"]["files"] == []


def test_links_and_hidden_files_stay_there(user, older):
    (user.home / "outside.md").write_text("outside")
    (older / "memories/link.md").symlink_to(user.home / "outside.md")
    (older / "memories/.hidden.md").write_text("hidden")
    files = take_over(user, older)["memories"]["v1"]["files"]
    assert [path for path in files if "link" in path or "hidden" in path] == []


def test_a_folder_of_something_else_is_an_error(user):
    (user.home / "nothing").mkdir()
    assert "memory_v2.db" in take_over(user, user.home / "nothing")["error"]
