"""Memories' databases found by what is in them, whether or not their plugin is installed now."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from urllib.parse import quote

from codexmem_core.store.errors import BUSY, StoreError, explained, primary_code

_MEMORY = {"memory_stage1_outputs", "memory_jobs"}
_WAIT_S = 5.0


def memory_databases(home: str) -> list[str]:
    """Paths of all memories' databases directly in the home, sorted; what cannot be read is none."""
    try:
        names = sorted(name for name in os.listdir(home) if name.endswith(".db"))
    except FileNotFoundError:
        return []
    return [path for name in names if _is_memory(path := os.path.join(home, name))]


def compact(path: str) -> bool:
    """Write the file anew, so that what was deleted is in no free page and no log. False when others use it now."""
    until = time.monotonic() + _WAIT_S
    while True:
        busy = 1
        try:
            with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=_WAIT_S)) as connection:
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if primary_code(error) != BUSY:
                raise explained(error, path) or StoreError(f"{path}: {error}") from error
        if not busy:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.05)


def _is_memory(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return False
    return tables >= _MEMORY
