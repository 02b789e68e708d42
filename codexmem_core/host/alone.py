"""The right to be a home's one worker: a lock that a crash frees, and a replacement for one that hangs."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.host import shim
from codexmem_core.store.workers import process_started

if TYPE_CHECKING:
    from codexmem_core.paths import Home

PATIENCE_S = 10.0
"""How long a new worker waits for an old one that is just ending."""
SECOND_LOOK_S = 6.0
"""A machine that slept looks like a worker that hangs, until the worker has given its next sign."""
_STEP_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The process that holds the lock."""

    pid: int
    started: str
    """Tells it from a later process of the same number; empty where the system does not say."""
    since_ms: int
    """UNIX milliseconds."""

    @property
    def is_there(self) -> bool:
        """Whether the number still belongs to it."""
        return process_started(self.pid) == self.started

    def kill(self, how: signal.Signals) -> None:
        """Send it a signal, and nobody else."""
        if self.is_there:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, how)


class Alone:
    """Held while the process lives."""

    def __init__(self, home: Home, descriptor: int) -> None:
        self._home = home
        self._descriptor = descriptor

    def announce(self, now_ms: int) -> None:
        """Say who it is, once it hears the bell: until then hooks take it for one on its way, and start none."""
        line = f"{os.getpid()} {process_started(os.getpid()) or '-'} {now_ms}\n"
        os.pwrite(self._descriptor, line.encode(), 0)

    def beat(self) -> None:
        """Give a sign of life. Raises FileNotFoundError when the home is not there any more."""
        os.utime(self._home.below(shim.BEAT))

    def close(self) -> None:
        """Let the next one in."""
        os.close(self._descriptor)


def take(home: Home) -> Alone | None:
    """Become the one worker; None when another is at work, which has been rung. One that hangs is killed first.

    Nobody knows who has the lock before it is announced.
    """
    os.makedirs(home.locks, mode=0o700, exist_ok=True)
    descriptor = os.open(_path(home), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + PATIENCE_S
    while not _locked(descriptor):
        if not shim.is_wedged(home.root):
            if shim.ring(home.root) or time.monotonic() > until:
                os.close(descriptor)
                return None
        elif _still_hangs(home):
            holder = owner(home)
            if holder is not None:
                holder.kill(signal.SIGKILL)
            until = time.monotonic() + PATIENCE_S
        time.sleep(_STEP_S)
    os.ftruncate(descriptor, 0)
    with open(home.below(shim.BEAT), "ab"):
        pass
    alone = Alone(home, descriptor)
    alone.beat()
    return alone


def owner(home: Home) -> Owner | None:
    """Who holds the lock, None when nobody does."""
    try:
        descriptor = os.open(_path(home), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if _locked(descriptor, fcntl.LOCK_SH):
            return None
        words = os.pread(descriptor, 200, 0).split()
    finally:
        os.close(descriptor)
    if len(words) != 3 or not words[0].isdigit() or not words[2].isdigit():  # noqa: PLR2004 - as written above
        return None
    started = words[1].decode("ascii", "replace")
    return Owner(pid=int(words[0]), started="" if started == "-" else started, since_ms=int(words[2]))


def stop(home: Home, *, wait_s: float = PATIENCE_S) -> bool:
    """End the worker; False when there is none. One that does not end by itself is killed."""
    holder = owner(home)
    if holder is None:
        return False
    holder.kill(signal.SIGTERM)
    until = time.monotonic() + wait_s
    while owner(home) == holder:
        if time.monotonic() > until:
            holder.kill(signal.SIGKILL)
            until += wait_s
        time.sleep(_STEP_S)
    return True


def _still_hangs(home: Home) -> bool:
    path = home.below(shim.BEAT)
    before = os.stat(path).st_mtime_ns
    until = time.monotonic() + SECOND_LOOK_S
    while time.monotonic() < until:
        time.sleep(_STEP_S)
        if os.stat(path).st_mtime_ns != before:
            return False
    return True


def _path(home: Home) -> str:
    return home.below(shim.LOCK)


def _locked(descriptor: int, how: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
