"""A worker that is killed on its way to an OpenViking server, with the account of what it could not write down."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import threading
import time

from codexmem_core.host import alone
from codexmem_core.paths import Home

DEAD_S = 30.0


class WorkerKiller:
    """Kills the worker of a home whenever it is called; ``wake`` has the next one started."""

    def __init__(self, home, states, proxy, wake):
        self._home = Home(str(home))
        self._states = states
        self._proxy = proxy
        self._wake = wake
        self._one_at_a_time = threading.Lock()
        self.kills = 0

    def __call__(self):
        """No other worker begins before it is known what this one had written down."""
        with self._one_at_a_time, self.no_start():
            owner = alone.owner(self._home)
            if owner is None:
                return
            os.kill(owner.pid, signal.SIGKILL)
            ends_at = time.monotonic() + DEAD_S
            while alone.owner(self._home) == owner:
                assert time.monotonic() < ends_at, "a process that was killed is still there"
                time.sleep(0.005)
            self._proxy.client_died(self._noted)
            self.kills += 1
        self._wake()

    def no_start(self):
        """Holds what a hook must have to start a worker, and lets hooks believe that none was started for an hour."""
        os.makedirs(self._home.locks, exist_ok=True)
        starts = open(os.path.join(self._home.locks, "worker.starts"), "a+")  # noqa: SIM115 - the caller closes it
        fcntl.lockf(starts, fcntl.LOCK_EX)
        starts.truncate(0)
        return starts

    def _noted(self, name):
        path = self._states / f"{name.removeprefix('cx-')}.json"
        return json.loads(path.read_text())["capturedTurnCount"] if path.exists() else 0
