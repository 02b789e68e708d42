"""What can go wrong with a database, each with a message that a user can act on."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

BUSY, READ_ONLY, IO, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE = 5, 8, 10, 11, 13, 14, 26
"""Primary result codes of SQLite."""


class StoreError(Exception):
    """A database cannot do what was asked. Whatever was begun has been rolled back."""


class DatabaseBusy(StoreError):  # noqa: N818 - a state that callers handle; the names of its siblings say what is so
    """Other processes held the database for longer than the wait."""


class DatabaseDamaged(StoreError):  # noqa: N818 - see DatabaseBusy
    """The file is not whole. It is set aside when it is next opened by one process alone."""


class DatabaseUnwritable(StoreError):  # noqa: N818 - see DatabaseBusy
    """Nothing can be written: the disk is full, a limit is reached, or the file is read-only."""


class SchemaNewer(StoreError):  # noqa: N818 - see DatabaseBusy
    """A newer version wrote the database, so that this one only reads it."""


class SchemaWrong(StoreError):  # noqa: N818 - see DatabaseBusy
    """The tables are not what the history of migrations says. Names file, table and column."""


class MigrationFailed(StoreError):  # noqa: N818 - see DatabaseBusy
    """A migration was undone; the file is as it was before."""


def primary_code(error: BaseException) -> int:
    """SQLite's primary result code behind an exception, peewee's wrapping or not; 0 when there is none."""
    seen: BaseException | None = error
    while seen is not None:
        for candidate in (seen, *seen.args):
            if isinstance(candidate, sqlite3.Error):
                with suppress(AttributeError):
                    return int(candidate.sqlite_errorcode) & 0xFF
        seen = seen.__cause__
    return 0


def explained(error: BaseException, path: str) -> StoreError | None:
    """The same error in words, or None when it is a mistake in the statement itself."""
    code = primary_code(error)
    if code in (CORRUPT, NOT_A_DATABASE) or str(error).endswith("file is not a database"):
        return DatabaseDamaged(
            f"{path} is damaged ({error}); it is set aside and begun anew when codexmem next opens it alone"
        )
    if code in (FULL, IO):
        return DatabaseUnwritable(
            f"cannot write {path} ({error}): free some disk space or check the disk, then run again"
        )
    if code == READ_ONLY:
        return DatabaseUnwritable(f"{path} cannot be written ({error}): check the permissions of file and folder")
    if code == BUSY:
        return DatabaseBusy(f"{path} was kept locked by another process ({error}): run again when it has ended")
    if code == CANNOT_OPEN:
        return StoreError(f"cannot open {path} ({error}): check that the folder exists and may be written")
    return None
