"""Child programs: each in a group of its own, killed as a group on timeout, and marked so that none is captured.

None outlives this process, however that ends.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING

from codexmem_hookspecs.services import NO_CHANGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.services.leash import Leash
    from codexmem_core.services.serving import ServingPrograms

STEP_S = 0.1
CHILD_MARK = "CODEXMEM_CHILD"
"""Set to 1 in every child; hooks that see it do nothing, so that a model program's own session is never captured."""


class ChildProcesses:
    """Runs programs without a shell."""

    def __init__(
        self, environ: Mapping[str, str], leash: Leash, deadline: Deadline, serving: ServingPrograms | None = None
    ) -> None:
        self._environ = environ
        self._leash = leash
        self._deadline = deadline
        self._serving = serving

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float,
        folder: str = "",
        environ: Mapping[str, str] = NO_CHANGES,
    ) -> tuple[int, bytes, bytes]:
        """Exit status, output, errors. Raises FileNotFoundError and TimeoutError; then the whole group is gone.

        ``folder``: where it runs; empty for the folder of this process. ``environ``: over what it inherits. Output
        goes into files without a name: a program that ends before a pipe was emptied can lose what it printed
        (OpenCode 1.18 ``export``: past 64 KiB).
        """
        timeout_s = min(timeout_s, self._deadline.left_s)
        self._leash.ready()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            with (
                subprocess.Popen(
                    list(argv),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=errors,
                    env={**self._environ, **environ, CHILD_MARK: "1"},
                    cwd=folder or None,
                    start_new_session=True,
                ) as child,
                self._leash.holding(child.pid),
            ):
                self._attend(child, argv[0], stdin, time.monotonic() + timeout_s, timeout_s)
            return child.returncode, _content(output), _content(errors)

    def serve(
        self,
        argv: Sequence[str],
        *,
        says: str,
        timeout_s: float,
        folder: str = "",
        environ: Mapping[str, str] = NO_CHANGES,
    ) -> str:
        """A program that goes on; see :class:`codexmem_core.services.serving.ServingPrograms`."""
        assert self._serving is not None, "nobody would end it"
        return self._serving.start(
            argv, says=says, timeout_s=timeout_s, deadline=self._deadline, folder=folder, environ=environ
        )

    def _attend(
        self, child: subprocess.Popen[bytes], program: str, stdin: bytes, ends_at: float, timeout_s: float
    ) -> None:
        """Until its end, in short steps, so that work which is no longer wanted ends at once."""
        to_send: bytes | None = stdin
        while True:
            left_s = ends_at - time.monotonic()
            try:
                child.communicate(to_send, timeout=max(0.0, min(STEP_S, left_s)))
            except subprocess.TimeoutExpired:
                to_send = None  # it goes on with what it was given
                if left_s <= STEP_S:
                    raise TimeoutError(f"{program}: no end after {timeout_s:.1f} s; killed") from None
                if self._deadline.cancelled:
                    raise TimeoutError(f"{program}: no longer wanted; killed") from None
            else:
                return


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
