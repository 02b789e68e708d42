"""A memory's files as hooks see them: read-only and behind the path guard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.files import GuardedFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.values.consolidate import Memory


class MemoryWorkspace:
    """Implements :class:`codexmem_hookspecs.services.Workspace` over a memory root, which need not exist yet.

    Raises Refused when the root is a link.
    """

    def __init__(self, memory: Memory, root: str) -> None:
        if os.path.islink(root):
            raise Refused(f"{root} is a symbolic link; a memory root must be a real folder")
        self._memory = memory
        self._folder = GuardedFolder(root, write=False)

    @property
    def memory(self) -> str:
        """The memory's name."""
        return self._memory.name

    def read(self, path: str) -> str:
        """Text of a file, undecodable bytes replaced; empty when there is none, and for dotfiles.

        Raises Refused for a path that leaves the root, is a link or no regular file.
        """
        try:
            return self._folder.read(path).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def exists(self, path: str) -> bool:
        """Whether a regular file is there; a link to one is none."""
        return self._folder.is_file(path)

    def walk(self, under: str = "") -> Iterator[str]:
        """Paths of all files, sorted; dotfiles left out."""
        try:
            found = sorted(file.path for file in self._folder.scan(under))
        except (FileNotFoundError, NotADirectoryError):
            return
        yield from found
