"""Events on their way in: one file an event, written in a rename, taken in once and removed after it is recorded.

``<UNIX ms, 13 digits>.<unique>.<host>.<event>`` holds a header line, then the host's payload as it came. The header
begins with memory and generation of the answer that was printed, if one was, and goes on with ``name=value`` words. The
time is the hook's start.
"""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.safety.instants import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD = "bad"
"""Folder for files that could not be understood; ``doctor`` names them."""
BAD_FILES = 100
BAD_BYTES = 64 * 1024 * 1024
"""So much of them is kept, the newest first: they hold what was said, as it came."""

PAYLOAD_BYTES = 64 * 1024 * 1024
_HEADER_BYTES = 1024
_UNFINISHED_S = 3_600.0
"""A file that is not whole after this was begun by a hook that was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the hook's shim wrote above the payload."""

    memory: str = ""
    """Whose context was printed; empty when none was."""
    generation: str = ""
    pid: int = 0
    """The host's process, 0 when it is not known."""
    started: str = ""
    """``<clock ticks since boot>.<namespace>`` of that process."""
    oversized: int = 0
    """Length of a payload that was too long to be written down, in bytes."""
    bypassed: bool = False
    """Whether the host was started so that nothing of its sessions is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledEvent:
    """A hook's call as it was recorded."""

    name: str
    at_ms: int
    host: str
    event: str
    header: Header
    payload: bytes


class Spool:
    """The spool folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def write(self, host: str, event: str, payload: bytes, *, at_ms: int, header: str = "") -> str:
        """Record an event; returns the file's name. The hook's own shim writes the same without this module."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        name = f"{at_ms:013d}.{uuid.uuid4().hex[:12]}.{host}.{event}"
        hidden = os.path.join(self._folder, f".{name}")
        with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(header.encode() + b"\n" + payload)
            file.flush()
            os.fsync(file.fileno())
        os.rename(hidden, os.path.join(self._folder, name))
        return name

    def names(self) -> list[str]:
        """Waiting events in order of time."""
        try:
            return sorted(name for name in os.listdir(self._folder) if not name.startswith(".") and name != BAD)
        except FileNotFoundError:
            return []

    def read_all(self) -> Iterator[SpooledEvent | tuple[str, str]]:
        """Every waiting event in order of time, or (name, reason) for what is none."""
        for name in self.names():
            try:
                yield self._read(name)
            except FileNotFoundError:
                continue  # another process has recorded it meanwhile
            except (ValueError, OSError) as error:
                yield name, str(error)

    def remove(self, name: str) -> None:
        """The event is recorded elsewhere; another process may have seen to it as well."""
        instant("spool:remove:before")
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self._folder, name))
        instant("spool:remove:after")

    def set_aside(self, name: str) -> str:
        """Keep a file that could not be understood; returns where."""
        os.makedirs(os.path.join(self._folder, BAD), mode=0o700, exist_ok=True)
        kept = os.path.join(self._folder, BAD, name)
        try:
            os.rename(os.path.join(self._folder, name), kept)
        except FileNotFoundError:
            return kept  # another process was faster
        if os.path.isfile(kept) and not os.path.islink(kept):
            os.chmod(kept, 0o600)
        self._keep_few_bad()
        return kept

    def sweep(self) -> None:
        """Remove what hooks that were killed have left unfinished."""
        with suppress(FileNotFoundError):
            for entry in os.scandir(self._folder):
                with suppress(OSError):  # what is no file of ours stops nothing
                    age_s = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    if entry.name.startswith(".") and age_s > _UNFINISHED_S:
                        os.unlink(entry.path)

    def _keep_few_bad(self) -> None:
        """The newest always stays."""
        size = 0
        entries = sorted(os.scandir(os.path.join(self._folder, BAD)), key=lambda entry: entry.name, reverse=True)
        for number, entry in enumerate(entries):
            size += entry.stat(follow_symlinks=False).st_size
            if number and (number >= BAD_FILES or size > BAD_BYTES):
                with suppress(OSError):
                    os.unlink(entry.path)

    def _read(self, name: str) -> SpooledEvent:
        parts = name.split(".", 3)
        if len(parts) != 4 or not parts[0].isdigit():  # noqa: PLR2004 - the four parts of the name
            raise ValueError("the name is not TIME.UNIQUE.HOST.EVENT")
        path = os.path.join(self._folder, name)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            content = file.read(PAYLOAD_BYTES + _HEADER_BYTES + 1)
        if len(content) > PAYLOAD_BYTES + _HEADER_BYTES:
            raise ValueError(f"larger than {PAYLOAD_BYTES} bytes")
        header, newline, payload = content.partition(b"\n")
        if not newline:
            raise ValueError("there is no header line")
        return SpooledEvent(
            name=name,
            at_ms=int(parts[0]),
            host=parts[2],
            event=parts[3],
            header=parsed(header.decode("utf-8", "replace")),
            payload=payload,
        )


def parsed(header: str) -> Header:
    """Words that nobody knows are passed over: a newer shim may say more."""
    plain = [word for word in header.split() if "=" not in word]
    named = dict(word.split("=", 1) for word in header.split() if "=" in word)
    memory, generation = (*plain, "", "")[:2]
    return Header(
        memory=memory,
        generation=generation,
        pid=_number(named.get("pid", "")),
        started=named.get("started", ""),
        oversized=_number(named.get("oversized", "")),
        bypassed=named.get("bypass") == "1",
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
