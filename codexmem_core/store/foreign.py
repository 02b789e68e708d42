"""Databases of other tools, read out of a copy: even opening one in place may write beside it."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from codexmem_core.safety.leftovers import is_running
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PARTS = ("", "-wal")
"""A database and what was written last; the shared-memory file beside them is made anew from these."""
_ATTEMPTS = 5
_FOLDER = re.compile(r"adopt-(\d+)-")
"""Of a copy, with the process that made it."""

Row = dict[str, object]


class ForeignDatabase:
    """What a copy of another tool's database holds."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def has(self, table: str) -> bool:
        """Whether there is such a table."""
        found = self._connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        return found.fetchone() is not None

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a table; None for columns that this version of it does not have, nothing without the table."""
        if not self.has(table):
            return
        names = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        chosen = ", ".join(f'"{name}"' if name in names else "NULL" for name in columns)
        for row in self._connection.execute(f'SELECT {chosen} FROM "{table}"'):  # noqa: S608 - our own names
            yield dict(zip(columns, row, strict=True))


@contextmanager
def foreign_database(path: str, place: str) -> Iterator[ForeignDatabase]:
    """A copy of the database in ``path``, made below ``place`` and removed at the end.

    Raises StoreError when it cannot be copied or is damaged. A tool that writes meanwhile makes the copy begin anew.
    """
    os.makedirs(place, mode=0o700, exist_ok=True)
    _sweep(place)
    with tempfile.TemporaryDirectory(dir=place, prefix=f"adopt-{os.getpid()}-") as folder:
        copy = os.path.join(folder, "copy.sqlite")
        try:
            _copy(path, copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = _text
                answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if answer != "ok":
                    raise StoreError(f"{path} is damaged: {answer}")
                yield ForeignDatabase(connection)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error


def _text(stored: bytes) -> str:
    """Bytes that are no UTF-8 replaced: one such text must not keep all others from being read."""
    return stored.decode("utf-8", "replace")


def _sweep(place: str) -> None:
    """Remove copies of processes that were killed."""
    for name in os.listdir(place):
        made = _FOLDER.match(name)
        if made is not None and not is_running(int(made[1])):
            shutil.rmtree(os.path.join(place, name), ignore_errors=True)


def _copy(path: str, copy: str) -> None:
    """Both files as they were at one time, judged by their stats. Raises OSError when they never stand still."""
    for _ in range(_ATTEMPTS):
        before = _stats(path)
        for part in _PARTS:
            if os.path.exists(path + part):
                shutil.copyfile(path + part, copy + part)
            elif os.path.exists(copy + part):
                os.unlink(copy + part)
        if _stats(path) == before:
            return
    raise OSError(f"another program writes to {path} all the time; try again when it has ended")


def _stats(path: str) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for part in _PARTS:
        try:
            stat = os.stat(path + part)
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((stat.st_mtime_ns, stat.st_size))
    return found
