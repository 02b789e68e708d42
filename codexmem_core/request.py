"""What a run is asked for."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def explicit(self) -> bool:
        """Whether the user named what is read."""
        return bool(self.sessions or self.folder)
