"""Writes a file in one step: temporary name in the same folder, fsync, rename, fsync of the folder."""

import contextlib
import errno
import os
import secrets
import stat

from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.instants import instant

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o600


def replace_file(folder: int, name: str, content: bytes, *, label: str, exclusive: bool = False) -> None:
    """Let ``name`` in the opened folder hold ``content``: afterwards, or after a crash, all of it or what was before.

    A link or a folder with that name is refused; another name of the same file (a hard link) keeps the old content.
    Raises FileExistsError when ``exclusive`` and the name is taken, OSError when the disk refuses.
    """
    mode = _mode_of(folder, name, exclusive=exclusive)
    temporary = f".{name[:180]}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
    try:
        descriptor = os.open(temporary, _NEW, _MODE, dir_fd=folder)
        try:
            os.fchmod(descriptor, mode)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        instant(f"rename:{label}:before")
        if exclusive:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(temporary, dir_fd=folder)
        else:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        if isinstance(error, OSError):  # the user knows the file by its own name
            error.filename, error.filename2 = name, None
        raise
    instant(f"rename:{label}:after")
    _sync(folder)


def _mode_of(folder: int, name: str, *, exclusive: bool) -> int:
    """Permissions that the file has and keeps; those of a new one when there is none."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return _MODE
    if exclusive:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{name}: not a regular file, so it is not replaced")
    return stat.S_IMODE(found.st_mode) & 0o777


def _sync(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot sync folders
            raise
