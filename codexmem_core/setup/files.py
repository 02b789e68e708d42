"""Files of hosts: read as they are, written in one step, kept as they were.

Users keep such files as links into a folder of their own, so links are followed: the file that is meant is written, and
the link stays.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.files import atomic_write
from codexmem_core.safety.leftovers import sweep_beside

if TYPE_CHECKING:
    from codexmem_hookspecs.values.setup import Edit

LIMIT_BYTES = 64 * 1024 * 1024
KEPT = 5
"""Copies of one file."""


class ChangedMeanwhileError(Exception):
    """A file is not any more what was shown."""


def read_file(path: str) -> bytes | None:
    """The content; None when there is no file. Raises Refused for what is no readable file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{path} is no regular file")
        if found.st_size > LIMIT_BYTES:
            raise Refused(f"{path} is larger than {LIMIT_BYTES} bytes")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def write_file(edit: Edit, backups: str, stamp_ms: int) -> str:
    """Make one edit; returns where the old content is kept, empty when there was none.

    Raises ChangedMeanwhileError when the file is not what was shown, OSError and Refused when it cannot be written.
    """
    if read_file(edit.path) != edit.before:
        raise ChangedMeanwhileError(f"{edit.path} has changed since it was shown")
    kept = _keep(edit.path, edit.before, backups, stamp_ms) if edit.before is not None else ""
    target, folder = os.path.realpath(edit.path), os.path.dirname(edit.path)
    if edit.after is None:
        os.unlink(target)
    else:
        if not os.path.islink(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.isdir(os.path.dirname(target)):  # a disk that is not there now
            raise Refused(f"{edit.path} is below a link to {os.path.dirname(target)}, which does not exist")
        sweep_beside(target)
        atomic_write(target, edit.after, "setup")
    return kept


def _keep(path: str, content: bytes, folder: str, stamp_ms: int) -> str:
    """A copy for the user, since the file is theirs; the oldest ones go."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = os.path.basename(path).lstrip(".")
    stamp = datetime.fromtimestamp(stamp_ms / 1_000, UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    copy = os.path.join(folder, f"{name}.{stamp}")
    atomic_write(copy, content, "backup")
    copies = sorted(other for other in os.listdir(folder) if other.startswith(f"{name}.2"))
    for old in copies[:-KEPT]:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, old))
    return copy
