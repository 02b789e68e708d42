"""How much may be spent: calls and tokens a day, over all stages, memories and processes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from codexmem_core.models.day import DayLimits, day_of, spent_on
from codexmem_core.models.refusals import NotAsked
from codexmem_core.store.ledger import Usage as Spent

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_hookspecs.services import Clock
    from codexmem_hookspecs.values.models import Usage

    from codexmem_core.models.selection import Stage
    from codexmem_core.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A call that is counted and not yet over."""

    spent: Spent


class Budget:
    """Counts every request before it is made, in one transaction with the check, so that nobody overspends together."""

    def __init__(self, ledger: Callable[[], Ledger], clock: Clock, limits: DayLimits, *, costs: bool) -> None:
        self._ledger = ledger
        self._clock = clock
        self._limits = limits
        self._costs = costs

    @property
    def day(self) -> str:
        """Today, ``YYYY-MM-DD``."""
        return day_of(self._clock)

    def reserve(self, stage: Stage, memory: str, model: str, tokens: int) -> Reservation:
        """Count a call and the tokens that it will send. Raises NotAsked when the day cannot bear it."""
        spent = Spent(day=self.day, stage=stage, memory=memory, model=model, calls=1, tokens_in=tokens)
        if not self._costs:
            self._ledger().spend(spent)
        elif not self._ledger().reserve_call(spent, max_calls=self._limits.calls, max_tokens=self._limits.tokens):
            raise self._over(tokens)
        return Reservation(spent=spent)

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Put what was really spent in the place of the estimate."""
        spent = reservation.spent
        self._ledger().spend(
            Spent(
                day=spent.day,
                stage=spent.stage,
                memory=spent.memory,
                model=spent.model,
                tokens_in=usage.tokens_in - spent.tokens_in,
                tokens_out=usage.tokens_out,
            )
        )

    def spent_out(self) -> NotAsked | None:
        """Why no call can be made any more today, or None."""
        calls, tokens = spent_on(self._ledger(), self.day)
        if self._costs and (calls >= self._limits.calls or tokens >= self._limits.tokens):
            return self._over(0)
        return None

    def _over(self, tokens: int) -> NotAsked:
        calls, spent = spent_on(self._ledger(), self.day)
        asked = f", and this request is about {tokens}" if tokens else ""
        return NotAsked(
            f"the budget of {self.day} (UTC) does not allow it: {calls} of {self._limits.calls} calls, {spent} of"
            f" {self._limits.tokens} tokens spent{asked}; see [budget]",
            "capacity",
            hold=False,
            retry_after_s=_left_of_day(self._clock),
        )


def _left_of_day(clock: Clock) -> float:
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (tomorrow - now).total_seconds()
