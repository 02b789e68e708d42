"""The sweep at a session's start: what no end event could reach is committed, cursors that nobody needs are let go.

Two reasons to commit (OpenViking DESIGN: fallback sweep): an end marker says that an end was never confirmed; a live
session without a sign of life for the idle time will never have an end. Ages are compared again under the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.values.capture import Session

from codexmem_ov_commit.commits import Committer
from codexmem_ov_commit.locks import session_lock
from codexmem_ov_commit.names import file_stem, server_name
from codexmem_ov_commit.place import Place, hosts

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.states import State

Reason = Literal["ended_retry", "idle_ttl"]


@dataclass(slots=True, kw_only=True)
class Swept:
    """What a sweep did, by the session's name on the server."""

    committed: dict[str, str] = field(default_factory=dict)
    """With the trace ids, which may be empty."""
    kept: dict[str, str] = field(default_factory=dict)
    """Why a session is still live."""
    left_alone: dict[str, str] = field(default_factory=dict)
    """Why a session may not be sent: the user wants it so, and nothing is wrong."""
    locked: int = 0
    retired: int = 0
    """Cursors that were let go."""
    unreachable: str = ""
    """Why the server could not be reached; it is asked once, and not for each session."""


def sweep_all(services: Services, new: Session) -> Swept:
    """Every host's sessions but the one that has just begun."""
    from codexmem_ov_commit.report import write

    swept = Swept()
    for host in hosts(services, new.host):
        place = Place.of(services, host, new.cwd)
        if place.settings.flag("auto_capture"):
            sweep(place, services, swept, but=new.id if host == new.host else "")
    write(services, swept)
    return swept


def sweep(place: Place, services: Services, swept: Swept, *, but: str = "") -> None:
    """Every session of one host's state folder but ``but``. One that fails stops no other."""
    now = services.clock.now_ms()
    ended = place.markers.sessions()
    for state in list(place.states.all()):
        if services.deadline.cancelled:
            return
        if state.session_id == but or state.updated_at_ms < 0:
            continue
        marker = ended.get(file_stem(state.session_id), 0)
        try:
            if _reason(place, state, marker, now) and swept.unreachable:
                swept.kept[server_name(place.states.host, state.session_id)] = swept.unreachable
            elif _reason(place, state, marker, now):
                _commit(place, services, state, marker, swept)
            elif not (state.live or state.behind or marker) and _is_spent(place, state, now):
                swept.retired += _retire(place, services, state)
        except Exception as error:  # noqa: BLE001 - the next sweep is another chance for this one
            name = server_name(place.states.host, state.session_id)
            services.log.warning("not swept", session=name, reason=str(error))
            swept.kept[name] = str(error)


def _reason(place: Place, state: State, marker: int, now: int) -> Reason | None:
    if marker:
        return "ended_retry"
    return "idle_ttl" if (state.live or state.behind) and _is_idle(place, state, now) else None


def _is_idle(place: Place, state: State, now: int) -> bool:
    return now - state.updated_at_ms > place.settings.number("idle_ttl_ms")


def _is_spent(place: Place, state: State, now: int) -> bool:
    """A cursor keeps a resumed session from being sent twice, as long as its host may resume it."""
    kept_ms = place.settings.number("committed_ttl_ms" if state.captured > 0 else "idle_ttl_ms")
    return now - state.updated_at_ms > kept_ms


def _retire(place: Place, services: Services, listed: State) -> bool:
    session_id = listed.session_id
    with session_lock(place.states.folder, session_id, services.clock, services.deadline, wait_s=0) as held:
        state = place.states.load(session_id)
        if not held or state.live or state.behind or not _is_spent(place, state, services.clock.now_ms()):
            return False
        return place.states.remove(session_id)


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
        if (superseded or not newest) and not _is_idle(place, state, now):
            return
        session = session_of(services, place.states.host, state)
        committer = Committer(place.at(session.cwd, services), services, session)
        lost = now - state.updated_at_ms > place.settings.number("committed_ttl_ms")
        if reason := refusal(place, services, session):
            if lost:
                place.states.save(replace(state, live=False, behind=False), touch=False)
                place.markers.clear(session_id, newest + 1)
            else:
                swept.left_alone[committer.name] = reason
            return
        done = committer.swept(state, give_up=lost)
        if done.result in ("committed", "nothing_new", "not_asked_for") or (
            lost and not place.states.load(session_id).live
        ):
            place.markers.clear(session_id, newest + 1)
        if lost and done.result == "kept" and (left := place.states.load(session_id)).behind and not left.live:
            place.states.save(replace(left, behind=False), touch=False)  # its transcript will not come back
        if done.result == "committed":
            swept.committed[done.name] = done.trace_id
        elif done.result in ("kept", "unreachable"):
            swept.kept[done.name] = done.reason
            swept.unreachable = done.reason if done.result == "unreachable" else ""


def session_of(services: Services, host: str, state: State) -> Session:
    """As the catalogue knows it, which notices when a transcript moves; else as the state does."""
    try:
        known = services.sessions.get(host, state.session_id)
    except KeyError:
        return Session(host=host, id=state.session_id, locator=state.transcript)
    return replace(known, locator=known.locator or state.transcript)


def refusal(place: Place, services: Services, session: Session) -> str:
    """Why nothing more of the session may leave this machine; empty when it may."""
    if services.sessions.mode(session) != "enabled":
        return "the session is not to be remembered"
    if place.passes_over(session) or (session.cwd and not services.learns_in(session.cwd)):
        return "the session is passed over by the settings"
    return ""
