"""How much may be spent: calls and tokens a day, over all stages, memories and processes.

Memories share the day evenly, so that one which spends its part leaves the others theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from codexmem_core.models.day import DayLimits, day_of, spent_on
from codexmem_core.models.refusals import NotAsked
from codexmem_core.store.ledger import Usage as Spent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

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

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        clock: Clock,
        limits: DayLimits,
        *,
        costs: bool,
        sharers: Collection[str] = (),
    ) -> None:
        """``sharers``: plugins of the memories that share the day."""
        self._sharers = sharers
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
        own = self._share(memory)
        if not self._costs:
            self._ledger().spend(spent)
        elif not self._ledger().reserve_call(
            spent,
            max_calls=self._limits.calls,
            max_tokens=self._limits.tokens,
            own_calls=own.calls,
            own_tokens=own.tokens,
        ):
            raise self._over(memory, tokens)
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

    def spent_out(self, memory: str = "") -> NotAsked | None:
        """Why no call can be made any more today, of this memory, or None."""
        if self._costs and any(
            calls >= limits.calls or tokens >= limits.tokens for limits, (calls, tokens) in self._spent(memory)
        ):
            return self._over(memory, 0)
        return None

    def _share(self, memory: str) -> DayLimits:
        return self._limits.share(len(self._sharers)) if memory in self._sharers else self._limits

    def _spent(self, memory: str) -> list[tuple[DayLimits, tuple[int, int]]]:
        """What the day allows with what it has cost, of all, and of a memory that has only a share."""
        ledger = self._ledger()
        all_of_it = [(self._limits, spent_on(ledger, self.day))]
        share = self._share(memory)
        return all_of_it if share == self._limits else [*all_of_it, (share, spent_on(ledger, self.day, memory))]

    def _over(self, memory: str, tokens: int) -> NotAsked:
        told = "; ".join(
            f"{calls} of {limits.calls} calls, {spent} of {limits.tokens} tokens spent{whose}"
            for (limits, (calls, spent)), whose in zip(
                self._spent(memory), ("", f" by {memory}, which has an equal share"), strict=False
            )
        )
        asked = f", and this request is about {tokens}" if tokens else ""
        return NotAsked(
            f"the budget of {self.day} (UTC) does not allow it: {told}{asked}; see [budget]",
            "capacity",
            hold=False,
            retry_after_s=_left_of_day(self._clock),
        )


def _left_of_day(clock: Clock) -> float:
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (tomorrow - now).total_seconds()
