"""What a day may cost and has cost. Light, because ``status`` shows it and loads no backend."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Clock

    from codexmem_core.config import Config
    from codexmem_core.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLimits:
    """``[budget]``; a day is a day of UTC."""

    calls: int
    tokens: int

    @classmethod
    def of(cls, config: Config) -> DayLimits:
        """As configured."""
        return cls(calls=config.number("budget", "calls_per_day"), tokens=config.number("budget", "tokens_per_day"))

    def share(self, sharers: int) -> DayLimits:
        """What one of so many may spend, so that none spends what the others need; rounded up."""
        return DayLimits(calls=-(-self.calls // sharers), tokens=-(-self.tokens // sharers))


def day_of(clock: Clock) -> str:
    """Today in UTC, ``YYYY-MM-DD``."""
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC).strftime("%Y-%m-%d")


def spent_on(ledger: Ledger, day: str, memory: str = "") -> tuple[int, int]:
    """Calls and tokens of a day, of all memories or of one (its plugin)."""
    usage = [row for row in ledger.usage(day) if memory in ("", row.memory)]
    return sum(row.calls for row in usage), sum(row.tokens_in + row.tokens_out for row in usage)
