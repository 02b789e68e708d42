"""Whether a memory has seen enough to be read by new sessions, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.plugins.calls import PluginError

if TYPE_CHECKING:
    from codexmem_core.readpath.access import MemoryAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """How far a memory is (OpenCode memory: readiness of V2). Nothing depends on it but what the user chooses."""

    sessions: int
    """The most sessions that one successful consolidation used. Stays when sessions are let go; a reset clears it."""
    needed: int
    problems: tuple[str, ...]
    """Why its files are not valid."""

    @property
    def missing(self) -> tuple[str, ...]:
        """What there must be yet; empty when it is ready."""
        few = f"one consolidation of {self.needed} sessions (the largest had {self.sessions})"
        return (*((few,) if self.sessions < self.needed else ()), *self.problems)

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "ready": self.ready,
            "sessions": self.sessions,
            "needed": self.needed,
            "missing": list(self.missing),
        }


def readiness(access: MemoryAccess, plugin: str, *, sessions: int, needed: int = 0) -> Readiness:
    """``sessions``: as the memory's database says. ``needed``: 0 for ``[memories] ready_sessions``."""
    needed = needed or access.config().number("memories", "ready_sessions")
    try:
        workspace = MemoryWorkspace(access.memories[plugin], access.root(plugin))
        problems = tuple(f"{one.path}: {one.message}" for one in access.stages.consolidate_check(plugin, workspace))
    except (OSError, Refused, PluginError) as error:
        problems = (str(error),)
    return Readiness(sessions=sessions, needed=needed, problems=problems)
