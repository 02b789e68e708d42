"""The sweep at a session's start: what no end event could reach is committed, cursors that nobody needs are let go.

Two reasons to commit (OpenViking DESIGN: fallback sweep): an end marker says that an end was never confirmed; a live
session without a sign of life for the idle time will never have an end. Ages are compared again under the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.values.capture import Session

from codexmem_ov_commit.commits import Committer
from codexmem_ov_commit.locks import session_lock
from codexmem_ov_commit.names import file_stem

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.place import Place
    from codexmem_ov_commit.states import State

Reason = Literal["ended_retry", "idle_ttl"]


@dataclass(slots=True, kw_only=True)
class Swept:
    """What a sweep did, by the session's name on the server."""

    committed: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    """Why a session is still live."""
    locked: int = 0
    retired: int = 0
    """Cursors that were let go."""


def sweep(place: Place, services: Services, *, but: str = "") -> Swept:
    """Every session of one host's state folder but ``but``, which has just begun."""
    swept = Swept()
    now = services.clock.now_ms()
    ended = place.markers.sessions()
    for state in place.states.all():
        if state.session_id == but or state.updated_at_ms < 0:
            continue
        marker = ended.get(file_stem(state.session_id), 0)
        reason = _reason(place, state, marker, now)
        if reason:
            _commit(place, services, state, marker, swept)
        elif not state.live and not marker and _is_spent(place, state, now):
            place.states.remove(state.session_id)
            swept.retired += 1
        if services.deadline.cancelled:
            break
    return swept


def _reason(place: Place, state: State, marker: int, now: int) -> Reason | None:
    if marker:
        return "ended_retry"
    idle = now - state.updated_at_ms > place.settings.number("idle_ttl_ms")
    return "idle_ttl" if state.live and idle else None


def _is_spent(place: Place, state: State, now: int) -> bool:
    """A cursor keeps a resumed session from being sent twice, as long as its host may resume it."""
    kept_ms = place.settings.number("committed_ttl_ms" if state.captured > 0 else "idle_ttl_ms")
    return now - state.updated_at_ms > kept_ms


def _commit(place: Place, services: Services, listed: State, marker: int, swept: Swept) -> None:
    session_id = listed.session_id
    with session_lock(place.states.folder, session_id, services.clock, services.deadline, wait_s=0) as held:
        if not held:
            swept.locked += 1
            return
        state, now = place.states.load(session_id), services.clock.now_ms()
        newest = place.markers.newest(session_id)
        # Resumed since it was listed, or ended once more: that end's own delivery will commit it.
        superseded = bool(marker) and newest != marker
        if superseded and now - state.updated_at_ms <= place.settings.number("idle_ttl_ms"):
            return
        if not marker and _reason(place, state, newest, now) is None:
            return
        session = Session(host=place.states.host, id=session_id, locator=state.transcript)
        done = Committer(place, services).swept(session, state)
        if done.result in ("committed", "nothing_new"):
            place.markers.clear(session_id, max(marker, newest) + 1)
        if done.result == "committed":
            swept.committed.append(done.name)
        elif done.result in ("kept", "unreachable"):
            swept.kept[done.name] = done.reason
