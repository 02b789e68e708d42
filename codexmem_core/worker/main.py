"""The worker's main thread: rung by hooks, gives signs of life, and decides when to end."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import stat
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from codexmem_core.host import alone, shim
from codexmem_core.host.spool import Spool
from codexmem_core.paths import Home
from codexmem_core.services.clock import SystemClock
from codexmem_core.services.processes import CHILD_MARK
from codexmem_core.worker.answering import Answering
from codexmem_core.worker.engines import Engines
from codexmem_core.worker.installation import Installation
from codexmem_core.worker.intake import Intake
from codexmem_core.worker.passes import Passes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_core.plugins.discovery import Candidate

BEAT_S = 2.0
"""Well below the time after which a new worker is convinced that this one hangs (alone.SECOND_LOOK_S)."""
STUCK_S = 15 * 60.0
"""A pass in which nothing moves for so long outside of the lanes, which watch themselves, is beyond help."""
OF_ONE_SESSION = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PROJECT_DIR",
        "AI_AGENT",
    }
)
"""Variables that tell a hook of the session which called it (Claude Code 2.1.197). The worker belongs to none, and
Claude Code as a model would take itself for a session within that one."""
STOP_S = 3.0
"""Longest wait for a pass that was told to stop."""


def main(home: str, config: str) -> NoReturn:
    """Be the worker of a home until nothing is to be done any more. Leaves without waiting for threads that hang."""
    code = 1
    try:
        code = work(home, config, os.environ)
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def work(home: str, config: str, environ: Mapping[str, str], *, plugins: Sequence[Candidate] | None = None) -> int:
    """Exit status: 0 also when another worker is there; it has been rung. ``plugins``: None for the installed ones."""
    if environ.get(CHILD_MARK):
        return 0  # a model's own session must not be learned from
    environ = {name: value for name, value in environ.items() if name not in OF_ONE_SESSION}
    os.umask(0o077)
    place = Home(os.path.abspath(home))
    lock = alone.take(place)
    if lock is None:
        return 0
    config = os.path.abspath(config)
    worker = Worker(place, lock, Engines(place.root, config, environ, plugins))
    worker.run()
    if worker.outdated:
        # The same process with the code that is there now; whoever rings meanwhile is heard by it.
        os.execv(sys.executable, [sys.executable, "-I", "-m", "codexmem_core.host.worker", place.root, config])  # noqa: S606
    return 0


class Worker:
    """Owns the bell, and the threads that work."""

    def __init__(self, home: Home, lock: alone.Alone, engines: Engines) -> None:
        self._home = home
        self._lock = lock
        self._engines = engines
        self._passes = Passes(engines)
        self._intake = Intake(engines, self._passes)
        self._answering = Answering(self._intake)
        self._selector = selectors.DefaultSelector()
        self._bell: tuple[int, int] | None = None
        self._told_to_stop = False
        self._installation = Installation()
        self.outdated = False
        """Whether it ended because another version is installed now."""

    def run(self) -> None:
        """Until the end."""
        self._listen_to_signals()
        self._listen_to_questions()
        self._open_bell()
        self._lock.announce(SystemClock().now_ms())
        self._passes.thread.start()
        self._intake.thread.start()
        why = ""
        while not why:
            for key, _ in self._selector.select(BEAT_S):
                key.data()
            why = self._why_end()
        self._end(why)

    def _why_end(self) -> str:
        try:
            self._lock.beat()
        except FileNotFoundError:
            return "the home is not there any more"
        if self._told_to_stop:
            return "told to stop"
        if self._passes.stuck_s > STUCK_S:
            return f"nothing moved for {STUCK_S:g} seconds"
        if self._passes.idle and self._installation.has_changed():
            self.outdated = True
            return "something was installed; begun anew"
        quiet_s = time.monotonic() - self._intake.happened_at
        if quiet_s > self._engines.idle_s and self._passes.idle and self._nothing_came():
            return "nothing to do"
        return ""

    def _nothing_came(self) -> bool:
        """Close the bell, so that hooks start another worker, and look once more for what rang before that."""
        self._close_bell()
        if self._intake.trouble or not Spool(self._home.spool).names():
            return True  # what cannot be taken in now waits for the next worker
        self._open_bell()
        self._intake.ring()
        return False

    def _end(self, why: str) -> None:
        self._close_bell()
        self._answering.close()
        self._passes.stop(STOP_S)
        with suppress(Exception):  # whatever it is, the process ends now
            self._engines.warm().log("worker").info("end", why=why)
            self._engines.close()
        self._lock.close()

    def _listen_to_signals(self) -> None:
        receiver, sender = socket.socketpair()
        receiver.settimeout(0)
        sender.settimeout(0)
        signal.set_wakeup_fd(sender.detach())
        self._selector.register(receiver, selectors.EVENT_READ, lambda: receiver.recv(64))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _listen_to_questions(self) -> None:
        try:
            self._answering.open(self._home.root)
        except OSError as error:  # a file system without sockets: hooks do with what lies ready
            self._intake.tell("hooks cannot ask", error)
        else:
            self._selector.register(self._answering.listener, selectors.EVENT_READ, self._answering.accept)

    def _stop(self, _signal: int, _frame: object) -> None:
        self._told_to_stop = True

    def _open_bell(self) -> None:
        path = self._home.below(shim.FIFO)
        try:
            if not stat.S_ISFIFO(os.lstat(path).st_mode):
                os.unlink(path)
                os.mkfifo(path, 0o600)
        except FileNotFoundError:
            os.mkfifo(path, 0o600)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # so that it never reads as ended
        self._bell = reader, writer
        self._selector.register(reader, selectors.EVENT_READ, self._ring)

    def _close_bell(self) -> None:
        if self._bell is not None:
            self._selector.unregister(self._bell[0])
            for descriptor in self._bell:
                os.close(descriptor)
            self._bell = None

    def _ring(self) -> None:
        if self._bell is not None:
            with suppress(BlockingIOError):
                os.read(self._bell[0], 1 << 16)
            self._intake.ring()
