"""A lane for each memory: one may raise, hang or have a damaged database, and the others finish all the same.

Threads, not processes: two lanes cost 1.02 times one. They are daemon threads, so that a hung one never keeps the
process alive; it is given up when nothing has moved in it for the time of one job.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_core.extract.extraction import Extracted
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.consolidate.consolidation import Consolidated

POLL_S = 0.05


class PassStopped(Exception):  # noqa: N818 - a state that a caller handles
    """The pass is no longer wanted; everything that it held was given back untouched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneResult:
    """What one memory's lane came to."""

    memory: str
    extracted: Extracted = field(default_factory=Extracted)
    consolidated: Consolidated | None = None
    error: str = ""
    """Why the lane ended early; empty when it did not."""


@dataclass(frozen=True, slots=True)
class LaneWork:
    """A lane that can be run."""

    memory: str
    total: int
    work: Callable[[Callable[[], None]], LaneResult]
    """Called with a function that says that something has moved."""
    abandon: Callable[[str, bool], None]
    """Give the lane's claims back, with the reason, and whether it hung: then what it worked on counts as failed."""


def run_all(
    lanes: Sequence[LaneWork],
    *,
    stall_s: float,
    progress: Callable[[int, int], None],
    deadline: Deadline | None = None,
) -> list[LaneResult]:
    """Run all lanes at the same time; a lane in which nothing moves for ``stall_s`` seconds is given up.

    Raises PassStopped when the deadline is cancelled, without waiting for the lanes.
    """
    running = [_Running(lane) for lane in lanes]
    total = sum(lane.work.total for lane in running)
    try:
        for lane in running:
            lane.thread.start()
        while going := [lane for lane in running if lane.is_going(stall_s)]:
            progress(sum(lane.moved for lane in running), total)
            if deadline is not None and deadline.cancelled:
                raise PassStopped("the pass was stopped")
            going[0].thread.join(POLL_S)
    except BaseException:
        for lane in running:
            lane.stopped("the pass was stopped")
        raise
    progress(sum(lane.moved for lane in running), total)
    return [lane.finished(stall_s) for lane in running]


class _Running:
    def __init__(self, work: LaneWork) -> None:
        self.work = work
        self.moved = 0
        self._moved_at = time.monotonic()
        self._result: LaneResult | None = None
        self.thread = threading.Thread(target=self._run, name=f"lane {work.memory}", daemon=True)

    def is_going(self, stall_s: float) -> bool:
        return self.thread.is_alive() and time.monotonic() - self._moved_at < stall_s

    def finished(self, stall_s: float) -> LaneResult:
        if self._result is not None:
            return self._result
        reason = f"nothing moved for {stall_s:g} seconds; given up"
        self._abandon(reason, hung=True)
        return LaneResult(memory=self.work.memory, error=reason)

    def stopped(self, reason: str) -> None:
        if self._result is None:
            self._abandon(reason, hung=False)

    def _run(self) -> None:
        try:
            self._result = self.work.work(self._move)
        except Exception as error:  # noqa: BLE001 - a lane's failure is its result
            reason = redact(f"{type(error).__name__}: {error}")
            self._abandon(reason, hung=False)
            self._result = LaneResult(memory=self.work.memory, error=reason)

    def _move(self) -> None:
        self.moved += 1
        self._moved_at = time.monotonic()

    def _abandon(self, reason: str, *, hung: bool) -> None:
        try:
            self.work.abandon(reason, hung)
        except Exception:  # noqa: BLE001 - a damaged database cannot take claims back; leases run out by themselves
            return
