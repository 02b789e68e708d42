"""A memory's files as search sees them: redacted, kept warm, and read again when their stat changes."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.diff import DIFF_FILE
from codexmem_core.readpath.roots import memory_folder
from codexmem_core.readpath.times import stated_time
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.values.capture import FileStat

_SETTLED_NS = 100_000_000
"""A file changed less than this before it was read may change again without a new time: it is read once more."""


class Document:
    """One text file."""

    def __init__(self, stat: FileStat, content: bytes) -> None:
        self.stat = stat
        self.path = stat.path
        self.stated_at_ms = stated_time(stat.path)
        """The time that its name begins with, UNIX milliseconds; -1 when it begins with none."""
        self.text = readable(content)
        self.lower = self.text.lower()

    @cached_property
    def lines(self) -> list[str]:
        """Without their ends."""
        return lines_of(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in the lower-case text."""
        starts, at = [0], self.lower.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.lower.find("\n", at + 1)
        return starts

    def line_at(self, position: int) -> int:
        """0-based line of a place in the lower-case text."""
        return bisect_right(self.starts, position) - 1


class Documents:
    """All documents of one memory root, for one process.

    ``changed`` and ``gone`` collect what happened since somebody last took it over, for the index over them.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._by_path: dict[str, Document] = {}
        self._skipped: dict[str, FileStat] = {}
        self._unsettled: set[str] = set()
        self.lock = threading.RLock()
        self.changed: dict[str, Document] = {}
        self.gone: set[str] = set()

    def __iter__(self) -> Iterator[Document]:
        """In no order."""
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    def get(self, path: str) -> Document | None:
        """By path."""
        return self._by_path.get(path)

    def refresh(self) -> None:
        """One walk with stats; only what changed is read. Raises Refused when the root is a link."""
        known, skipped, unsettled = self._by_path, self._skipped, self._unsettled
        stale: list[FileStat] = []
        unchanged = 0
        folder = memory_folder(self._root)
        for stat in folder.scan():
            document = known.get(stat.path)
            if document is not None and document.stat == stat and stat.path not in unsettled:
                unchanged += 1
            elif skipped.get(stat.path) != stat:
                stale.append(stat)
        met = {stat.path for stat in stale}
        if unchanged + sum(path in known for path in met) != len(known):
            there = {stat.path for stat in folder.scan()}
            for path in [path for path in known if path not in there]:
                self._drop(path)
        for stat in stale:
            self._read(stat)

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            for path in list(self._by_path):
                self._drop(path)
            self._skipped.clear()

    def _read(self, stat: FileStat) -> None:
        path = stat.path
        now = time.time_ns()
        try:
            content = memory_folder(self._root).read(path)
        except (OSError, Refused):
            content = b"\0"
        self._unsettled.discard(path)
        if b"\0" in content or path == DIFF_FILE:
            self._drop(path)
            self._skipped[path] = stat
            return
        self._skipped.pop(path, None)
        document = Document(stat, content)
        before = self._by_path.get(path)
        self._by_path[path] = document
        if before is None or before.text != document.text:
            self.changed[path] = document
        if now - stat.mtime_ns < _SETTLED_NS:
            self._unsettled.add(path)

    def _drop(self, path: str) -> None:
        if self._by_path.pop(path, None) is not None:
            self.gone.add(path)
        self.changed.pop(path, None)
        self._unsettled.discard(path)


def readable(content: bytes) -> str:
    """A file's text as every tool shows it: without secrets, undecodable bytes replaced, line ends as LF."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return redact(text)


def lines_of(text: str) -> list[str]:
    """Lines without their ends; what follows the last end is a line only when there is something."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
