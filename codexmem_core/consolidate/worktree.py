"""What stands in a memory root: one walk that follows nothing, for the baseline, the link sweep and the mirror."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from codexmem_hookspecs.errors import Refused


class Survey(NamedTuple):
    """Everything below a folder that is no folder itself; paths are relative with ``/``."""

    files: dict[str, os.stat_result]
    """Regular files with their stats, never followed."""
    links: list[str]
    """Symbolic links, to files and to folders."""


def refuse_linked_root(root: str) -> None:
    """Raise Refused when the root is a link or no folder, FileNotFoundError when there is none."""
    mode = os.lstat(root).st_mode
    if stat.S_ISLNK(mode):
        raise Refused(f"{root} is a symbolic link; a memory root must be a real folder")
    if not stat.S_ISDIR(mode):
        raise Refused(f"{root} is not a folder")


def survey(root: str, *, hidden: bool = False) -> Survey:
    """Walk once. Names with a leading dot stay out unless ``hidden``; sockets and pipes always do.

    Files and folders that vanish on the way count as absent. Raises OSError for a folder that cannot be listed.
    """
    refuse_linked_root(root)
    files: dict[str, os.stat_result] = {}
    links: list[str] = []
    pending = [("", root)]
    while pending:
        prefix, folder = pending.pop()
        try:
            entries = os.scandir(folder)
        except (FileNotFoundError, NotADirectoryError):
            if prefix:
                continue
            raise
        with entries:
            for entry in entries:
                if entry.name.startswith(".") and not hidden:
                    continue
                path = prefix + entry.name
                if entry.is_symlink():
                    links.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append((path + "/", entry.path))
                else:
                    _add_regular(files, path, entry)
    return Survey(files, links)


def _add_regular(files: dict[str, os.stat_result], path: str, entry: os.DirEntry[str]) -> None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode):
        files[path] = found
