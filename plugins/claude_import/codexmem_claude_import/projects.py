"""Claude Code's projects on disk: one scan gives their memories and their transcripts (Claude Code 2.1).

A project's folder is ``projects/<key>/``: transcripts of the sessions that began in one directory, and in ``memory/``
what Claude Code remembers of one repository. Both names come from paths, but lead to none: see :mod:`scope`.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Folder
    from codexmem_hookspecs.values.capture import FileStat

STORE = "projects"
MEMORY = "memory"
TRANSCRIPTS = (".jsonl", ".jsonl.zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder of memories."""

    folder: Folder
    under: str
    """Where in it they lie."""
    files: tuple[str, ...]
    """Paths below that, sorted."""

    def read(self, path: str, limit_bytes: int) -> bytes:
        """One file's content. Raises FileNotFoundError, Refused and OSError."""
        return self.folder.read(f"{self.under}/{path}" if self.under else path, limit_bytes)


@dataclass(slots=True, kw_only=True)
class Project:
    """One folder below ``projects/``."""

    key: str
    memories: list[str] = field(default_factory=list)
    """Markdown files, as paths below ``memory/``."""
    transcripts: list[FileStat] = field(default_factory=list)
    """Directly in the project's folder, newest first."""

    @property
    def touched_ns(self) -> int:
        """When the newest transcript last changed; 0 without any."""
        return self.transcripts[0].mtime_ns if self.transcripts else 0


def read_projects(home: Folder) -> Mapping[str, Project]:
    """By key, sorted. Links are not followed, and what has a leading dot is left out.

    Raises OSError when a folder that may hold memories cannot be read: what was not seen must not look deleted.
    """
    trouble: list[tuple[str, OSError]] = []
    found: dict[str, Project] = {}
    for stat in _scanned(home, trouble):
        _, _, inside = stat.path.partition("/")
        key, _, path = inside.partition("/")
        if not path:
            continue
        project = found.setdefault(key, Project(key=key))
        if path.startswith(f"{MEMORY}/") and is_memory(path):
            project.memories.append(path.removeprefix(f"{MEMORY}/"))
        elif "/" not in path and path.endswith(TRANSCRIPTS):
            project.transcripts.append(stat)
    for path, error in trouble:
        if matters(path):
            raise OSError(error.errno or errno.EIO, f"{path} cannot be read ({error.strerror or error})")
    for project in found.values():
        project.memories.sort()
        project.transcripts.sort(key=lambda stat: (stat.mtime_ns, stat.path), reverse=True)
    return {key: found[key] for key in sorted(found)}


def _scanned(home: Folder, trouble: list[tuple[str, OSError]]) -> Iterator[FileStat]:
    try:
        yield from home.scan(STORE, on_error=lambda path, error: trouble.append((path, error)))
    except FileNotFoundError:
        return


def is_memory(path: str) -> bool:
    """Whether a file is Markdown."""
    return path.lower().endswith(".md")


def matters(path: str) -> bool:
    """Whether memories may lie below a folder, or it is one: ``projects/<key>/memory/…`` and everything above."""
    parts = path.strip("/").split("/")
    return parts[0] == STORE and (len(parts) <= len((STORE, "key")) or parts[2] == MEMORY)


def is_safe(key: str) -> bool:
    """Whether a key may name a folder of ours."""
    return bool(key) and key[0] != "." and key.isprintable() and not set(key) & set("/\\")
