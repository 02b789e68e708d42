"""Child programs end with this process, also when it is killed: a small process holds a pipe and knows their groups.

As a program it reads ``+GROUP`` and ``-GROUP`` lines until the pipe ends, and then kills the groups that are left.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
groups = set()
for line in sys.stdin:
    change = groups.add if line[0] == "+" else groups.discard
    change(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Leash:
    """Shared by everything in a process that starts programs; nothing runs before the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: subprocess.Popen[bytes] | None = None

    def ready(self) -> None:
        """Call it before a program is started: while a holder starts, this process may be killed."""
        with self._lock, suppress(OSError):
            self._living_holder()

    @contextmanager
    def holding(self, group: int) -> Iterator[None]:
        """While inside, the group dies with this process; afterwards it is dead in any case."""
        self._tell(b"+%d\n" % group)
        try:
            yield
        finally:
            kill_group(group)
            self._tell(b"-%d\n" % group)

    def close(self) -> None:
        """No program runs any more."""
        with self._lock:
            if self._holder is not None and self._holder.stdin is not None:
                with suppress(OSError):
                    self._holder.stdin.close()
                self._holder.wait()
            self._holder = None

    def _tell(self, line: bytes) -> None:
        # No process left for it, or somebody killed it: the next program gets a new one.
        with self._lock, suppress(OSError):
            pipe = self._living_holder().stdin
            assert pipe is not None
            pipe.write(line)

    def _living_holder(self) -> subprocess.Popen[bytes]:
        if self._holder is None or self._holder.poll() is not None:
            self._holder = _holder()
        return self._holder


def _holder() -> subprocess.Popen[bytes]:
    import subprocess  # most commands start no program

    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )


def kill_group(group: int) -> None:
    """All of it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
