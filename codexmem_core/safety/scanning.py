"""Walks a folder as fast as the system lists it: ten thousand files are looked at in every pass."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import FileStat

_Identity = tuple[int, int]
_File = tuple[str, int, int, int]
"""A :class:`FileStat` with the name only. The system's own answers are larger, and keeping many of them costs time."""


class Wanted(NamedTuple):
    """What a walk gives."""

    suffixes: tuple[str, ...] = ()
    """How names end; empty for any."""
    links: bool = False
    """Whether links are followed."""
    dotfiles: bool = False
    known: Known | None = None
    """Files that need not be given."""
    place: str = ""
    """What stands before a path in a known locator."""


def scan_folder(
    root: str, under: str, wanted: Wanted, on_error: Callable[[str, OSError], None] | None
) -> Iterator[FileStat]:
    """Regular files below ``root/under``, with paths relative to ``root``.

    What links lead to comes last, and only what was not met before; a link to a folder that holds ``root`` is left
    out, for it leads to things that are none of this folder's.
    """
    top = root.rstrip("/") + "/"
    links: list[str] = []
    walked: list[str] = []
    for prefix, files in _walk(top, f"{under}/" if under else "", wanted, links, on_error):
        walked.append(prefix)
        yield from _unknown(prefix, files, wanted)
    if links:  # only now is it worth asking which folders these were
        met = {identity for prefix in walked if (identity := _identity(top + prefix))}
        yield from _behind_links(top, links, met, wanted, on_error)


def _behind_links(
    top: str, links: list[str], met: set[_Identity], wanted: Wanted, on_error: Callable[[str, OSError], None] | None
) -> Iterator[FileStat]:
    """Folders first, so that a link to a file in one of them gives it no second time."""
    to_files: list[str] = []
    while links:
        path = links.pop()
        if _leads_to_folder(top, path):
            for prefix, files in _walk(top, f"{path}/", wanted, links, on_error, met):
                yield from _unknown(prefix, files, wanted)
        else:
            to_files.append(path)
    yield from _linked_files(top, to_files, wanted, met)


def _walk(
    top: str,
    start: str,
    wanted: Wanted,
    links: list[str],
    on_error: Callable[[str, OSError], None] | None,
    met: set[_Identity] | None = None,
) -> Iterator[tuple[str, list[_File]]]:
    """Each folder with its files; links are added to the list. With ``met`` no folder that was met before."""
    folders = [start]
    while folders:
        prefix = folders.pop()
        if met is not None:
            identity = _identity(top + prefix)
            if identity in met:
                continue
            met.update([identity] if identity else [])
        errors: list[tuple[str, OSError]] = []
        try:
            with os.scandir(top + prefix) as entries:
                files = _sorted_out(entries, prefix, wanted, folders, links, errors)
        except FileNotFoundError:
            continue
        except OSError as error:
            files, errors = [], [(prefix.rstrip("/"), error)]
        if on_error is not None:
            for path, problem in errors:
                on_error(path, problem)
        yield prefix, files


def _sorted_out(
    entries: "os._ScandirIterator[str]",
    prefix: str,
    wanted: Wanted,
    folders: list[str],
    links: list[str],
    errors: list[tuple[str, OSError]],
) -> list[_File]:
    """One folder's files, wanted or not; its folders, links and errors are added. A loop that must stay bare."""
    files: list[_File] = []
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            except OSError as error:
                errors.append((prefix + entry.name, error))
                continue
            files.append((entry.name, found.st_size, found.st_mtime_ns, found.st_ino))
        elif entry.name[0] == "." and not wanted.dotfiles:
            continue
        elif entry.is_dir(follow_symlinks=False):
            folders.append(f"{prefix}{entry.name}/")
        elif wanted.links and entry.is_symlink():
            links.append(prefix + entry.name)
    return files


def _unknown(prefix: str, files: list[_File], wanted: Wanted) -> Iterator[FileStat]:
    """One folder's wanted files without those that are known. Mostly that is none, and one comparison tells."""
    known, folder = wanted.known, wanted.place + prefix
    if known is not None:
        # Spelled out, not composed of FileStat.stamp and state(): ten thousand calls would cost a fifth of a pass.
        states = [f"{name}/{mtime_ns}:{size}:{inode}" for name, size, mtime_ns, inode in files]
        states.sort()
        if known.holds_all(folder, states):
            return
    for name, size, mtime_ns, inode in files:
        if (wanted.suffixes and not name.endswith(wanted.suffixes)) or (name[0] == "." and not wanted.dotfiles):
            continue
        found = FileStat(prefix + name, size, mtime_ns, inode)
        if known is None or not known.holds(folder + name, found.stamp):
            yield found


def _identity(path: str) -> _Identity | None:
    """Which folder it is, by whatever name; None when it cannot be looked at."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _leads_to_folder(top: str, path: str) -> bool:
    """Whether a link leads to a folder that does not hold ``top``."""
    real = os.path.realpath(top + path)
    return os.path.isdir(real) and os.path.commonpath((real, os.path.realpath(top))) != real


def _linked_files(top: str, paths: list[str], wanted: Wanted, met: set[_Identity]) -> Iterator[FileStat]:
    """What links to files lead to, each file once and only when its folder was not met."""
    for path in paths:
        if wanted.suffixes and not path.endswith(wanted.suffixes):
            continue
        real = os.path.realpath(top + path)
        try:
            folder, file = os.stat(os.path.dirname(real)), os.stat(real)
        except OSError:
            continue
        identity = (file.st_dev, file.st_ino)
        if not stat.S_ISREG(file.st_mode) or (folder.st_dev, folder.st_ino) in met or identity in met:
            continue
        met.add(identity)
        found = FileStat(path, file.st_size, file.st_mtime_ns, file.st_ino)
        if wanted.known is None or not wanted.known.holds(wanted.place + path, found.stamp):
            yield found
