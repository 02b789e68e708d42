"""A memory root for tools: behind the path guard, and never through a link."""

from __future__ import annotations

import os

from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.files import GuardedFolder


def memory_folder(root: str, *, write: bool = False) -> GuardedFolder:
    """The folder, which need not exist yet. Raises Refused when the root itself is a link."""
    if os.path.islink(root):
        raise Refused(f"{root} is a symbolic link; a memory root must be a real folder")
    return GuardedFolder(root, write=write)
