"""The one sync: another tool's memory, whole, into one extension folder; safe to stop anywhere and to repeat."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.worktree import refuse_linked_root, survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.services import Folder
    from codexmem_hookspecs.values.interop import Mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorResult:
    """What a sync did; paths are relative to the memory root, sorted."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything on disk is different now."""
        return bool(self.written or self.removed)


def apply_mirror(root: Folder, mirror: Mirror) -> MirrorResult:
    """Make ``extensions/<name>/`` hold exactly what the mirror says; ``root`` is the memory root, open for writing.

    Instructions and files are compared byte by byte, written where they differ, and then all else below resources/ is
    removed, except what ``keep`` names: a file, or a folder with everything in it. A mirror without files empties
    resources/ and leaves instructions.md as it is. Whatever stands in the way of a file and is no regular file is
    replaced, never written through. Files beside resources/ are not the mirror's and stay.

    Raises Refused, before anything is changed, for an unsafe name, two names of which one would have to be both file
    and folder, a linked extension folder, or a root that is a link; FileNotFoundError when the root does not exist.
    """
    base, wanted = _wanted(root, mirror)
    written = tuple(path for path in sorted(wanted) if _write_if_different(root, base, path, wanted[path]))
    removed = _superfluous(root, base, wanted, mirror)
    for path in removed:
        os.unlink(os.path.join(root.root, path))
    _drop_empty_folders(os.path.join(root.root, base, "resources"), keep_top=bool(wanted))
    return MirrorResult(written=written, removed=tuple(removed))


def is_applied(root: Folder, mirror: Mirror) -> bool:
    """Whether :func:`apply_mirror` would find nothing to do. Raises the same."""
    base, wanted = _wanted(root, mirror)
    return all(_is_as_wanted(root, path, wanted[path]) for path in wanted) and not _superfluous(
        root, base, wanted, mirror
    )


def _wanted(root: Folder, mirror: Mirror) -> tuple[str, dict[str, bytes]]:
    """The extension's folder, and what shall lie in it by path from the root."""
    base = _checked(mirror)
    refuse_linked_root(root.root)
    _refuse_links(root.root, base)
    wanted = {f"{base}/resources/{path}": content for path, content in mirror.files.items()}
    if wanted:
        wanted[f"{base}/instructions.md"] = mirror.instructions.encode("utf-8", "replace")
    return base, wanted


def _superfluous(root: Folder, base: str, wanted: Mapping[str, bytes], mirror: Mirror) -> list[str]:
    """Files and links below resources/ that are neither wanted nor kept."""
    keep = tuple(f"{base}/resources/{prefix.rstrip('/')}" for prefix in mirror.keep)
    return [
        path
        for path in _present(root.root, f"{base}/resources")
        if path not in wanted and not any(path == one or path.startswith(one + "/") for one in keep)
    ]


def _checked(mirror: Mirror) -> str:
    """The extension's folder. Raises Refused for names that are not safe."""
    if "/" in mirror.extension:
        raise Refused(f"{mirror.extension!r} is no name for an extension")
    for path in (mirror.extension, *mirror.files, *(prefix.rstrip("/") for prefix in mirror.keep)):
        parts = path.split("/")
        if "\\" in path or not path.isprintable() or any(not part or part.startswith(".") for part in parts):
            raise Refused(f"{path!r} is not a safe name for a file of the extension {mirror.extension!r}")
    for path in mirror.files:
        parents = path.split("/")[:-1]
        for depth in range(1, len(parents) + 1):
            if "/".join(parents[:depth]) in mirror.files:
                raise Refused(f"{'/'.join(parents[:depth])!r} would be a file and a folder in {mirror.extension!r}")
    return f"extensions/{mirror.extension}"


def _refuse_links(root: str, base: str) -> None:
    path = root
    for part in base.split("/"):
        path = os.path.join(path, part)
        mode = _mode(path)
        if mode is not None and not stat.S_ISDIR(mode):
            raise Refused(f"{path} is a link or a file where a folder belongs")


def _write_if_different(root: Folder, base: str, path: str, content: bytes) -> bool:
    _clear_way(root.root, base, path)
    if _is_as_wanted(root, path, content):
        return False
    root.write(path, content)
    return True


def _is_as_wanted(root: Folder, path: str, content: bytes) -> bool:
    try:
        return root.stat(path).size == len(content) and root.read(path) == content
    except (FileNotFoundError, NotADirectoryError, Refused):
        return False


def _clear_way(root: str, base: str, path: str) -> None:
    """Remove what is no folder on the way to a file below ``base``, and what is no regular file at its place."""
    here = os.path.join(root, base)
    *parents, name = path.removeprefix(f"{base}/").split("/")
    for parent in parents:
        here = os.path.join(here, parent)
        mode = _mode(here)
        if mode is None:
            return
        if not stat.S_ISDIR(mode):
            os.unlink(here)
            return
    target = os.path.join(here, name)
    mode = _mode(target)
    if mode is None or stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(target)
    else:
        os.unlink(target)


def _present(root: str, folder: str) -> list[str]:
    """Files and links below a folder, as paths from the root; dotfiles are nobody's and stay."""
    try:
        found = survey(os.path.join(root, folder))
    except (FileNotFoundError, Refused):
        return []
    return sorted(f"{folder}/{path}" for path in (*found.files, *found.links))


def _drop_empty_folders(resources: str, *, keep_top: bool) -> None:
    if os.path.islink(resources):
        return
    for folder, _, _ in os.walk(resources, topdown=False):
        if folder == resources and keep_top:
            continue
        try:
            os.rmdir(folder)
        except OSError:
            continue  # not empty: something kept, or written a moment ago


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return None
