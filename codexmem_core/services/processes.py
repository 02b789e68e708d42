"""Child programs: each in a group of its own, killed as a group on timeout, and marked so that none is captured."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Deadline

CHILD_MARK = "CODEXMEM_CHILD"
"""Set to 1 in every child; hooks that see it do nothing, so that a model program's own session is never captured."""


class ChildProcesses:
    """Runs programs without a shell."""

    def __init__(self, environ: Mapping[str, str], deadline: Deadline) -> None:
        self._environ = environ
        self._deadline = deadline

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float, folder: str = ""
    ) -> tuple[int, bytes, bytes]:
        """Exit status, output, errors. Raises FileNotFoundError and TimeoutError; then the whole group is gone.

        ``folder``: where it runs; empty for the folder of this process.
        """
        timeout_s = min(timeout_s, self._deadline.left_s)
        with subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self._environ, CHILD_MARK: "1"},
            cwd=folder or None,
            start_new_session=True,
        ) as child:
            try:
                output, errors = child.communicate(stdin, timeout=timeout_s)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"{argv[0]}: no end after {timeout_s:.1f} s; killed") from None
            finally:
                _kill_group(child.pid)
        return child.returncode, output, errors


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
