"""What a run tells: counts of distinct sessions, each memory's part, and a reason for every session left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codexmem_core.lanes import LaneResult

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """One memory's part of a run."""

    status: str
    """``succeeded``, ``up_to_date``, ``failed``, ``extracted`` (consolidation waits), ``skipped_…``."""
    claimed: int = 0
    extracted: int = 0
    empty: int = 0
    failed: int = 0
    consolidation: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSession:
    """A session that was not extracted, and why; ``memory`` is empty when no memory was offered it."""

    session: str
    memory: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One pass."""

    sessions: Mapping[str, int]
    memories: Mapping[str, MemoryReport]
    skipped: tuple[SkippedSession, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = field(default=())
    """Why the run did not do what it was asked for."""

    @property
    def failed(self) -> bool:
        """Whether the command should say 1."""
        return bool(self.errors) or any(
            memory.status == "failed" or 0 < memory.claimed == memory.failed for memory in self.memories.values()
        )

    @property
    def up_to_date(self) -> bool:
        """Whether there was nothing to do."""
        return not self.failed and all(memory.status == "up_to_date" for memory in self.memories.values())


def report_of(
    discovered: int,
    refused: Mapping[Key, str],
    eligible: Sequence[Key],
    lanes: Sequence[LaneResult],
    *,
    unchanged: int = 0,
    warnings: Iterable[str] = (),
    errors: Iterable[str] = (),
) -> RunReport:
    """Count distinct sessions over all lanes; a session with any outcome in any memory is not skipped.

    ``unchanged`` sessions that needed no look are told in one row, whatever their number.
    """
    claimed, extracted, empty, failed = set[Key](), set[Key](), set[Key](), set[Key]()
    skipped = [_row(key, "", reason) for key, reason in refused.items()]
    for lane in lanes:
        claimed |= set(lane.extracted.claimed)
        extracted |= set(lane.extracted.extracted)
        empty |= set(lane.extracted.empty)
        failed |= set(lane.extracted.failed)
        for outcomes in (lane.extracted.empty, lane.extracted.failed, lane.extracted.refused):
            skipped += [_row(key, lane.memory, reason) for key, reason in outcomes.items()]
        told = {*lane.extracted.extracted, *lane.extracted.empty, *lane.extracted.failed, *lane.extracted.refused}
        skipped += [_row(key, lane.memory, lane.error or "not reached") for key in eligible if key not in told]
    if not lanes:
        skipped += [_row(key, "", "no memory is installed") for key in eligible]
    # Sessions that a folder gave before, and no host finds by itself, are offered again and count as well.
    discovered = max(discovered, len({*eligible, *refused}))
    quiet = discovered - len(eligible) - len(refused)
    if unchanged and quiet > 0:
        skipped.append(
            SkippedSession(
                session="", memory="", reason=f"{quiet} known before: nothing new, too old, or not asked for"
            )
        )
    return RunReport(
        sessions={
            "discovered": discovered,
            "eligible": len(eligible),
            "claimed": len(claimed),
            "extracted": len(extracted),
            "empty": len(empty),
            "failed": len(failed),
            "skipped": discovered - len(extracted | empty | failed),
        },
        memories={lane.memory: _memory(lane) for lane in lanes},
        skipped=tuple(sorted(skipped, key=lambda row: (row.session, row.memory))),
        warnings=tuple(dict.fromkeys(warnings)),
        errors=tuple(errors),
    )


def _memory(lane: LaneResult) -> MemoryReport:
    done, consolidated = lane.extracted, lane.consolidated
    if lane.error or (consolidated is not None and consolidated.failed):
        status = "failed"
    elif consolidated is None:
        status = "extracted" if done.claimed else "up_to_date"
    elif consolidated.status == "no_workspace_changes":
        status = "up_to_date" if not done.claimed else "succeeded"
    else:
        status = consolidated.status
    return MemoryReport(
        status=status,
        claimed=len(done.claimed),
        extracted=len(done.extracted),
        empty=len(done.empty),
        failed=len(done.failed),
        consolidation=consolidated.status if consolidated else "",
        detail=lane.error or (consolidated.detail if consolidated else ""),
    )


def _row(key: Key, memory: str, reason: str) -> SkippedSession:
    return SkippedSession(session=":".join(key), memory=memory, reason=reason)
