"""How long a call may still take, and whether its work is still wanted."""

from __future__ import annotations

import threading
import time


class WorkDeadline:
    """Ends at a monotonic instant, or earlier when it is cancelled. Threads share it."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds
        self._cancelled = threading.Event()

    @property
    def left_s(self) -> float:
        """Seconds left, never negative; 0 once cancelled."""
        return 0.0 if self._cancelled.is_set() else max(0.0, self._ends_at - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """True when the time is over as well: then the work is no longer wanted either."""
        return self._cancelled.is_set() or time.monotonic() >= self._ends_at

    def cancel(self) -> None:
        """The work is no longer wanted."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but wake when cancelled; returns whether it is."""
        return self._cancelled.wait(min(seconds, self.left_s)) or self.cancelled
