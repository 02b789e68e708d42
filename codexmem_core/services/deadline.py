"""How long a call may still take, and whether its work is still wanted."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Deadline


class WorkDeadline:
    """Ends at a monotonic instant, or earlier when it is cancelled. Threads share it.

    ``within`` is the deadline of the whole that this work is part of: its end is the part's end as well.
    """

    def __init__(self, seconds: float, *, within: Deadline | None = None) -> None:
        self._ends_at = time.monotonic() + seconds
        self._cancelled = threading.Event()
        self._within = within

    @property
    def left_s(self) -> float:
        """Seconds left, never negative; 0 once cancelled."""
        if self._cancelled.is_set():
            return 0.0
        own = max(0.0, self._ends_at - time.monotonic())
        return own if self._within is None else min(own, self._within.left_s)

    @property
    def cancelled(self) -> bool:
        """True when the time is over as well: then the work is no longer wanted either."""
        if self._cancelled.is_set() or time.monotonic() >= self._ends_at:
            return True
        return self._within is not None and self._within.cancelled

    def cancel(self) -> None:
        """The work is no longer wanted."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but wake when cancelled; returns whether it is."""
        return self._cancelled.wait(min(seconds, self.left_s)) or self.cancelled
