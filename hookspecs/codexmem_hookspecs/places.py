"""Places: whether folders are the same or lie in each other, and which repository one lies in. Also for the engine.

Names prove little: a folder has several through links, mounts and letter case. So folders that exist are compared by
device and inode, and only what does not exist yet by name, in the way of the file system that it would be on.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass

Identity = tuple[int, int]
_LINE_BYTES = 8192
"""Longest first line of a file of git's that is read."""


def overlap(one: str, other: str) -> bool:
    """Whether one of two absolute paths is the other or lies somewhere below it. Neither need exist.

    In doubt (an inode of 0, a file system that does not say whether it tells ``A`` from ``a``) they overlap rather than
    not.
    """
    first, second = _identity(one), _identity(other)
    if (second and second in _ancestry(one)) or (first and first in _ancestry(other)):
        return True
    if first and second:
        return False
    one, other = os.path.realpath(one), os.path.realpath(other)
    fold = folds_case(one) or folds_case(other)
    names, others = _names(one, fold=fold), _names(other, fold=fold)
    shorter = min(len(names), len(others))
    return names[:shorter] == others[:shorter]


def _identity(path: str) -> Identity | None:
    """Which file it is; None when there is none, or when the file system does not number its files."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


def _ancestry(path: str) -> set[Identity]:
    """The folder itself and all above it that exist."""
    found = set()
    here = os.path.realpath(path)
    while True:
        identity = _identity(here)
        if identity:
            found.add(identity)
        parent = os.path.dirname(here)
        if parent == here:
            return found
        here = parent


def _names(path: str, *, fold: bool) -> tuple[str, ...]:
    """From the root down. File systems that fold letter case do not tell composed characters from decomposed ones."""
    plain = unicodedata.normalize("NFD", path).casefold() if fold else path
    return tuple(part for part in plain.split(os.sep) if part)


def folds_case(path: str) -> bool:
    """Whether the file system of the nearest folder that exists takes ``A`` and ``a`` for one name.

    Asked of the system, for one machine has both kinds: by the folder's own name or those above it, and where it is the
    top of its file system by the names in it. True where there is nothing to try it with.
    """
    here = path
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    device = _device(here)
    while os.path.dirname(here) != here and _device(os.path.dirname(here)) == device:
        if _has_case(os.path.basename(here)):
            return _is_folded(here)
        here = os.path.dirname(here)
    try:
        with os.scandir(here) as entries:
            other = next(
                (entry.path for entry in entries if _has_case(entry.name) and _device(entry.path) == device), ""
            )
    except OSError:
        other = ""
    return _is_folded(other) if other else True


def _has_case(name: str) -> bool:
    return name.swapcase() != name


def _is_folded(path: str) -> bool:
    """Whether the same file answers to its name in the other letter case."""
    folder, name = os.path.split(path)
    return _identity(path) is not None and _identity(path) == _identity(os.path.join(folder, name.swapcase()))


def _device(path: str) -> int:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository as seen from one of its working trees."""

    root: str
    """The top of the working tree."""
    main: str
    """What all its working trees share: the top of the main one, or the bare repository itself."""
    bare: bool = False


def repository(path: str) -> Repository | None:
    """The repository that a folder lies in, None when it lies in none. Only looks at files; git is not run.

    A submodule is a repository of its own.
    """
    here = os.path.realpath(path)
    while True:
        marker = os.path.join(here, ".git")
        if os.path.isdir(marker):
            return Repository(root=here, main=here)
        if os.path.isfile(marker):
            return _linked(here, marker)
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _linked(root: str, marker: str) -> Repository:
    """Of a working tree whose ``.git`` is a file that says where the rest is."""
    folder = _first_line(marker).removeprefix("gitdir:").strip()
    folder = os.path.join(root, folder) if folder else ""
    shared = _first_line(os.path.join(folder, "commondir")).strip() if folder else ""
    if not shared:
        return Repository(root=root, main=root)
    common = os.path.realpath(os.path.join(folder, shared))
    if os.path.basename(common) == ".git":
        return Repository(root=root, main=os.path.dirname(common))
    return Repository(root=root, main=common, bare=True)


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.readline(_LINE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
