"""What a new session is given: the memory's own words, redacted, fenced as reference, within the host's limit.

The same bytes for as long as the memory's files are the same, so that providers' prompt caches hold (OpenCode memory:
D1), and made anew only when the stat of a file that went into them has changed.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.readpath.fitting import fenced_within
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.values.consolidate import Memory

    from codexmem_core.plugins.stages import Stages

_SETTLED_NS = 100_000_000
"""A file that changed less than this before it was read may change again without a new stat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which memory's context, for whom."""

    plugin: str
    memory: Memory
    root: str
    tools: tuple[tuple[str, str], ...]
    """The memory tools that the session has, each with its name as the host shows it."""
    citations: bool
    """Whether it may be asked to cite what it used."""
    limit_bytes: int
    """The host's, 0 for none; what is over it is cut in the middle, here and not by the host."""


class Contexts:
    """Contexts of one process, kept as long as nothing changed. Threads may share it."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._kept: dict[Wanted, tuple[_Seen, str]] = {}
        self._lock = threading.Lock()

    def get(self, wanted: Wanted) -> str:
        """The context; empty when the memory has nothing to say or its root or summary cannot be trusted."""
        if os.path.islink(wanted.root):
            return ""
        with self._lock:
            kept = self._kept.get(wanted)
        if kept is not None and kept[0].still():
            return kept[1]
        seen = _Seen(wanted.memory, wanted.root)
        text = _made(self._stages, wanted, seen)
        with self._lock:
            self._kept.pop(wanted, None)
            if seen.settled():
                self._kept[wanted] = (seen, text)
        return text


def _made(stages: Stages, wanted: Wanted, workspace: _Seen) -> str:
    summary = wanted.memory.summary
    if not workspace.exists(summary):
        return ""
    said = stages.read_summary(wanted.plugin, workspace, tools=dict(wanted.tools), citations=wanted.citations)
    text = clean(redact(said)).strip()
    if not text:
        return ""
    dated = _day(os.stat(os.path.join(wanted.root, summary)).st_mtime)
    source = f"codexmem memory {wanted.memory.name}"
    return fenced_within(text, source=source, dated=dated, limit_bytes=wanted.limit_bytes)


class _Seen:
    """A workspace that remembers what was looked at, and how it was. Implements services.Workspace."""

    def __init__(self, memory: Memory, root: str) -> None:
        self._workspace = MemoryWorkspace(memory, root)
        self._folder = GuardedFolder(root, write=False)
        self._files: dict[str, tuple[str, int]] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._began_ns = time.time_ns()

    @property
    def memory(self) -> str:
        return self._workspace.memory

    def read(self, path: str) -> str:
        self._files[path] = self._stat(path)
        return self._workspace.read(path)

    def exists(self, path: str) -> bool:
        self._files[path] = self._stat(path)
        return self._workspace.exists(path)

    def walk(self, under: str = "") -> Iterator[str]:
        self._listed[under] = tuple(self._workspace.walk(under))
        yield from self._listed[under]

    def still(self) -> bool:
        """Whether everything is as it was."""
        return all(self._stat(path) == then for path, then in self._files.items()) and all(
            tuple(self._workspace.walk(under)) == then for under, then in self._listed.items()
        )

    def settled(self) -> bool:
        """Whether the stats can be trusted to tell the next change."""
        return all(changed_ns < self._began_ns - _SETTLED_NS for _, changed_ns in self._files.values())

    def _stat(self, path: str) -> tuple[str, int]:
        try:
            found = self._folder.stat(path)
        except (OSError, Refused):
            return "", 0
        return found.stamp, found.mtime_ns


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
