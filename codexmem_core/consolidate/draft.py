"""The memory root as consolidation will leave it: nobody else sees a change before all of them are checked."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.agent_paths import same_name
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codexmem_core.safety.files import GuardedFolder

READ_BYTES = 8 * 1024 * 1024
"""Largest file that is opened: the diff file has at most 4 MiB and a list of names."""
WRITE_BYTES = 1024 * 1024
"""Largest file that is written."""
WRITTEN_FILES = 100
TOTAL_BYTES = 8 * 1024 * 1024
"""Of all files that one consolidation writes."""


class EditedMeanwhile(Exception):  # noqa: N818 - a state that a caller handles
    """A person or program changed a file after consolidation had read it; theirs stands."""


class Draft:
    """What stands in the root, and over it what consolidation wrote. Implements services.Workspace.

    So a run that fails, is stopped, loses its lease or dies has changed no file of the memory, and a reader never meets
    a file that was not checked.
    """

    def __init__(
        self, memory: str, folder: GuardedFolder, without_forgotten: Callable[[str], str] = lambda text: text
    ) -> None:
        self._memory = memory
        self._folder = folder
        self._without_forgotten = without_forgotten
        self._written: dict[str, bytes] = {}
        self._met: dict[str, str] = {}
        """By path, the digest of what stood on disk when it was first looked into; empty: nothing."""

    @property
    def memory(self) -> str:
        """The memory's name."""
        return self._memory

    @property
    def written(self) -> tuple[str, ...]:
        """Paths, in the order of their last change."""
        return tuple(self._written)

    def read(self, path: str) -> str:
        """Text, undecodable bytes replaced; empty when there is no such file. Raises Refused."""
        try:
            return self.content(path).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def exists(self, path: str) -> bool:
        """Whether a regular file is there, or will be."""
        return path in self._written or self._folder.is_file(path)

    def walk(self, under: str = "") -> Iterator[str]:
        """Paths of all files, sorted; dotfiles left out."""
        try:
            found = {file.path for file in self._folder.scan(under)}
        except (FileNotFoundError, NotADirectoryError):
            found = set()
        prefix = f"{under.rstrip('/')}/" if under else ""
        yield from sorted(found | {path for path in self._written if path.startswith(prefix)})

    def content(self, path: str) -> bytes:
        """Bytes of a file. Raises FileNotFoundError; Refused for anything but a regular file that is not too large."""
        if path in self._written:
            return self._written[path]
        content = self._on_disk(path)
        self._met.setdefault(path, _digest(content))
        if content is None:
            raise FileNotFoundError(path)
        return content

    def refuse_shared(self, path: str) -> None:
        """Raise Refused for a file that has another name elsewhere, for that may be outside. None is no reason."""
        if path in self._written:
            return
        try:
            names = os.lstat(os.path.join(self._folder.root, path)).st_nlink
        except OSError:  # missing, or not to be reached: whoever opens it next is told
            return
        if names > 1:
            raise Refused(f"{path} has another name elsewhere (a hard link), so it is not only the memory's")

    def write(self, path: str, text: str) -> int:
        """Let a file hold a text, without secrets; returns its bytes. Raises Refused for too much.

        Of the path this checks only what stands in its way: who may write what is the caller's to know.
        """
        content = self._without_forgotten(clean(redact(text))).encode()
        if len(content) > WRITE_BYTES:
            raise Refused(f"{path}: {len(content)} bytes are more than the {WRITE_BYTES} that a file may have")
        kept = {other: len(old) for other, old in self._written.items() if other != path}
        if len(kept) >= WRITTEN_FILES:
            raise Refused(f"{path}: {WRITTEN_FILES} files are written already, and that is the limit")
        if sum(kept.values()) + len(content) > TOTAL_BYTES:
            raise Refused(f"{path}: all that is written may have {TOTAL_BYTES} bytes together")
        if path not in self._written:
            self._refuse_taken(path)
        self._written.pop(path, None)
        self._written[path] = content
        return len(content)

    def apply(self) -> None:
        """Put the files into the root, in the order of their last change.

        Raises EditedMeanwhile, before anything is written, when one is not as it was when it was first looked into.
        """
        pending = {}
        for path, content in self._written.items():
            there = self._on_disk(path)
            if _digest(there) != self._met[path]:
                raise EditedMeanwhile(f"{path} was changed while it was being consolidated; it is left as it is")
            if there != content:
                pending[path] = content
        for path, content in pending.items():
            self._folder.write(path, content)

    def _refuse_taken(self, path: str) -> None:
        """Whatever has the path, or a part of it, and is no file of ours."""
        there = self._on_disk(path)
        if there is None:
            key = same_name(path)
            for other in self.walk():
                if same_name(other) == key:
                    raise Refused(f"{path}: {other} is there already, and some systems take both for the same")
                if path.startswith(f"{other}/") or other.startswith(f"{path}/"):
                    raise Refused(f"{path}: {other} is there, and one name cannot be a file and a folder")
        self._met.setdefault(path, _digest(there))

    def _on_disk(self, path: str) -> bytes | None:
        try:
            return self._folder.read(path, READ_BYTES)
        except (FileNotFoundError, NotADirectoryError) as error:
            if isinstance(error, Refused):
                raise
            return None


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()
