"""What ``doctor`` says of the worker and of events on their way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import Finding

from codexmem_core.host.state import worker_state
from codexmem_core.safety.text import shown_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_core.host.spool import Spool
    from codexmem_core.paths import Home
    from codexmem_core.store.journal import Journal, Notice

WAITED_MS = 3_600_000
"""An event that waits for longer was not taken in by the worker that its hook woke."""
NOTICE_MS = 7 * 86_400_000
"""So long ago a thing that happened once is told."""
NOTICES = "hooks"
"""Source of the catalogue's notices about hooks."""


def hook_notices(catalogue: Journal, now_ms: int) -> list[Notice]:
    """What hooks could not hand over in the last days, newest first."""
    return [one for one in catalogue.notices(since_ms=now_ms - NOTICE_MS) if one.source == NOTICES]


def worker_findings(home: Home, spool: Spool, notices: Iterable[Notice], now_ms: int) -> Iterator[Finding]:
    """Whether somebody takes in what hooks record."""
    state = worker_state(home, now_ms)
    log = f"see why workers end in {home.logs}"
    if state.wedged:
        yield Finding(
            level="warn",
            message=f"the worker, process {state.pid}, gives no sign of life; the next hook replaces it",
            fix="codexmem worker --stop",
        )
    elif state.pid:
        yield Finding(level="ok", message=f"process {state.pid} since {shown_time(state.since_ms)}")
    else:
        yield Finding(level="ok", message="none runs; the next hook starts one")
    if state.next_start_ms:
        yield Finding(
            level="warn",
            message=f"{state.starts} workers were started within an hour; hooks start none before "
            f"{shown_time(state.next_start_ms)}",
            fix=f"{log}; codexmem run takes in what waits",
        )
    oldest = min((int(name[:13]) for name in spool.names() if name[:13].isdigit()), default=now_ms)
    if now_ms - oldest > WAITED_MS:
        yield Finding(
            level="warn", message=f"events wait since {shown_time(oldest)}", fix=f"codexmem run takes them in; {log}"
        )
    for notice in notices:
        yield Finding(
            level="warn", message=f"{notice.text} ({notice.times} times, last {shown_time(notice.last_at_ms)})"
        )
