"""A memory root for tools: behind the path guard, and never through a link."""

from __future__ import annotations

import os

from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.files import GuardedFolder

_SUMMARY = "memory_summary.md"


def memory_folder(root: str, *, write: bool = False) -> GuardedFolder:
    """The folder, which need not exist yet. Raises Refused when the root itself is a link."""
    if os.path.islink(root):
        raise Refused(f"{root} is a symbolic link; a memory root must be a real folder")
    return GuardedFolder(root, write=write)


def roots_on_disk(home: str) -> list[str]:
    """Folders of the home that are memories by their name or by their summary, installed or not; sorted."""
    try:
        names = sorted(os.listdir(home))
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [os.path.join(home, name) for name in names]
    return [
        path
        for path, name in zip(paths, names, strict=True)
        if os.path.isdir(path) and (name.startswith("memories") or os.path.isfile(os.path.join(path, _SUMMARY)))
    ]
