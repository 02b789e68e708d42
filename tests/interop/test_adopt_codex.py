"""Codex's own memory is taken over: notes, uses, how far each thread was read, and files; Codex's stay as they are."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from .other_homes import CODEX_MEMORY, CODEX_THREADS, RAW, SUMMARY, database, fill, write

PAINT = "01a22d0b-de6b-7533-b756-033a0e55e92f"
SAIL = "01a22d0b-def6-7ef3-8f55-6a802404d7e7"
EMPTY = "01a22d0b-0000-7ef3-8f55-6a802404d7e7"
CODEX_RECAP = "2026-11-29T09-00-00-h9Yb-paint.md"
NOW_S = int(time.time())
"""The commands under test have the real clock, and old notes would be let go."""
READ_S = NOW_S - 3_600


def note(thread, what, **more):
    return {
        "thread_id": thread, "source_updated_at": READ_S, "raw_memory": RAW.format(what=what, cwd="/home/dev/boat"),
        "rollout_summary": f"# {what}\nHow to {what}.", "rollout_slug": what, "generated_at": READ_S, **more,
    }  # fmt: skip


def job(thread, until=READ_S):
    return {
        "kind": "memory_stage1", "job_key": thread, "status": "done", "retry_remaining": 3,
        "last_success_watermark": until,
    }  # fmt: skip


def thread(id_, mode="enabled", updated_at=READ_S):
    return {
        "id": id_, "rollout_path": f"/nowhere/{id_}.jsonl", "updated_at": updated_at, "cwd": "/home/dev/boat",
        "memory_mode": mode,
    }  # fmt: skip


@pytest.fixture
def codex(user):
    """Both versions, the second with one note."""
    home = user.codex
    home.mkdir()
    database(
        home / "memories_1.sqlite",
        CODEX_MEMORY,
        stage1_outputs=[note(PAINT, "paint", usage_count=3, last_usage=READ_S), note(SAIL, "sail")],
        jobs=[job(PAINT), job(SAIL), job(EMPTY)],
        consolidation_progress=[{"singleton": 1, "max_thread_count": 2}],
    )
    database(
        home / "memories_v2_1.sqlite",
        CODEX_MEMORY,
        stage1_outputs=[note(PAINT, "paint", raw_memory="")],
        jobs=[job(PAINT)],
        consolidation_progress=[{"singleton": 1, "max_thread_count": 1}],
    )
    database(home / "state_5.sqlite", CODEX_THREADS, threads=[thread(PAINT), thread(SAIL), thread(EMPTY, "polluted")])
    write(
        home / "memories",
        **{
            "MEMORY.md": f"# Task Group: boat\n\n- two coats, see rollout_summaries/{CODEX_RECAP}\n",
            "memory_summary.md": SUMMARY.format(cwd="/home/dev/boat", recap=CODEX_RECAP),
            "raw_memories.md": "made anew",
            f"rollout_summaries/{CODEX_RECAP}": f"thread_id: {PAINT}\ncwd: /home/dev/boat\n\n# paint\n",
            "skills/caulk/SKILL.md": "---\nname: caulk\n---\n\nHow to caulk.\n",
            "extensions/ad_hoc/instructions.md": "Codex's own words",
            "extensions/ad_hoc/notes/2026-11-01T00-00-00-pier.md": "The pier is called amber.\n",
            "extensions/codexmem_import/instructions.md": "ours",
            "extensions/codexmem_import/resources/codexmem/MEMORY.md": "ours\n",
            ".git/HEAD": "ref: refs/heads/main\n",
        },
    )
    write(home / "memories_v2", **{"memory_summary.md": SUMMARY.format(cwd="/home/dev/boat", recap=CODEX_RECAP)})
    return home


def tree(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.rglob("*")) if path.is_file()}


def take_over(user, *options):
    return user.codexmem("import", "codex", *options)


def handbook(user):
    return (user.memory / "memories/MEMORY.md").read_text()


def rows(user, name="memory.db"):
    with closing(sqlite3.connect(user.memory / name)) as database_:
        return database_.execute(
            "SELECT host, session_id, source_updated_at, usage_count, cwd, locator FROM memory_stage1_outputs"
            " ORDER BY session_id"
        ).fetchall()


def test_notes_come_with_their_uses_places_and_times_in_milliseconds(user, codex):
    done = take_over(user)
    assert done["memories"]["v1"]["notes"] == 2
    assert done["memories"]["v2"]["notes"] == 1
    assert rows(user) == [
        ("codex", PAINT, READ_S * 1000, 3, "/home/dev/boat", f"/nowhere/{PAINT}.jsonl"),
        ("codex", SAIL, READ_S * 1000, 0, "/home/dev/boat", f"/nowhere/{SAIL}.jsonl"),
    ]
    user.run()
    assert "always paint first" in handbook(user)
    assert "How to sail." in next((user.memory / "memories/rollout_summaries").glob("*sail.md")).read_text()


def test_files_come_and_lead_to_recaps_by_their_names_here(user, codex):
    take_over(user)
    user.run()
    root = user.memory / "memories"
    (recap,) = root.glob("rollout_summaries/*paint.md")
    assert f"two coats, see rollout_summaries/{recap.name}" in handbook(user)
    assert CODEX_RECAP not in handbook(user)
    assert (root / "skills/caulk/SKILL.md").read_text().endswith("How to caulk.\n")
    assert "The pier is called amber." in handbook(user)
    assert "Codex's own words" not in (root / "extensions/ad_hoc/instructions.md").read_text()
    assert not (root / "extensions/codexmem_import").exists()


def test_preferences_of_the_summary_stay_and_its_contents_are_made_anew(user, codex):
    take_over(user)
    user.run()
    for folder in ("memories", "memories_v2"):
        summary = (user.memory / folder / "memory_summary.md").read_text()
        assert "Builds boats." in summary
        assert "- two coats of paint" in summary
        assert "the mast light is called gannet" in summary
        assert "paint: hull" not in summary
        assert "paint" in summary.split("## What's in Memory")[1]


def test_the_context_is_there_before_the_first_run(user, codex):
    take_over(user)
    assert "two coats of paint" in user.codexmem("context")["context"]


def test_threads_that_codex_has_read_are_not_read_again(user, codex):
    folder = codex / "sessions/2026/11/29"
    folder.mkdir(parents=True)
    moment = datetime.fromtimestamp(READ_S + 0.5, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for id_ in (PAINT, EMPTY):
        lines = [
            {"type": "session_meta", "payload": {"id": id_, "cwd": "/home/dev/boat", "source": "cli"}},
            {
                "type": "response_item",
                "payload": {
                    "type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": "Always varnish twice."}],
                },
            },
        ]  # fmt: skip
        text = "".join(json.dumps({"timestamp": moment, **line}) + "\n" for line in lines)
        (folder / f"rollout-2026-11-29T09-00-00-{id_}.jsonl").write_text(text)
    take_over(user)
    report = user.run()
    assert report["sessions"]["extracted"] == 0
    assert "varnish" not in handbook(user)


def test_sessions_that_are_not_to_be_remembered_stay_so(user, codex):
    assert take_over(user)["modes"] == {f"codex:{EMPTY}": "polluted"}
    assert user.codexmem("mode", f"codex:{EMPTY}")["mode"] == "polluted"


def test_a_dry_run_shows_the_same_and_changes_nothing(user, codex):
    user.codexmem("status")
    before = user.files("codexmem")
    shown = take_over(user, "--dry-run")
    assert {path: text for path, text in user.files("codexmem").items() if "log" not in path} == before
    assert rows(user) == []
    done = take_over(user)
    assert {**shown, "dry_run": False} == done


def test_a_second_time_nothing_comes(user, codex):
    take_over(user)
    user.run()
    before, kept = user.files("codexmem/memories"), rows(user)
    again = take_over(user)
    for plan in again["memories"].values():
        assert (plan["notes"], plan["uses"], plan["settled"], plan["files"]) == (0, 0, 0, [])
    assert (again["modes"], again["conflicts"]) == ({}, [])
    assert (user.files("codexmem/memories"), rows(user)) == (before, kept)


def test_nothing_of_codexs_is_changed(user, codex):
    with closing(sqlite3.connect(codex / "memories_1.sqlite")) as connection:  # Codex itself has it open
        fill(connection, {"stage1_outputs": [note(EMPTY, "row")]})
        before = tree(codex)
        assert any(path.name.endswith("-wal") for path in before)
        assert take_over(user)["memories"]["v1"]["notes"] == 3
        assert tree(codex) == before


def test_what_was_forgotten_or_deleted_here_does_not_come_again(user, codex):
    take_over(user)
    user.run()
    user.codexmem("forget", "--session", f"codex:{PAINT}")
    (user.memory / "memories/extensions/ad_hoc/notes/2026-11-01T00-00-00-pier.md").unlink()
    user.run()
    again = take_over(user)
    assert again["memories"]["v1"]["left_out"] == {"forgotten here": 1}
    user.run()
    assert [row[1] for row in rows(user)] == [SAIL]
    assert "amber" not in handbook(user)


def test_where_both_have_a_handbook_ours_stays_and_theirs_comes_beside_it(user, codex):
    user.session(("user", "Always write the changelog entry first."), ("assistant", "Yes."))
    user.run()
    done = take_over(user)
    assert [line for line in done["conflicts"] if "MEMORY.md differs" in line]
    assert "changelog" in handbook(user)
    user.run()
    assert "changelog" in handbook(user)
    assert '"two coats, see' in handbook(user)
    assert "extensions/earlier_memory/resources/codex/MEMORY.md" in handbook(user)


def test_a_note_of_ours_that_is_as_new_stays_and_the_higher_count_of_uses_counts(user, codex):
    take_over(user)
    with closing(sqlite3.connect(user.memory / "memory.db")) as ours:
        ours.execute("UPDATE memory_stage1_outputs SET rollout_summary = 'ours', usage_count = 1")
        ours.commit()
    done = take_over(user)
    assert (done["memories"]["v1"]["notes"], done["memories"]["v1"]["uses"], done["memories"]["v1"]["known"]) == (
        0,
        1,
        2,
    )
    assert [row[3] for row in rows(user)] == [3, 1]
    with closing(sqlite3.connect(user.memory / "memory.db")) as ours:
        assert {row[0] for row in ours.execute("SELECT rollout_summary FROM memory_stage1_outputs")} == {"ours"}


def test_a_mode_that_was_set_here_stays_and_is_a_conflict(user, codex):
    user.codexmem("status")
    with closing(sqlite3.connect(user.memory / "catalog.db")) as ours:
        ours.execute("INSERT INTO memory_session_meta VALUES ('codex', ?, 'enabled', 0, 0)", (EMPTY,))
        ours.commit()
    done = take_over(user)
    assert done["modes"] == {}
    assert done["conflicts"] == [f"codex:{EMPTY} is polluted there and enabled here: that stays"]


def test_notes_for_a_memory_that_is_not_installed_stay_there(user, codex):
    done = user.codexmem("import", "codex", CODEXMEM_DISABLE="memory-v2")
    assert done["memories"]["v2"]["installed"] is False
    assert done["memories"]["v2"]["left_out"] == {"its memory is not installed here": 1}
    assert done["memories"]["v1"]["notes"] == 2


def test_a_project_that_is_left_alone_here_is_left_alone(user, codex):
    user.settings('[memories]\nbypass = ["/home/dev/**"]\n')
    done = take_over(user)
    assert done["memories"]["v1"]["notes"] == 0
    assert sum(done["memories"]["v1"]["left_out"].values()) == 2


def test_secrets_and_private_spans_do_not_come(user, codex):
    with closing(sqlite3.connect(codex / "memories_1.sqlite")) as connection:
        connection.execute(
            "UPDATE stage1_outputs SET rollout_summary = ?",
            ("token ghp_abcdefghijklmnopqrstuvwxyz0123456789 <private>heron</private>",),
        )
        connection.commit()
    write(codex / "memories", **{"extensions/ad_hoc/notes/secret.md": "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"})
    take_over(user)
    everything = b"".join(user.files("codexmem").values()) + (user.memory / "memory.db").read_bytes()
    assert b"ghp_abcdef" not in everything
    assert b"heron" not in everything


def test_rows_that_make_no_sense_are_told_and_the_others_come(user, codex):
    with closing(sqlite3.connect(codex / "memories_1.sqlite")) as connection:
        connection.execute("UPDATE stage1_outputs SET source_updated_at = 'soon' WHERE thread_id = ?", (PAINT,))
        connection.execute("UPDATE stage1_outputs SET usage_count = -1 WHERE thread_id = ?", (SAIL,))
        fill(connection, {"stage1_outputs": [note("good", "good")]})
    done = take_over(user)
    assert done["memories"]["v1"]["notes"] == 1
    assert [PAINT in done["skipped"][0], SAIL in done["skipped"][1]] == [True, True]


def test_a_damaged_database_is_an_error_and_nothing_comes(user, codex):
    (codex / "memories_1.sqlite").write_bytes(b"no database" * 100)
    for name in ("memories_1.sqlite-wal", "memories_1.sqlite-shm"):
        (codex / name).unlink(missing_ok=True)
    assert "memories_1.sqlite cannot be read" in take_over(user)["error"]
    assert not (user.memory / "memories/MEMORY.md").exists()
    assert list((user.memory / "cache").glob("adopt-*")) == []


def test_a_memory_folder_without_a_database_comes_with_its_recaps(user, codex):
    for path in codex.glob("*.sqlite*"):
        path.unlink()
    done = take_over(user)
    assert f"rollout_summaries/{CODEX_RECAP}" in done["memories"]["v1"]["files"]
    user.run()
    assert (user.memory / "memories/rollout_summaries" / CODEX_RECAP).exists()
    assert "paint: hull" in (user.memory / "memories/memory_summary.md").read_text()


def test_a_database_of_before_the_memories_had_their_own_is_read_too(user, codex):
    (codex / "memories_1.sqlite").rename(codex / "gone")
    with closing(sqlite3.connect(codex / "state_5.sqlite")) as connection:
        connection.executescript(CODEX_MEMORY)
        fill(connection, {"stage1_outputs": [note(SAIL, "sail")]})
    assert take_over(user)["memories"]["v1"]["notes"] == 1


def test_a_folder_without_a_memory_is_an_error_that_says_what_was_looked_for(user):
    assert "is not there" in take_over(user)["error"]
    user.codex.mkdir()
    assert "memories_v2" in take_over(user)["error"]


def test_our_own_home_is_no_source(user, codex):
    user.run()
    write(user.memory / "memories", **{"MEMORY.md": "ours\n"})
    assert "codexmem's own" in take_over(user, str(user.memory))["error"]


def test_a_kill_at_any_instant_leaves_everything_whole_and_the_next_time_finishes(user, codex):
    user.codexmem("status")
    source = tree(codex)
    user.keep()
    log = user.place.with_name("instants")
    one_memory = {"CODEXMEM_DISABLE": "memory-v2"}
    user.codexmem("import", "codex", instants=log, **one_memory)
    wanted = user.files("codexmem/memories"), rows(user)
    count = len(log.read_text().split())
    for number in range(1, count + 1, max(1, count // 12)):
        user.restore()
        assert user.codexmem("import", "codex", kill_at=number, **one_memory) is None
        user.codexmem("import", "codex", **one_memory)
        assert (user.files("codexmem/memories"), rows(user)) == wanted, number
        assert list((user.memory / "cache").glob("adopt-*")) == []
        assert {path: content for path, (content, _) in tree(codex).items()} == {
            path: content for path, (content, _) in source.items()
        }
