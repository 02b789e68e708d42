"""A folder of real files, for tests: what the engine's path guard does, without its strictness."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.values.capture import FileStat, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codexmem_hookspecs.known import Known

LINE_CAP = 32 * 1024 * 1024
"""Bytes; a longer line is passed over with a problem."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PlainFolder:
    """A folder of real files that refuses the obvious: absolute, climbing and dotfile paths."""

    def __init__(self, root: str, *, write: bool = False, opened: list[str] | None = None) -> None:
        self._root = os.path.abspath(root)
        self._write = write
        self._opened: list[str] = [] if opened is None else opened

    @property
    def root(self) -> str:
        """Absolute path."""
        return self._root

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """Whole content."""
        with open(self._file(path), "rb") as file:
            content = file.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise Refused(f"{path} is larger than {limit_bytes} bytes")
        return content

    def write(self, path: str, content: bytes, *, exclusive: bool = False) -> None:
        """Write through a temporary file beside it."""
        target = self._path(path)
        if not self._write:
            raise Refused(f"{self._root} is not for writing")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if exclusive and os.path.lexists(target):
            raise FileExistsError(target)
        with open(target + ".part", "wb") as file:
            file.write(content)
        os.replace(target + ".part", target)

    def remove(self, path: str) -> bool:
        """False when there was nothing."""
        if not self._write:
            raise Refused(f"{self._root} is not for writing")
        try:
            os.unlink(self._path(path))
        except FileNotFoundError:
            return False
        return True

    def scan(
        self,
        under: str = "",
        *,
        suffixes: tuple[str, ...] = (),
        links: bool = False,
        known: Known | None = None,
        on_error: Callable[[str, OSError], None] | None = None,
    ) -> Iterator[FileStat]:
        """Files below that are not known; a folder reached twice is walked once."""
        seen: set[tuple[int, int]] = set()
        waiting = [under.strip("/")]
        while waiting:
            inside = waiting.pop()
            folder = self._path(inside) if inside else self._root
            reached = os.stat(folder)
            if (reached.st_dev, reached.st_ino) in seen:
                continue
            seen.add((reached.st_dev, reached.st_ino))
            try:
                listed = os.scandir(folder)
            except OSError as error:
                if on_error is None:
                    raise
                on_error(inside, error)
                continue
            with listed as entries:
                for entry in entries:
                    path = f"{inside}/{entry.name}" if inside else entry.name
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=links):
                        waiting.append(path)
                    elif entry.is_file(follow_symlinks=False) and (not suffixes or entry.name.endswith(suffixes)):
                        found = _stat(path, entry.stat())
                        if known is None or not known.holds(os.path.join(self._root, path), found.stamp):
                            yield found

    def stat(self, path: str) -> FileStat:
        """One file's stat."""
        return _stat(path, os.stat(self._path(path)))

    def stat_folder(self, path: str) -> FileStat:
        """One folder's stat."""
        found = os.stat(self._path(path), follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            raise Refused(f"{path}: no folder")
        return _stat(path, found)

    def lines(self, path: str, after: int = 0) -> Iterator[Line]:
        """Lines past a byte, streamed."""
        try:
            file = open(self._file(path), "rb")  # noqa: SIM115 - closed by the with below; opening may fail otherwise
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror}") from error
        with file:
            size = os.fstat(file.fileno()).st_size
            if after:
                file.seek(after - 1)
                if after > size or file.read(1) != b"\n":
                    raise Rewritten(f"{path}: no line ends at byte {after}")
            end, number = after, 0
            while raw := file.readline(LINE_CAP + 1):
                end, number = end + len(raw), number + 1
                problem = "longer than 32 MiB" if len(raw) > LINE_CAP else ""
                while not raw.endswith(b"\n") and (rest := file.readline(LINE_CAP)):
                    raw, end = rest, end + len(rest)
                data = b"" if problem else raw.rstrip(b"\r\n")
                yield Line(number, end, data.removeprefix(BYTE_ORDER_MARK) if not end - len(raw) else data, problem)

    def tail(self, path: str, size: int = 65_536) -> tuple[bytes, int]:
        """The last bytes, and the whole length."""
        with open(self._file(path), "rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - size))
            return file.read(), length

    @contextmanager
    def lock(self, name: str, wait_s: float = 0.0) -> Iterator[bool]:  # noqa: ARG002 - tests do not wait
        """A lock file; the value says whether it is held."""
        os.makedirs(self._root, exist_ok=True)
        with open(self._path(name + ".lock"), "wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
            else:
                yield True

    def _path(self, path: str) -> str:
        names = path.split("/")
        if os.path.isabs(path) or not path or any(name.startswith(".") or not name for name in names):
            raise Refused(f"{path!r} leaves {self._root} or names a dotfile")
        return os.path.join(self._root, path)

    def _file(self, path: str) -> str:
        absolute = self._path(path)
        self._opened.append(absolute)
        return absolute


def _stat(path: str, found: os.stat_result) -> FileStat:
    return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ino)
