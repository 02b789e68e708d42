"""Processes that a hook leaves behind: nobody's children, which are to be found and ended."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIES, PAUSE_S = 500, 0.01


def end(pid: int) -> None:
    """Kill it and wait until it is gone."""
    with suppress(ProcessLookupError):
        for _ in range(TRIES):
            os.kill(pid, signal.SIGKILL)
            if _is_dead(pid):
                return
            time.sleep(PAUSE_S)


def started_under(home: Path) -> Iterator[int]:
    """Ids of all processes whose HOME is this folder. Where there is no /proc none is found."""
    wanted = b"HOME=" + os.fsencode(home)
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if wanted in environ.read_bytes().split(b"\0"):
                yield int(environ.parent.name)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
