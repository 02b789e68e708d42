"""The path guard: every file that the product touches is reached through here, without following a link."""

import contextlib
import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from codexmem_hookspecs.errors import Refused, Unreadable
from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import FileStat, Line

from codexmem_core.safety.lines import read_lines, read_tail
from codexmem_core.safety.scanning import Wanted, scan_folder
from codexmem_core.safety.writing import replace_file

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SEPARATORS = re.compile(r"[/\\]")
_LOCK_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}")
_FOLDER_MODE = 0o700


class Hidden(Refused, FileNotFoundError):  # noqa: N818 - a state that a caller handles, like Refused
    """A dotfile: for everybody behind the guard there is none."""


class GuardedFolder:
    """A folder that nothing leaves: implements :class:`codexmem_hookspecs.services.Folder`.

    Each component is opened below the one before it and never through a link, so that a folder swapped for a link in
    between cannot lead elsewhere. ``links`` is for folders of hosts that are only read: there users keep links on
    purpose, and paths are resolved before they are opened. A root that is written to must not be a link itself.
    ``on_error`` hears of subfolders that a scan could not read.
    """

    def __init__(
        self,
        root: str,
        *,
        write: bool = False,
        dotfiles: bool = False,
        links: bool = False,
        on_error: Callable[[str, OSError], None] | None = None,
    ) -> None:
        self._given = os.path.abspath(root)
        self._links = links and not write
        self._root = self._given if write or self._links else os.path.realpath(root)
        self._write = write
        self._dotfiles = dotfiles
        self._on_error = on_error

    @property
    def root(self) -> str:
        """Absolute path, as it was given."""
        return self._given

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """The whole content. Raises FileNotFoundError; Refused for anything but a regular file within the limit."""
        with self._opened(path) as file:
            if os.fstat(file.fileno()).st_size > limit_bytes:
                raise Refused(f"{path}: larger than {limit_bytes} bytes")
            pieces, size = [], 0
            while piece := file.read(1024 * 1024):
                size += len(piece)
                if size > limit_bytes:
                    raise Refused(f"{path}: larger than {limit_bytes} bytes")
                pieces.append(piece)
            return b"".join(pieces)

    def write(self, path: str, content: bytes, *, exclusive: bool = False) -> None:
        """Replace or create a file in one step; missing folders are made.

        Raises FileExistsError when ``exclusive`` and the name is taken; Refused when a link or a folder has the name.
        """
        self._assert_writable()
        parts = self._parts(path)
        with self._folder(parts[:-1], create=True) as folder:
            replace_file(folder, parts[-1], content, label=parts[0], exclusive=exclusive)

    def remove(self, path: str) -> bool:
        """Remove a file, or a link without following it. False when there was nothing; Refused for a folder."""
        self._assert_writable()
        parts = self._parts(path)
        try:
            with self._folder(parts[:-1]) as folder:
                if stat.S_ISDIR(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                    raise Refused(f"{path}: is a folder")
                os.unlink(parts[-1], dir_fd=folder)
        except Hidden:
            raise
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
        """Regular files below, in no order; nothing when the folder is missing.

        Left out are dotfiles and what ``known`` holds under the folder's root as it was given. A link to a folder is
        followed only with ``links``, and only when that folder was not met otherwise and does not hold this one. A
        folder that cannot be read stops nothing; ``on_error`` hears of it in place of the one given at the beginning.
        """
        parts = self._parts(under) if under else ()
        try:
            if self._links:
                self._resolved(parts)
            else:
                with self._folder(parts):
                    pass
        except Hidden:
            raise
        except FileNotFoundError:
            return
        place = self._given.rstrip("/") + "/"
        wanted = Wanted(suffixes, links, self._dotfiles, known, place)
        yield from scan_folder(self._root, "/".join(parts), wanted, on_error or self._on_error)

    def entries(self, path: str = "") -> list[tuple[str, bool]]:
        """One folder's files and folders, (name, whether it is a folder), sorted by name; links are left out.

        Raises FileNotFoundError; Refused for a file and for a link.
        """
        with self._folder(self._parts(path) if path else ()) as folder, os.scandir(folder) as found:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in found
                if (self._dotfiles or entry.name[0] != ".")
                and (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False))
            )

    def stat(self, path: str) -> FileStat:
        """One regular file's stat. Raises FileNotFoundError and Refused."""
        if self._links:
            found = os.lstat(self._resolved(self._parts(path)))
            if not stat.S_ISREG(found.st_mode):
                raise Refused(f"{path}: not a regular file")
        else:
            with self._opened(path) as file:
                found = os.fstat(file.fileno())
        return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def stat_folder(self, path: str) -> FileStat:
        """A folder's stat. Raises FileNotFoundError; Refused for a file and for a link."""
        with self._folder(self._parts(path)) as folder:
            found = os.fstat(folder)
        return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def is_file(self, path: str) -> bool:
        """Whether :meth:`stat` has something to say: nothing there and anything refused are alike."""
        try:
            self.stat(path)
        except (FileNotFoundError, NotADirectoryError, Refused):
            return False
        return True

    def lines(self, path: str, after: int = 0) -> Iterator[Line]:
        """See :func:`codexmem_core.safety.lines.read_lines`. Raises Unreadable for a file that cannot be opened."""
        with self._readable(path) as file:
            yield from read_lines(file, after, name=path)

    def tail(self, path: str, size: int = 65_536) -> tuple[bytes, int]:
        """The last bytes of the uncompressed content, and its whole length."""
        with self._readable(path) as file:
            return read_tail(file, size, name=path)

    def lock(self, name: str, wait_s: float = 0.0) -> AbstractContextManager[bool]:
        """A lock between processes and threads, ``<root>/<name>.lock``, that the end of its holder frees."""
        self._assert_writable()
        if _LOCK_NAME.fullmatch(name) is None:
            raise Refused(f"{name!r}: no name for a lock")
        with self._folder((), create=True):
            pass
        return _held(os.path.join(self._root, f"{name}.lock"), wait_s)

    # the guard

    def _assert_writable(self) -> None:
        if not self._write:
            raise Refused(f"{self._given}: opened for reading only")

    def _parts(self, path: str) -> tuple[str, ...]:
        """The components of a relative path that stays inside."""
        if os.path.isabs(path) or path.startswith("\\") or "\0" in path:
            raise Refused(f"{path!r}: escapes {self._given}")
        parts = tuple(part for part in _SEPARATORS.split(path) if part not in ("", "."))
        if ".." in parts:
            raise Refused(f"{path!r}: escapes {self._given}")
        if not self._dotfiles and any(part.startswith(".") for part in parts):
            raise Hidden(errno.ENOENT, "no such file", path)
        if not parts:
            raise Refused(f"{path!r}: names no file")
        return parts

    @contextmanager
    def _folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """Descriptor of a folder, reached component by component."""
        if create:
            _make_folders(os.path.dirname(self._root))
        folder = _below(None, self._root, create=create)
        try:
            for part in parts:
                inner = _below(folder, part, create=create)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _opened(self, path: str) -> io.FileIO:
        """A regular file that still stands under its name, for reading."""
        parts = self._parts(path)
        if self._links:
            return _regular(None, self._resolved(parts), path)
        with self._folder(parts[:-1]) as folder:
            return _regular(folder, parts[-1], path)

    def _readable(self, path: str) -> io.FileIO:
        """The same; raises Unreadable where the system does not let it be opened."""
        try:
            return self._opened(path)
        except Refused:
            raise
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror or error}") from error

    def _resolved(self, parts: tuple[str, ...]) -> str:
        """Where the user's links lead. Raises FileNotFoundError."""
        path = os.path.join(self._root, *parts)
        try:
            # Only the last part must be none itself; the system resolves those before it in one step.
            return os.path.realpath(path, strict=True) if stat.S_ISLNK(os.lstat(path).st_mode) else path
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(f"{'/'.join(parts)}: {error.strerror}") from error


