"""Child programs that serve for as long as this process's work goes on: each is started once, and ended with it."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, NamedTuple

from codexmem_core.services.processes import CHILD_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.services.leash import Leash

LOOK_S = 0.05
SHOWN_BYTES = 300


class _Serving(NamedTuple):
    """One that said that it is ready."""

    child: subprocess.Popen[bytes]
    said: str
    ends: ExitStack


class ServingPrograms:
    """Of one engine. Threads share it: who wants the same program waits for the one that is being started."""

    def __init__(self, environ: Mapping[str, str], leash: Leash) -> None:
        self._environ = environ
        self._leash = leash
        self._lock = threading.Lock()
        self._programs: dict[tuple[str, ...], _Serving] = {}

    def start(
        self,
        argv: Sequence[str],
        *,
        says: str,
        timeout_s: float,
        deadline: Deadline,
        folder: str = "",
        environ: Mapping[str, str],
    ) -> str:
        """See :meth:`codexmem_hookspecs.services.Processes.serve`."""
        key = (folder, *argv)
        with self._lock:
            serving = self._programs.get(key)
            if serving is not None and serving.child.poll() is None:
                return serving.said
            if serving is not None:
                self._programs.pop(key).ends.close()
            with ExitStack() as ends:
                output = ends.enter_context(tempfile.TemporaryFile())
                self._leash.ready()
                child = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**self._environ, **environ, CHILD_MARK: "1"},
                    cwd=folder or None,
                    start_new_session=True,
                )
                ends.callback(child.wait)
                ends.enter_context(self._leash.holding(child.pid))
                said = _heard(child, argv[0], output, re.compile(says.encode()), timeout_s, deadline)
                self._programs[key] = _Serving(child, said, ends.pop_all())
                return said

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            while self._programs:
                self._programs.popitem()[1].ends.close()


def _heard(
    child: subprocess.Popen[bytes],
    program: str,
    output: IO[bytes],
    says: re.Pattern[bytes],
    timeout_s: float,
    deadline: Deadline,
) -> str:
    ends_at = time.monotonic() + min(timeout_s, deadline.left_s)
    while True:
        ended = child.poll() is not None
        output.seek(0)
        printed = output.read()
        if found := says.search(printed):
            return found[1].decode("utf-8", "replace")
        if ended:
            last = printed[-SHOWN_BYTES:].decode("utf-8", "replace").strip() or "it said nothing"
            raise TimeoutError(f"{program} ended before it was ready: {last}")
        if deadline.cancelled or time.monotonic() >= ends_at:
            raise TimeoutError(f"{program} was not ready after {timeout_s:g} s; killed")
        time.sleep(LOOK_S)
