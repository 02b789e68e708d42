"""What can be seen of the worker from outside: whether one is there, how it is, how often one was started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.host import alone, shim

if TYPE_CHECKING:
    from codexmem_core.paths import Home

LAST_PASS = "worker-last-pass"  # noqa: S105 - a pass, no password
"""Mark of the catalogue: UNIX milliseconds of the worker's last pass."""
TAKEN_IN = "events-taken-in"
"""Mark of the catalogue: another word whenever a command, and not the worker, has taken events in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """Times are UNIX milliseconds."""

    pid: int
    """0 when none runs."""
    since_ms: int
    wedged: bool
    """It has given no sign of life for so long that the next hook replaces it."""
    starts: int
    """Within the last hour; hooks start no more than ``starts_an_hour``."""
    starts_an_hour: int
    next_start_ms: int
    """When the next may be started; 0: now."""


def worker_state(home: Home, now_ms: int) -> WorkerState:
    """Looking changes nothing."""
    owner = alone.owner(home)
    recent = [ms for ms, _ in shim.parsed_starts(_content(home.below(shim.STARTS))) if 0 <= now_ms - ms < shim.HOUR_MS]
    full = len(recent) >= shim.STARTS_AN_HOUR
    return WorkerState(
        pid=owner.pid if owner else 0,
        since_ms=owner.since_ms if owner else 0,
        wedged=owner is not None and shim.is_wedged(home.root),
        starts=len(recent),
        starts_an_hour=shim.STARTS_AN_HOUR,
        next_start_ms=min(recent) + shim.HOUR_MS if full else 0,
    )


def _content(path: str) -> bytes:
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read()
