"""Opening: fresh, older, newer, untrue and damaged files."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from codexmem_core.store import damage as damage_module
from codexmem_core.store.catalogue import Catalogue
from codexmem_core.store.database import open_catalogue, open_database, open_memory
from codexmem_core.store.errors import DatabaseDamaged, MigrationFailed, SchemaNewer, SchemaWrong, StoreError
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.migrating import expected
from codexmem_core.store.schema import CATALOGUE, MEMORY, declared

SCHEMAS = os.path.join(os.path.dirname(__file__), "schemas")


@pytest.fixture
def path(home):
    return str(home / "memory.db")


@pytest.fixture
def reopen(path, home, clock):
    """Open, look and close."""

    def look(schema=MEMORY, name="memory.db"):
        with open_database(str(home / name), schema, backups=str(home / "backups"), clock=clock) as database:
            return database.notices

    return look


@pytest.fixture
def with_rows(path, home, clock, candidate):
    """A memory with 300 rows, closed."""
    with open_memory(path, backups=str(home / "backups"), clock=clock) as database, database.transaction("test"):
        database.execute_many(
            "INSERT INTO memory_stage1_outputs (host, session_id, source_updated_at, raw_memory, rollout_summary,"
            " generated_at) VALUES ('codex', ?, 1, ?, '', 1)",
            [(f"s{n}", "x" * 900) for n in range(300)],
        )
    return path


@pytest.fixture
def with_script(tmp_path):
    """The memory's schema with one script more."""

    def make(text, name="0002_next", of=MEMORY):
        folder = tmp_path / "migrations"
        folder.mkdir(exist_ok=True)
        for script in of.scripts():
            with open(os.path.join(of.migrations, script + ".py")) as file:
                (folder / f"{script}.py").write_text(file.read())
        (folder / f"{name}.py").write_text(text)
        return replace(of, migrations=str(folder))

    return make


def raw(path, statement, *parameters):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, parameters).fetchall()


ADD = "def up(migrator, db):\n    db.execute_sql(\"ALTER TABLE memory_jobs ADD COLUMN mood TEXT DEFAULT 'calm'\")\n"


def zero(path, start, length):
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(b"\0" * length)


def of_kind(home, part):
    return sorted(name for name in os.listdir(home) if part in name)


# --- fresh and whole


def test_a_new_database_is_private_in_wal_mode_and_has_nothing_to_report(home, path, memory):
    assert memory.notices == ()
    assert not memory.read_only
    assert raw(path, "PRAGMA journal_mode") == [("wal",)]
    assert os.stat(path).st_mode & 0o077 == 0
    assert not of_kind(home, ".fresh-")
    assert not os.path.exists(home / "backups")


@pytest.mark.parametrize("schema", [MEMORY, CATALOGUE], ids=["memory", "catalogue"])
def test_table_classes_and_migrations_agree(schema):
    from peewee import SqliteDatabase

    assert declared(schema.tables(SqliteDatabase(None))) == expected(schema, schema.scripts())


def test_a_folder_that_cannot_be_made_is_told(home, clock):
    (home / "file").write_text("")
    with pytest.raises(StoreError, match="cannot open"):
        open_memory(str(home / "file" / "memory.db"), backups=str(home), clock=clock)


# --- migrations


@pytest.mark.parametrize(
    ("kind", "version"), [("memory", "0001"), ("catalogue", "0001"), ("catalogue", "0002"), ("catalogue", "0003")]
)
def test_every_past_schema_is_brought_up_to_date_with_all_its_rows(kind, version, home, clock):
    schema = {"memory": MEMORY, "catalogue": CATALOGUE}[kind]
    path = str(home / "past.db")
    with open(os.path.join(SCHEMAS, f"{kind}-{version}.sql")) as file, closing(sqlite3.connect(path)) as connection:
        connection.executescript(file.read())
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        before = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables}
    before.pop("schema_migration")
    assert any(count != (0,) for count in before.values())
    with open_database(path, schema, backups=str(home / "backups"), clock=clock) as database, database.unit():
        assert {t: database.execute(f"SELECT count(*) FROM {t}").fetchone() for t in before} == before
        if kind == "memory":
            assert Jobs(database, clock).outputs()[0].rollout_summary == "kept"
        else:
            assert Catalogue(database, clock).mode_of("codex", "s1") == "disabled"
            assert Catalogue(database, clock).candidates()[0].session.id == "s1"