def atomic_write(path: str, content: bytes, label: str) -> None:
    """Replace a file of our own outside of a guarded folder in one step; its folder must exist and be no link.

    On failure the old content is untouched and nothing is left behind. ``label`` names the instants of the rename.
    """
    folder = os.open(os.path.dirname(os.path.abspath(path)), _FOLDER)
    try:
        replace_file(folder, os.path.basename(path), content, label=label)
    finally:
        os.close(folder)


def _make_folders(path: str) -> None:
    """Make what is missing on the way, each for nobody else: it may be our home that begins with it."""
    if not os.path.isdir(path):
        _make_folders(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, _FOLDER_MODE)


def _below(folder: int | None, name: str, *, create: bool) -> int:
    """Open a folder that is no link; make it when asked to."""
    if create:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, _FOLDER_MODE, dir_fd=folder)
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise Refused(f"{name}: {_what(folder, name)} where a folder should be; links are not followed") from error


def _regular(folder: int | None, name: str, path: str) -> io.FileIO:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a socket
            raise Refused(f"{path}: {_what(folder, name)}, not a regular file") from error
        raise
    try:
        found = os.fstat(descriptor)
        named = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) != (named.st_dev, named.st_ino):
            raise Refused(f"{path}: not a regular file, or replaced while it was opened")
        return io.FileIO(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _what(folder: int | None, name: str) -> str:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return "something else"
    return "a link" if stat.S_ISLNK(mode) else "a file" if stat.S_ISREG(mode) else "something else"


@contextmanager
def _held(path: str, wait_s: float) -> Iterator[bool]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=max(0.0, wait_s), poll_interval=0.02)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
