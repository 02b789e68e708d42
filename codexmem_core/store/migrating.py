"""Runs pending migrations: after a backup, in one transaction, counting rows before and after each script."""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from peewee import SqliteDatabase

from codexmem_core.safety.instants import instant
from codexmem_core.store.errors import MigrationFailed, SchemaWrong, explained
from codexmem_core.store.schema import HISTORY, Columns, Schema, applied, columns, missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def migrate(path: str, schema: Schema, pending: Sequence[str]) -> None:
    """Apply the pending scripts to the file, all or none.

    Raises SchemaWrong when the tables are not what the history says, MigrationFailed when a script fails or changes
    the number of rows of a table that it does not name in ``changes_rows``. In both cases nothing has changed.
    """
    from playhouse.migrations import Runner  # costs more than opening a database does, and is needed once

    database: Any = SqliteDatabase(
        f"file:{quote(path)}?mode=rw", uri=True, timeout=30, pragmas={"busy_timeout": 30_000}
    )
    with database.connection_context():
        connection: sqlite3.Connection = database.connection()
        runner = Runner(database, schema.migrations, table_name=HISTORY)
        scripts = {script.name: script for script in runner.migrations()}
        try:
            _refuse_untrue_history(path, schema, connection, pending)
            with database.atomic("EXCLUSIVE"):
                for name in pending:
                    before = row_counts(connection)
                    runner.up(name)
                    _refuse_lost_rows(name, before, row_counts(connection), _may_change(scripts[name].load()))
                instant("commit:migration:before")
        except MigrationFailed as error:
            raise MigrationFailed(f"{path}: {error}; the file is as it was") from error
        except SchemaWrong:
            raise
        except Exception as error:  # a script may raise anything
            failed = MigrationFailed(f"{path}: a migration failed ({error}); the file is as it was")
            raise explained(error, path) or failed from error
        instant("commit:migration:after")


def back_up(path: str, backups: str, label: str) -> str:
    """A whole copy of the database below ``backups``, through SQLite's backup interface; returns its path."""
    os.makedirs(backups, mode=0o700, exist_ok=True)
    target = os.path.join(backups, f"{os.path.basename(path)}.{label}")
    draft = f"{target}.{uuid.uuid4().hex}"
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        synchronised(draft)
        instant("rename:backup:before")
        os.replace(draft, target)
        instant("rename:backup:after")
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    synchronised(backups)
    return target


def synchronised(path: str) -> None:
    """Flush a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Rows of every table, the history aside."""
    counts = {}
    for table in columns(connection):
        quoted = table.replace('"', '""')
        counts[table] = int(connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608 - quoted
    return counts


def expected(schema: Schema, names: Sequence[str]) -> Columns:
    """Tables and columns after exactly these migrations, found by running them on an empty database."""
    from playhouse.migrations import Runner

    database: Any = SqliteDatabase(":memory:")
    with database.connection_context():
        if names:
            Runner(database, schema.migrations, table_name=HISTORY).up(names[-1])
        return columns(database.connection())


def _refuse_untrue_history(path: str, schema: Schema, connection: sqlite3.Connection, pending: Sequence[str]) -> None:
    done, there = applied(connection), columns(connection)
    so_far, last = expected(schema, done), (done[-1] if done else "none")
    gap = missing(so_far, there)
    if gap is not None:
        raise SchemaWrong(described(path, gap, f"is missing, although its history says that {last} was applied"))
    for table, names in expected(schema, pending).items():
        already = sorted((names & there.get(table, frozenset())) - so_far.get(table, frozenset()))
        if already:
            told = f"is there already, although its history says that {pending[0]} was not applied"
            raise SchemaWrong(described(path, (table, already[0]), told))


def described(path: str, place: tuple[str, str], what: str) -> str:
    """A message that names the file, the table, the column, and what to do."""
    table, column = place
    where = f"table {table}, column {column}" if column else f"table {table}"
    return f"{path}: {where} {what}. Nothing was changed; put a backup in its place, or move the file away."


def _may_change(script: Any) -> frozenset[str]:
    if not getattr(script, "atomic", True):
        raise MigrationFailed(f"{script.__name__} wants to run outside of a transaction")
    return frozenset(getattr(script, "changes_rows", ()))


def _refuse_lost_rows(
    name: str, before: Mapping[str, int], after: Mapping[str, int], may_change: frozenset[str]
) -> None:
    for table, count in before.items():
        if table not in may_change and after.get(table) != count:
            raise MigrationFailed(f"{name} left {after.get(table, 'no')} of {count} rows in {table}")