def test_every_migration_has_a_fixture_of_the_schema_that_it_left():
    have = {name.removesuffix(".sql") for name in os.listdir(SCHEMAS)}
    want = {f"{schema.name}-{script[:4]}" for schema in (MEMORY, CATALOGUE) for script in schema.scripts()}
    assert have == want


def test_an_older_database_is_backed_up_whole_before_it_is_migrated(home, with_rows, with_script, reopen):
    (notice,) = reopen(with_script(ADD))
    (backup,) = os.listdir(home / "backups")
    assert backup == "memory.db.0001_initial.20260101T000000Z"
    assert backup in notice
    saved = str(home / "backups" / backup)
    assert raw(saved, "SELECT count(*) FROM memory_stage1_outputs") == [(300,)]
    assert "mood" not in {row[1] for row in raw(saved, "PRAGMA table_info(memory_jobs)")}
    assert "mood" in {row[1] for row in raw(with_rows, "PRAGMA table_info(memory_jobs)")}
    assert reopen(with_script(ADD)) == ()


def test_a_backup_that_is_put_back_opens(home, with_rows, with_script, reopen):
    reopen(with_script(ADD))
    (backup,) = os.listdir(home / "backups")
    os.replace(home / "backups" / backup, with_rows)
    assert reopen() == ()
    assert raw(with_rows, "PRAGMA journal_mode") == [("wal",)]


DEDUPE = """
def up(migrator, db):
    db.execute_sql("DELETE FROM memory_stage1_outputs WHERE rowid NOT IN"
        " (SELECT min(rowid) FROM memory_stage1_outputs GROUP BY cwd)")
"""


def test_a_migration_that_loses_rows_is_undone(home, with_rows, with_script, reopen):
    # cwd is NULL in all rows, and NULLs are not equal: the script takes them for duplicates of each other
    with pytest.raises(MigrationFailed, match="0002_next left 1 of 300 rows in memory_stage1_outputs"):
        reopen(with_script(DEDUPE))
    assert raw(with_rows, "SELECT count(*) FROM memory_stage1_outputs") == [(300,)]
    assert raw(with_rows, "SELECT name FROM schema_migration") == [("0001_initial",)]
    assert len(os.listdir(home / "backups")) == 1
    assert reopen() == ()


def test_a_migration_may_say_which_rows_it_means_to_change(with_rows, with_script, reopen):
    reopen(with_script('changes_rows = ("memory_stage1_outputs",)\n' + DEDUPE))
    assert raw(with_rows, "SELECT count(*) FROM memory_stage1_outputs") == [(1,)]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "def up(migrator, db):\n    db.execute_sql('DROP TABLE memory_jobs')\n    raise ValueError('half way')\n",
            "half",
        ),
        ("def up(migrator, db):\n    db.execute_sql('DROP TABLE memory_citation_usage')\n", "no of 0 rows"),
        ("atomic = False\ndef up(migrator, db):\n    pass\n", "outside of a transaction"),
        ("def up(migrator, db):\n    db.execute_sql('nonsense')\n", "nonsense"),
    ],
    ids=["raises", "drops a table", "outside of a transaction", "no SQL"],
)
def test_a_failing_migration_leaves_the_file_as_it_was(script, told, with_rows, with_script, reopen):
    before = raw(with_rows, "SELECT * FROM sqlite_master")
    with pytest.raises(MigrationFailed, match=told):
        reopen(with_script(script))
    assert raw(with_rows, "SELECT * FROM sqlite_master") == before
    assert reopen() == ()


