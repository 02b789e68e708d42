"""What a run is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.capture.selection import DAY_MS, HOUR_MS, SelectionRules

if TYPE_CHECKING:
    from codexmem_core.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """``sessions`` and ``folder`` are explicit choices: no age, idle or count limit."""

    host: str = ""
    sessions: tuple[str, ...] = ()
    folder: str = ""
    since_ms: int = 0
    """Only sessions active since, UNIX milliseconds; 0 for the configured age."""
    limit: int = 0
    """At most so many sessions in each memory; 0 for the configured limit."""
    all_ages: bool = False
    idle_hours: float = -1.0
    """Hours without activity; negative for the configured ones."""
    now: bool = False
    """Skip the cooldown of models that cost."""
    memory: str = ""
    """Only this memory; all of them for none."""
    extract: bool = True
    consolidate: bool = True

    @property
    def explicit(self) -> bool:
        """Whether the user named what is read."""
        return bool(self.sessions or self.folder)

    def rules(self, config: Config, now_ms: int, *, costs: bool) -> SelectionRules:
        """The limits that hold for it; ``costs``: whether the model does."""
        age_ms = config.number("memories", "max_rollout_age_days") * DAY_MS
        hours = self.idle_hours if self.idle_hours >= 0 else config.number("memories", "min_rollout_idle_hours")
        return SelectionRules(
            now_ms=now_ms,
            explicit=self.explicit,
            since_ms=self.since_ms or (0 if self.all_ages else now_ms - age_ms),
            idle_ms=int(hours * HOUR_MS),
            end_counts=not costs,
        )
