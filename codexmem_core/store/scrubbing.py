"""Takes sessions and texts out of a database file, whatever its kind and age, so that no byte of them is left in it.

Works by what is really in the file, for older copies have other tables than the ones that are in use.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from codexmem_core.safety.instants import instant
from codexmem_core.store.errors import StoreError, explained
from codexmem_core.store.rules import job_key
from codexmem_core.store.schema import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_WAIT_S = 5.0
_TOMBSTONES = frozenset({"forgotten_sessions", "forgotten_texts"})
_STAYS = frozenset({*_TOMBSTONES, "memory_session_meta", "own_sessions", "session_locators", HISTORY})
"""Tables whose rows of a session stay: what the user said of it, and where its host keeps it."""
_NO_WORDS = frozenset({*_TOMBSTONES, HISTORY, "marks", "forget_pending"})
"""Tables without words of anybody (marks hold numbers and hosts' own places), and what plugins have still to forget,
which they must be told."""
_PLACES = frozenset({"locator", "host", "id", "session_id", "stamp", "revision", "plugin", "event_id", "job_key"})
"""Columns that name things; a text inside is the host's own and comes back with it."""


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    keys: frozenset[str]

    @property
    def quoted(self) -> str:
        return _quoted(self.name)


def scrub_sessions(path: str, keys: Iterable[tuple[str, str]]) -> Mapping[str, int]:
    """Delete every row about these sessions; of the sessions table only what says where they are stays.

    Returns table → rows. Raises a StoreError.
    """
    wanted = list(keys)
    with _Changing(path) as (connection, told):
        for table in _tables(connection):
            for host, session in wanted:
                for where, parameters in _about(table, host, session):
                    _delete(connection, table, where, parameters, told)
        if any(table.name == "sessions" for table in _tables(connection)):
            connection.executemany(
                "UPDATE sessions SET cwd = '', source = '', forked_from = '' WHERE host = ? AND id = ?", wanted
            )
    return told


def scrub_text(path: str, holds: Callable[[str], bool], without: Callable[[str], str]) -> Mapping[str, int]:
    """Let every text of the file be as ``without`` gives it; a row that is known by such a text goes.

    Returns table → rows. Raises a StoreError.
    """
    with _Changing(path) as (connection, told):
        for table in _tables(connection):
            if table.name in _NO_WORDS:
                continue
            for column in table.columns:
                if column in _PLACES:
                    continue
                rows = connection.execute(f"SELECT rowid, {_quoted(column)} FROM {table.quoted}").fetchall()  # noqa: S608
                for row, value in rows:
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                    if not isinstance(text, str) or not holds(text):
                        continue
                    told[table.name] += 1
                    if column in table.keys:
                        connection.execute(f"DELETE FROM {table.quoted} WHERE rowid = ?", (row,))  # noqa: S608
                        continue
                    new = without(text)
                    connection.execute(
                        f"UPDATE {table.quoted} SET {_quoted(column)} = ? WHERE rowid = ?",  # noqa: S608
                        (new.encode() if isinstance(value, bytes) else new, row),
                    )
    return told


def places_holding(path: str, holds: Callable[[str], bool]) -> list[str]:
    """Where the host keeps sessions whose place itself holds the text: nothing of ours, and it stays."""
    with closing(_opened(path)) as connection:
        tables = [table for table in _tables(connection) if table.name == "session_locators"]
        rows = connection.execute("SELECT locator FROM session_locators").fetchall() if tables else []
    return sorted({locator for (locator,) in rows if holds(locator)})


class _Changing:
    """One write transaction in which nothing deleted stays readable in its page."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection = _opened(path)
        self._told: Counter[str] = Counter()

    def __enter__(self) -> tuple[sqlite3.Connection, Counter[str]]:
        try:
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            self._connection.close()
            raise explained(error, self._path) or StoreError(f"{self._path}: {error}") from error
        return self._connection, self._told

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if error is not None:
                self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise explained(error, self._path) or StoreError(f"{self._path}: {error}") from error
                return
            instant("commit:forget:before")
            self._connection.execute("COMMIT")
            instant("commit:forget:after")
        finally:
            self._connection.close()


def _opened(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=_WAIT_S, isolation_level=None)


def _tables(connection: sqlite3.Connection) -> list[_Table]:
    found: dict[str, tuple[list[str], set[str]]] = {}
    for table, column, key in connection.execute(
        "SELECT m.name, c.name, c.pk FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ):
        names, keys = found.setdefault(table, ([], set()))
        names.append(column)
        if key:
            keys.add(column)
    return [_Table(name, tuple(names), frozenset(keys)) for name, (names, keys) in found.items()]


def _about(table: _Table, host: str, session: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Conditions for rows about a session."""
    has = set(table.columns)
    if table.name in _STAYS or table.name == "sessions":
        return
    if {"host", "session_id"} <= has:
        # Plugins may still have to hear that a session was deleted; that event holds nothing but its name.
        kept = " AND kind <> 'deleted'" if "kind" in has else ""
        yield f"host = ? AND session_id = ?{kept}", (host, session)
    if {"cited_host", "cited_session_id"} <= has:
        yield "cited_host = ? AND cited_session_id = ?", (host, session)
    if "job_key" in has:
        yield "job_key = ?", (job_key((host, session)),)
    if table.name == "marks":
        yield "key LIKE ? ESCAPE '\\'", ("%:" + _liked(f"{host}:{session}"),)
    if table.name == "notices":
        yield "text LIKE ? ESCAPE '\\'", ("%" + _liked(session) + "%",)


def _delete(
    connection: sqlite3.Connection, table: _Table, where: str, parameters: tuple[Any, ...], told: Counter[str]
) -> None:
    count = connection.execute(f"DELETE FROM {table.quoted} WHERE {where}", parameters).rowcount  # noqa: S608
    if count:
        told[table.name] += count


def _liked(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