def test_all_pending_migrations_are_applied_or_none(with_rows, with_script, reopen):
    with_script(ADD)
    with pytest.raises(MigrationFailed):
        reopen(with_script(DEDUPE, "0003_later"))
    assert "mood" not in {row[1] for row in raw(with_rows, "PRAGMA table_info(memory_jobs)")}


def test_a_history_that_claims_a_column_which_is_missing_is_refused(with_rows, reopen):
    raw(with_rows, "ALTER TABLE memory_jobs DROP COLUMN failure")
    with pytest.raises(SchemaWrong, match=r"memory\.db: table memory_jobs, column failure is missing"):
        reopen()


def test_a_history_that_claims_a_table_which_is_missing_is_refused(with_rows, reopen):
    raw(with_rows, "DROP TABLE memory_findings")
    with pytest.raises(SchemaWrong, match=r"memory\.db: table memory_findings is missing"):
        reopen()


def test_a_lying_history_is_found_before_any_migration_runs(with_rows, with_script, reopen):
    raw(with_rows, "ALTER TABLE memory_jobs DROP COLUMN failure")
    with pytest.raises(SchemaWrong, match="column failure is missing"):
        reopen(with_script(ADD))
    assert raw(with_rows, "SELECT name FROM schema_migration") == [("0001_initial",)]


def test_a_history_that_forgot_a_migration_is_refused(with_rows, with_script, reopen):
    raw(with_rows, "ALTER TABLE memory_jobs ADD COLUMN mood TEXT")
    with pytest.raises(SchemaWrong, match="table memory_jobs, column mood is there already"):
        reopen(with_script(ADD))


def test_a_history_that_is_missing_altogether_is_refused(with_rows, reopen):
    raw(with_rows, "DROP TABLE schema_migration")
    with pytest.raises(SchemaWrong, match="is there already"):
        reopen()
    assert raw(with_rows, "SELECT count(*) FROM memory_stage1_outputs") == [(300,)]


def test_a_newer_database_is_only_read_and_says_why(with_rows, with_script, reopen, opened, clock):
    reopen(with_script(ADD))
    older = opened(open_memory, "memory.db")
    assert older.read_only
    assert "newer codexmem (0002_next)" in older.notices[0]
    jobs = Jobs(older, clock)
    assert len(jobs.outputs()) == 300
    with pytest.raises(SchemaNewer, match="newer codexmem"):
        jobs.enqueue_consolidation(1)
    with older.unit(), pytest.raises(StoreError, match="cannot be written"), older.unit():
        older.execute("DELETE FROM memory_stage1_outputs")


# --- damage


def test_a_damaged_header_is_set_aside_whole_and_memory_keeps_running(
    home, with_rows, reopen, opened, clock, candidate
):
    zero(with_rows, 0, 101)
    with open(with_rows, "rb") as file:
        damaged = file.read()
    database = opened(open_memory, "memory.db")
    (aside,) = of_kind(home, ".corrupt-")
    assert aside == "memory.db.corrupt-20260101T000000Z"
    assert aside in database.notices[0]
    assert (home / aside).read_bytes() == damaged
    claims = Jobs(database, clock).claim_extractions([candidate()], limit=1, running_cap=1, worker="w").claims
    assert len(claims) == 1
    database.close()
    assert reopen() == ()


