"""One SQLite file: connections for a unit of work, short write transactions, consistent reads."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from peewee import PeeweeException, SqliteDatabase
from playhouse.pool import PooledSqliteDatabase

from codexmem_core.safety.instants import instant
from codexmem_core.store.errors import BUSY, DatabaseDamaged, SchemaNewer, StoreError, explained, primary_code
from codexmem_core.store.locks import UseLock
from codexmem_core.store.opening import WAIT_S, Opened, prepared
from codexmem_core.store.schema import CATALOGUE, MEMORY, Schema, declared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from codexmem_hookspecs.services import Clock

BUSY_TIMEOUT_MS = 5_000
"""SQLite's own wait for anything but the beginning of a write transaction (Codex 0.171)."""


class Database:
    """An opened file. Share it between threads; each unit of work has a connection to itself.

    Connections wait for the next unit in a pool: opening one costs more than a short transaction, and the last to
    close would fold the write-ahead log in, with its disk waits. There are as many as there ever were units at once,
    and none after ``close``.

    Every error of the file is a StoreError whose message says what to do.
    """

    def __init__(self, path: str, schema: Schema, use: UseLock, opened: Opened) -> None:
        self.path = path
        self.read_only = bool(opened.newer)
        self.notices = (*opened.notices, *((opened.newer,) if opened.newer else ()))
        self._newer = opened.newer
        self._use = use
        self._closed = False
        self._thread = threading.local()
        self._peewee: Any = PooledSqliteDatabase(
            f"file:{quote(path)}?mode={'ro' if self.read_only else 'rw'}",
            max_connections=0,
            uri=True,
            autoconnect=False,
            check_same_thread=False,
            pragmas={"synchronous": schema.synchronous, "busy_timeout": BUSY_TIMEOUT_MS},
        )
        self.tables = schema.tables(self._peewee)
        with self.unit():
            self.execute("SELECT count(*) FROM sqlite_master").fetchone()

    @contextmanager
    def unit(self) -> Iterator[None]:
        """One connection for this thread until the outermost unit ends. Transactions and reads inside share it."""
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        try:
            with self._peewee.connection_context():
                yield
        except (sqlite3.Error, PeeweeException) as error:
            told = explained(error, self.path)
            if told is None:
                raise
            if isinstance(told, DatabaseDamaged):
                self._mark_damaged()
            raise told from error

    @contextmanager
    def transaction(self, label: str) -> Iterator[None]:
        """A write transaction (BEGIN IMMEDIATE); inside another it is part of that. Rolled back by any exception.

        Waits for other writers in short random steps, at most 30 s, then raises DatabaseBusy: SQLite's own wait is
        unfair and left processes waiting for seconds. Raises SchemaNewer when the file may only be read.
        """
        if self.read_only:
            raise SchemaNewer(self._newer)
        if getattr(self._thread, "reading", False):
            raise RuntimeError("a write transaction cannot begin inside a consistent read")
        with self.unit():
            connection = self._connection()
            if connection.in_transaction:
                yield
                return
            _begin(connection)
            try:
                yield
                instant(f"commit:{label}:before")
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            instant(f"commit:{label}:after")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside comes from one state of the file, whatever other processes commit meanwhile."""
        with self.unit():
            connection = self._connection()
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN")
            self._thread.reading = True
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # this is what fixes the state
                yield
            finally:
                self._thread.reading = False
                _roll_back(connection)

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement on the unit's connection without peewee between, for what must be fast."""
        return self._connection().execute(statement, parameters)

    def execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once a row."""
        self._connection().executemany(statement, rows)

    def close(self) -> None:
        """Close for good; units of other threads must have ended."""
        if not self._closed:
            self._closed = True
            self._peewee.close_idle()
            self._use.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._peewee.connection()
        return connection

    def _mark_damaged(self) -> None:
        with suppress(OSError):
            os.close(os.open(self._use.damage_mark, os.O_WRONLY | os.O_CREAT, 0o600))


def open_database(path: str, schema: Schema, *, backups: str, clock: Clock) -> Database:
    """Open the file, making it when there is none.

    A damaged file is set aside and begun anew, an older one is backed up into ``backups`` and migrated, one that a
    newer version wrote is opened for reading; ``notices`` of the result tell the user of all three. Raises a StoreError
    for anything else: tables that are not what their history says, a failed migration, no permission, a full disk.
    """
    path = os.path.abspath(path)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        use = UseLock(path)
    except OSError as error:
        raise StoreError(f"cannot open {path} ({error}): check that its folder may be written") from error
    try:
        wanted = declared(schema.tables(SqliteDatabase(None)))
        opened = prepared(path, schema, wanted, use, backups=backups, clock=clock)
        return Database(path, schema, use, opened)
    except (sqlite3.Error, PeeweeException, OSError) as error:
        use.close()
        raise explained(error, path) or StoreError(f"cannot open {path} ({error})") from error
    except BaseException:
        use.close()
        raise


def open_memory(path: str, *, backups: str, clock: Clock) -> Database:
    """A memory's database: notes and jobs."""
    return open_database(path, MEMORY, backups=backups, clock=clock)


def open_catalogue(path: str, *, backups: str, clock: Clock) -> Database:
    """The catalogue that all memories share."""
    return open_database(path, CATALOGUE, backups=backups, clock=clock)


def _begin(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + WAIT_S
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if primary_code(error) != BUSY or time.monotonic() >= until:
                    raise
                time.sleep(random.uniform(0.000_3, 0.004))  # noqa: S311 - spreads processes, keeps no secret
            else:
                return
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):  # SQLite has rolled back by itself when the disk was full
            connection.execute("ROLLBACK")
