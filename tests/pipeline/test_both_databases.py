"""Memory V1 and Memory V2 in one home: a database that is damaged or newer costs the other memory nothing."""

from __future__ import annotations

import json
import sqlite3

import pytest
from click.testing import CliRunner

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.readpath.forget import forget
from codexmem_core.readpath.forgetting.targets import target_of

V2 = ("memory-v2",)


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_damaged_database_is_made_anew_and_the_other_is_as_it_was(sessions, learn, both, bad):
    learn()
    damaged = both.database(bad)
    damaged.write_bytes(b"\xff" * 100 + damaged.read_bytes()[100:])
    for suffix in ("-wal", "-shm"):
        both.database(bad).with_name(both.database(bad).name + suffix).unlink(missing_ok=True)
    report = learn()
    assert report.memories[both.other[bad]].status == "up_to_date"
    assert report.memories[bad].extracted == 4
    assert list(both.home.glob(f"{both.database(bad).name}.corrupt-*"))


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_damaged_index_costs_no_note_although_the_sessions_are_too_old_to_be_read_again(
    sessions, learn, both, clock, bad
):
    learn()
    before = (both.notes(bad), both.summary(bad))
    clock.turn(days=11)
    damage_index(both.database(bad))
    report = learn()
    assert not report.failed
    assert list(both.home.glob(f"{both.database(bad).name}.corrupt-*"))
    assert (both.notes(bad), both.summary(bad)) == before


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_notes_that_are_lost_take_nothing_out_of_the_files_until_the_user_says_so(sessions, learn, both, clock, bad):
    learn()
    recaps = sorted((both.folder(bad) / "rollout_summaries").iterdir())
    before = both.summary(bad)
    clock.turn(days=11)
    damaged = both.database(bad)
    damaged.write_bytes(b"\xff" * 100 + damaged.read_bytes()[100:])
    report = learn(now=False)
    assert report.memories[bad].consolidation == "failed_notes_lost"
    assert report.memories[bad].detail.startswith("4 recaps in ")
    assert "codexmem run --all" in report.memories[bad].detail
    assert report.memories[both.other[bad]].status == "up_to_date"
    assert sorted((both.folder(bad) / "rollout_summaries").iterdir()) == recaps
    assert both.summary(bad) == before
    state = State()
    words = ["--home", str(both.home), "--config", str(both.home / "none.toml"), "doctor"]
    doctor = CliRunner().invoke(codexmem, words, obj=state)
    state.close()
    assert f"{both.database(bad).name}.corrupt-" in doctor.output
    learn()
    assert not list((both.folder(bad) / "rollout_summaries").iterdir())


def damage_index(path):
    """Overwrite the root page of an index, which no row depends on."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_memory_c%'")
        place = (page.fetchone()[0] - 1) * size
    database.close()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * size)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@pytest.fixture
def unusable(both):
    """Let a memory's database belong to a later version of codexmem: it can be read and not written."""

    def make(memory):
        with sqlite3.connect(both.database(memory)) as database:
            database.execute("INSERT INTO schema_migration (name, applied) VALUES ('9999_later', '2026-11-30')")
        database.close()

    return make


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_database_of_a_later_version_stops_its_own_memory_only(sessions, learn, unusable, codex_home, both, bad):
    learn()
    unusable(bad)
    codex_home(("user", "Please always squash the commits."), ("assistant", "I will."))
    report = learn()
    assert report.memories[bad].status == "failed"
    assert "newer codexmem" in report.memories[bad].detail
    assert report.memories[both.other[bad]].extracted == 1


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_session_that_took_in_the_web_is_forgotten_by_the_memory_that_can(
    sessions, learn, unusable, codex_home, both, bad
):
    setting = "[memories]\ndisable_on_external_context = true\n"
    learn(config=setting)
    unusable(bad)
    session = sessions[0]
    path = next(codex_home.root.rglob(f"*{session}.jsonl"))
    call = {"type": "function_call", "call_id": "c", "name": "web_search", "arguments": "{}"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look it up."}]}
    with path.open("a") as file:
        for item in (call, said):
            line = {"timestamp": "2026-11-29T10:00:00.000Z", "type": "response_item", "payload": item}
            file.write(json.dumps(line) + "\n")
    report = learn(config=setting)
    assert report.memories[both.other[bad]].status == "succeeded"
    assert session not in both.text(both.other[bad])
    assert sessions[1] in both.text(both.other[bad])


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_cannot_forget_now_keeps_the_other_from_nothing_and_is_asked_again(
    sessions, learn, unusable, engine_of, both, bad
):
    learn()
    unusable(bad)
    engine = engine_of(beside=V2)
    report = forget(engine, target_of(engine.access, sessions[0]))
    assert f"{both.database(bad)} was written by a newer codexmem" in report.pending[-1]
    assert both.notes(both.other[bad]) == sessions[1:]
    assert both.notes(bad) == sessions
    for memory in both.names:
        assert sessions[0] not in both.text(memory)
    learn()
    assert both.notes(bad) == sessions
    with sqlite3.connect(both.database(bad)) as database:
        database.execute("DELETE FROM schema_migration WHERE name = '9999_later'")
    database.close()
    learn()
    assert both.notes(bad) == sessions[1:]
    assert engine_of(beside=V2).catalogue.forgettings() == []
