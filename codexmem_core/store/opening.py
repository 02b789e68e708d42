"""From a path to a file that is whole, has the current tables, and may be used."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_core.safety.instants import instant
from codexmem_core.store.damage import damage, salvage, set_aside
from codexmem_core.store.errors import DatabaseBusy, SchemaWrong
from codexmem_core.store.migrating import back_up, described, migrate, synchronised
from codexmem_core.store.schema import Columns, Schema, applied, columns, missing

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Clock

    from codexmem_core.store.locks import UseLock

WAIT_S = 30.0
"""Longest wait for other users of the file, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How a file was found."""

    notices: tuple[str, ...] = ()
    newer: str = ""
    """Why the file may only be read; empty when it may be written."""


def prepared(path: str, schema: Schema, wanted: Columns, use: UseLock, *, backups: str, clock: Clock) -> Opened:
    """Check, repair and migrate the file when no one else uses it, else find it ready; ends as one of its users.

    Raises SchemaWrong, MigrationFailed, DatabaseBusy, OSError, sqlite3.Error.
    """
    until = time.monotonic() + WAIT_S
    while True:
        if use.alone():
            opened = _alone(path, schema, wanted, use, backups=backups, clock=clock)
            use.wait_shared()
            return opened
        if use.share():
            newer, pending = _state(path, schema, wanted)
            if not pending:
                return Opened(newer=newer)
            use.release()  # an older version has it open, or it was removed: become the only user and see
        if time.monotonic() >= until:
            raise DatabaseBusy(
                f"{path} is in use by another version of codexmem: end its processes (codexmem worker --stop), then run"
                " again"
            )
        time.sleep(0.02)


def _alone(path: str, schema: Schema, wanted: Columns, use: UseLock, *, backups: str, clock: Clock) -> Opened:
    _remove_drafts(path)
    notices: list[str] = []
    problem = damage(path, thorough=os.path.exists(use.damage_mark))
    if problem:
        draft, saved = _drafted(path, schema)  # first, so that a full disk leaves everything as it was
        aside = set_aside(path, clock.now_ms())
        _put_in_place(draft, path)
        kept = f" {saved} rows of what you asked for were saved." if saved else ""
        notices.append(f"{path} was damaged: {problem}. It was set aside as {aside} and begun anew.{kept}")
    elif not os.path.exists(path):
        draft, _ = _drafted(path, schema)
        _put_in_place(draft, path)
    with suppress(FileNotFoundError):
        os.unlink(use.damage_mark)
    newer, pending = _state(path, schema, wanted)
    if pending:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True)) as connection:
            last = (applied(connection) or ("empty",))[-1]
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(clock.now_ms() / 1000))
        backup = back_up(path, backups, f"{last}.{stamp}")
        migrate(path, schema, pending)
        notices.append(f"{path} was brought up to date ({', '.join(pending)}); the old state is in {backup}")
        newer, pending = _state(path, schema, wanted)
    if not newer:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # a backup that the user put back is not in this mode
    return Opened(notices=tuple(notices), newer=newer)


def _state(path: str, schema: Schema, wanted: Columns) -> tuple[str, tuple[str, ...]]:
    """Why the file is newer than this version (or empty), and the migrations that it still needs."""
    if not os.path.exists(path):
        return "", schema.scripts()
    scripts = schema.scripts()
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=5)) as connection:
        done, there = applied(connection), columns(connection)
    unknown = [name for name in done if name not in scripts]
    pending = tuple(name for name in scripts if name not in done)
    if unknown:
        newer = f"{path} was written by a newer codexmem ({unknown[-1]}): it is only read. Update codexmem to write it."
    else:
        newer = ""
    gap = missing(wanted, there)
    if gap is not None and (unknown or not pending):
        told = "is missing, although its history says that " + (unknown or done)[-1] + " was applied"
        raise SchemaWrong(described(path, gap, told))
    return newer, () if unknown else pending


def _drafted(path: str, schema: Schema) -> tuple[str, int]:
    """A fresh file beside the path, whole, with what could be saved from a damaged one there; and how many rows."""
    draft = f"{path}.fresh-{uuid.uuid4().hex}"
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(draft)) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
        migrate(draft, schema, schema.scripts())
        saved = salvage(path, draft, schema) if os.path.exists(path) else 0
        synchronised(draft)
    except BaseException:
        _remove_drafts(path)
        raise
    return draft, saved


def _put_in_place(draft: str, path: str) -> None:
    label = os.path.basename(path)
    instant(f"rename:{label}:before")
    os.rename(draft, path)
    instant(f"rename:{label}:after")
    synchronised(os.path.dirname(path))


def _remove_drafts(path: str) -> None:
    folder, name = os.path.split(path)
    for entry in os.listdir(folder):
        if entry.startswith(f"{name}.fresh-"):
            os.unlink(os.path.join(folder, entry))
