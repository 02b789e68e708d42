"""Git's index as a cache of file stats: what it says saves reading files, and losing it costs only time."""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING

from dulwich.index import Index, IndexEntry, write_index_dict
from dulwich.pack import SHA1Writer

from codexmem_core.consolidate.repository import FILE_MODE
from codexmem_core.safety.files import atomic_write
from codexmem_core.safety.instants import instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dulwich.objects import ObjectID

_LOW = 0xFFFFFFFF
# Two writes within one tick of the kernel's clock leave the same times. A tick is 4 to 10 ms.
_TICK_NS = 100_000_000


class StatCache:
    """Path to blob for files whose stats are still those that were recorded."""

    def __init__(self, git: str) -> None:
        self._entries: Mapping[bytes, object] = {}
        path = os.path.join(git, "index")
        try:
            written_ns = os.stat(path).st_mtime_ns
            self._entries = dict(Index(path).items())
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - only a cache: damaged, missing or of a kind the library cannot read
            written_ns = 0
        self._written_ns = written_ns

    def blob(self, path: str, found: os.stat_result) -> ObjectID | None:
        """The blob that the file still holds, or None when it must be read to know."""
        entry = self._entries.get(os.fsencode(path))
        # A file written after the index within the same tick would look unchanged ("racily clean", as git calls it).
        if not isinstance(entry, IndexEntry) or found.st_mtime_ns >= self._written_ns:
            return None
        recorded = (entry.ctime, entry.mtime, entry.ino, entry.size)
        return entry.sha if recorded == _recorded(found) else None


def write_stat_cache(
    git: str, files: Mapping[str, ObjectID], stats: Mapping[str, os.stat_result], started_ns: int
) -> None:
    """Replace the index. ``stats`` were taken after ``started_ns`` (file-system time) and before the files were read.

    A file without stats, or changed too shortly before to be sure, is recorded as one that must be read.
    """
    entries = {}
    for path, blob in files.items():
        found = stats.get(path)
        certain = found is not None and max(found.st_mtime_ns, found.st_ctime_ns) < started_ns - _TICK_NS
        entries[os.fsencode(path)] = _entry(blob, found, known=certain)
    buffer = BytesIO()
    writer = SHA1Writer(buffer)
    write_index_dict(writer, entries, version=2)
    writer.write_sha()
    instant("baseline:index:before")
    atomic_write(os.path.join(git, "index"), buffer.getvalue(), "baseline")
    instant("baseline:index:after")


def _entry(blob: ObjectID, found: os.stat_result | None, *, known: bool) -> IndexEntry:
    if found is None:
        return IndexEntry((0, 0), (0, 0), 0, 0, FILE_MODE, 0, 0, 0, blob)
    ctime, mtime, inode, size = _recorded(found)
    if not known:
        inode = 0  # No file has this one, so that such an entry never matches; git reads the file then as well.
    owner, group = found.st_uid & _LOW, found.st_gid & _LOW
    return IndexEntry(ctime, mtime, found.st_dev & _LOW, inode, FILE_MODE, owner, group, size, blob)


def _recorded(found: os.stat_result) -> tuple[tuple[int, int], tuple[int, int], int, int]:
    """As the index keeps it: times in seconds and nanoseconds, and of all numbers the low 32 bits."""
    return _time(found.st_ctime_ns), _time(found.st_mtime_ns), found.st_ino & _LOW, found.st_size & _LOW


def _time(ns: int) -> tuple[int, int]:
    return (ns // 1_000_000_000) & _LOW, ns % 1_000_000_000
