"""The one clock; injected, so that tests can turn it."""

from __future__ import annotations

import time


class SystemClock:
    """The machine's time."""

    def now_ms(self) -> int:
        """UNIX milliseconds."""
        return time.time_ns() // 1_000_000