def test_a_page_of_zeros_in_the_middle_is_found_when_the_file_is_opened(home, with_rows, reopen):
    zero(with_rows, os.path.getsize(with_rows) // 2 // 4_096 * 4_096, 4_096)
    assert "was damaged" in reopen()[0]
    assert len([name for name in of_kind(home, ".corrupt-") if not name.endswith(("-shm", "-wal"))]) == 1
    ((saved,),) = raw(with_rows, "SELECT count(*) FROM memory_stage1_outputs")
    assert 0 < saved < 300, "what stands on other pages is carried over"


def test_damage_met_in_the_middle_of_work_is_told_and_set_aside_at_the_next_opening(
    home, with_rows, opened, clock, reopen, monkeypatch
):
    monkeypatch.setattr(damage_module, "SMALL", 0)  # as a file too large to be checked each time
    zero(with_rows, os.path.getsize(with_rows) // 2 // 4_096 * 4_096, 4_096)
    database = opened(open_memory, "memory.db")
    assert database.notices == ()
    with pytest.raises(DatabaseDamaged, match="is damaged"):
        Jobs(database, clock).outputs()
    assert not of_kind(home, ".corrupt-"), "a file in use was renamed"
    database.close()
    assert "was damaged" in reopen()[0]
    assert reopen() == ()


def test_a_large_file_that_was_not_closed_properly_is_checked(home, with_rows, start, clock, reopen, monkeypatch):
    monkeypatch.setattr(damage_module, "SMALL", 0)
    process = start("hold_claims.py", sessions=1, now_ms=clock.ms)
    process.stdout.readline()
    process.kill()
    process.wait()
    assert os.path.getsize(with_rows + "-wal") > 0
    zero(with_rows, os.path.getsize(with_rows) // 2 // 4_096 * 4_096, 4_096)
    assert "was damaged" in reopen()[0]


def test_a_file_that_others_have_open_is_never_set_aside(home, with_rows, opened, reopen):
    opened(open_memory, "memory.db")
    zero(with_rows, 0, 101)
    with pytest.raises(DatabaseDamaged):
        reopen()
    assert not of_kind(home, ".corrupt-")


def test_an_empty_file_is_begun_anew_and_told(path, reopen):
    with open(path, "wb"):
        pass
    assert "0 bytes" in reopen()[0]
    assert reopen() == ()


def test_a_write_ahead_log_without_its_database_is_set_aside(home, path, reopen):
    with open(path + "-wal", "wb") as file:
        file.write(b"\x37\x7f\x06\x82" + b"\1" * 5_000)
    assert "write-ahead log" in reopen()[0]
    (aside,) = of_kind(home, ".corrupt-")
    assert aside.endswith("Z-wal")
    assert reopen() == ()


def test_two_files_damaged_in_one_second_are_both_kept(home, path, reopen):
    for _ in range(2):
        with open(path, "wb") as file:
            file.write(b"rubbish" * 1_000)
        reopen()
    assert of_kind(home, ".corrupt-") == ["memory.db.corrupt-20260101T000000Z", "memory.db.corrupt-20260101T000000Z-2"]


def test_modes_and_own_sessions_are_saved_from_a_damaged_catalogue(home, opened, clock, session):
    with open_catalogue(str(home / "catalog.db"), backups=str(home / "b"), clock=clock) as database:
        catalogue = Catalogue(database, clock)
        catalogue.set_mode("codex", "private", "disabled")
        catalogue.register_own("codex", "ours")
        catalogue.record_sessions(session(f"s{n}", cwd="x" * 500) for n in range(400))
        with database.unit():
            page = database.execute("SELECT max(pageno) FROM dbstat WHERE name = 'sessions' AND pagetype = 'leaf'")
            number = page.fetchone()[0]
    zero(str(home / "catalog.db"), (number - 1) * 4_096, 4_096)
    again = Catalogue(opened(open_catalogue, "catalog.db"), clock)
    assert again.mode_of("codex", "private") == "disabled"
    assert again.is_own("codex", "ours")
    assert again.candidates() == []


def test_leftovers_of_a_creation_that_was_killed_are_removed(home, with_rows, reopen):
    (home / "memory.db.fresh-0").write_bytes(b"half")
    reopen()
    assert not of_kind(home, ".fresh-")
