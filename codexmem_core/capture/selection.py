"""Which of the known sessions a pass offers to the memories, and why it leaves out the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.capture.guards import Guards
    from codexmem_core.store.sessions import KnownSession

Key = tuple[str, str]

DAY_MS = 86_400_000
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """The limits of one pass; an explicit choice has none but the guards."""

    now_ms: int
    explicit: bool = False
    since_ms: int = 0
    """Older sessions are left out, UNIX milliseconds."""
    idle_ms: int = 0
    """Sessions that were touched more recently wait, unless their end was seen."""
    end_counts: bool = True
    """Whether a seen end makes the wait superfluous. Not with a model that costs: a session that is taken up again
    would be paid for twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Eligible sessions, newest first, and the reason of every other one."""

    eligible: tuple[Session, ...]
    refused: dict[Key, str]


def select(seen: Iterable[KnownSession], guards: Guards, rules: SelectionRules) -> Selection:
    """Apply the guards to all, the limits to what was not chosen explicitly."""
    eligible: list[Session] = []
    refused: dict[Key, str] = {}
    for known in seen:
        session = known.session
        reason = guards.refusal(session) or ("" if rules.explicit else _too_early_or_late(known, rules))
        if reason:
            refused[session.host, session.id] = reason
        else:
            eligible.append(session)
    return Selection(eligible=tuple(eligible), refused=refused)


def _too_early_or_late(known: KnownSession, rules: SelectionRules) -> str:
    session = known.session
    if session.updated_at_ms < rules.since_ms:
        return f"last active more than {_days(rules.now_ms - rules.since_ms)} ago"
    ended = known.ended_at_ms > 0 and rules.end_counts
    idle_ms = rules.now_ms - max(session.updated_at_ms, session.touched_at_ms)
    if not ended and idle_ms < rules.idle_ms:
        end = ", and no end was seen" if rules.end_counts else ""
        return f"not idle for {rules.idle_ms / HOUR_MS:g} hours yet{end} (--idle-hours 0 takes it now)"
    return ""


def _days(milliseconds: int) -> str:
    days = milliseconds / DAY_MS
    return f"{days:.0f} days" if days >= 1 else f"{milliseconds / HOUR_MS:.0f} hours"
