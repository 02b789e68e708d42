"""Damaged database files: found, set aside whole, and replaced by a fresh one."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_core.safety.instants import instant
from codexmem_core.store.errors import BUSY, CORRUPT, NOT_A_DATABASE, primary_code
from codexmem_core.store.migrating import synchronised

if TYPE_CHECKING:
    from codexmem_core.store.schema import Schema

SMALL = 8 * 1024 * 1024
"""Bytes up to which a file is checked whenever one process opens it alone: measured, 0.6 ms a MiB."""


def damage(path: str, *, thorough: bool) -> str:
    """What is wrong with the file, or empty. Only for a process that uses it alone.

    ``thorough``: indexes are compared with their tables, and nothing is skipped because of its size. Without it large
    files are checked when they were not closed properly, which the write-ahead log tells that a close removes.
    """
    left_over = _size(path + "-wal") > 0
    if not os.path.exists(path):
        return "its write-ahead log is there without it" if left_over else ""
    if os.path.getsize(path) == 0:
        return "it is empty (0 bytes)"
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=5)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not (thorough or left_over or os.path.getsize(path) <= SMALL):
                return ""
            check = "PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)"
            verdict = str(connection.execute(check).fetchone()[0])
    except sqlite3.DatabaseError as error:
        if primary_code(error) in (CORRUPT, NOT_A_DATABASE):
            return str(error)
        if primary_code(error) == BUSY:
            return ""  # some other program reads it; what it cannot open will be found in use
        raise
    return "" if verdict == "ok" else verdict.replace("\n", " ").strip()


def set_aside(path: str, now_ms: int) -> str:
    """Rename file, log and index to ``<path>.corrupt-<UTC time>``; returns that path. Nothing is deleted."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms / 1000))
    aside, count = f"{path}.corrupt-{stamp}", 1
    while any(os.path.lexists(aside + end) for end in ("", "-wal", "-shm")):
        count += 1
        aside = f"{path}.corrupt-{stamp}-{count}"
    instant("rename:quarantine:before")
    for end in ("-wal", "-shm", ""):  # the log goes first: it must never meet another file
        with suppress(FileNotFoundError):
            os.rename(path + end, aside + end)
    instant("rename:quarantine:after")
    synchronised(os.path.dirname(path))
    return aside


def salvage(damaged: str, fresh: str, schema: Schema) -> int:
    """Copy readable rows of the tables that the schema names; returns how many. Never raises for what is damaged."""
    saved = 0
    for table in schema.salvaged:
        try:
            with (
                closing(sqlite3.connect(f"file:{quote(damaged)}?mode=ro", uri=True)) as old,
                closing(sqlite3.connect(f"file:{quote(fresh)}?mode=rw", uri=True)) as new,
            ):
                new.execute("PRAGMA synchronous = NORMAL")
                saved += _copied(old, new, table)
        except sqlite3.DatabaseError:
            continue
    return saved


def _copied(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    names = [name for (name,) in new.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    there = {name for (name,) in old.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    shared = ", ".join(name for name in names if name in there)
    if not shared:
        return 0
    marks = ", ".join("?" for name in names if name in there)
    saved = 0
    with suppress(sqlite3.DatabaseError):
        for row in old.execute(f"SELECT {shared} FROM {table}"):  # noqa: S608 - names from the schema
            saved += new.execute(f"INSERT OR IGNORE INTO {table} ({shared}) VALUES ({marks})", row).rowcount  # noqa: S608
    new.commit()
    return saved


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0
