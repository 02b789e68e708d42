"""When a session is sent and sealed: on every stop, before a compaction, at its end; the sweep has a module of its own.

Each of them has the session's lock and loads the state inside it. A commit that fails, a transcript that cannot be read
and turns that could not all be sent leave the session live, with its end marker: the next sweep tries again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codexmem_ov_commit.catching_up import Catcher
from codexmem_ov_commit.locks import session_lock
from codexmem_ov_commit.names import server_name
from codexmem_ov_commit.turns import Rules

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

    from codexmem_ov_commit.catching_up import CaughtUp
    from codexmem_ov_commit.place import Place
    from codexmem_ov_commit.states import State

WAIT_S = 120.0
"""For another writer of the same session, on stop and at the end."""
WAIT_BEFORE_COMPACTION_S = 40.0
"""The same while the host waits for us."""

Result = Literal[
    "committed", "sent", "nothing_new", "kept", "locked", "unreachable", "superseded", "not_asked_for", "skipped"
]
"""``kept``: something failed, and the session stays live for the next sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one event."""

    result: Result
    name: str
    """The session's on the server."""
    sent: int = 0
    trace_id: str = ""
    reason: str = ""


class Committer:
    """Sends and commits sessions of one host in one place."""

    def __init__(self, place: Place, services: Services) -> None:
        self._place = place
        self._services = services
        self._settings = place.settings
        self._keyword = place.settings.text("capture_mode") == "keyword"

    def on_stop(self, session: Session, started_at_ms: int) -> Done:
        """New turns, then a commit when enough tokens wait; the newest turns stay live after it."""
        name = server_name(session.host, session.id)
        self._place.markers.clear(session.id, started_at_ms)
        with self._lock(session, WAIT_S) as held:
            if not held:
                return Done(result="locked", name=name)
            state = self._load(session)
            if not self._healthy():
                return self._unreachable(name)
            caught = self._catch_up(session, state, only_if_asked=self._keyword)
            state = self._place.states.save(caught.state, touch=True)
            if caught.outcome == "sent" and self._is_full(name):
                keep = self._settings.number("commit_keep_recent_count")
                answer = self._place.server.commit(name, keep)
                if answer.ok:
                    return Done(result="committed", name=name, sent=caught.sent, trace_id=answer.trace_id)
                self._warn("commit failed", name, answer.error, answer.trace_id)
            return _uncommitted(caught, name)

    def before_compaction(self, session: Session, started_at_ms: int) -> Done:
        """Everything that the context still holds, sealed before it is summarised. The host waits for this."""
        if not self._settings.flag("auto_commit_on_compact"):
            return Done(result="skipped", name=server_name(session.host, session.id))
        self._place.markers.clear(session.id, started_at_ms)
        wait_s = self._settings.number("lock_wait_ms") / 1_000 or WAIT_BEFORE_COMPACTION_S
        with self._lock(session, wait_s) as held:
            return self._seal(session, touch=True) if held else self._locked(session)

    def at_end(self, session: Session, ended_at_ms: int) -> Done:
        """Mark the end, then commit unless a later event says that the session goes on."""
        self._place.markers.mark(session.id, ended_at_ms)
        wait_s = self._settings.number("lock_wait_ms") / 1_000 or WAIT_S
        with self._lock(session, wait_s) as held:
            if not held:
                return self._locked(session)
            if self._place.markers.newest(session.id) != ended_at_ms:
                return Done(result="superseded", name=server_name(session.host, session.id))
            done = self._seal(session, touch=False)
            if done.result in ("committed", "nothing_new"):
                self._place.markers.clear(session.id, ended_at_ms + 1)
            return done

    def swept(self, session: Session, state: State) -> Done:
        """The sweep's part under the lock: no keyword is asked for, since nobody will come back to it."""
        return self._seal(session, touch=False, state=state, only_if_asked=False)

    def _seal(
        self, session: Session, *, touch: bool, state: State | None = None, only_if_asked: bool | None = None
    ) -> Done:
        name = server_name(session.host, session.id)
        state = state or self._load(session)
        if not self._healthy():
            return self._unreachable(name)
        asked = self._keyword and not state.live if only_if_asked is None else only_if_asked
        caught = self._catch_up(session, state, only_if_asked=asked)
        state = self._place.states.save(caught.state, touch=touch)
        if caught.outcome in ("unreadable", "incomplete") or not state.live:
            return _uncommitted(caught, name)
        answer = self._place.server.commit(name)
        if not answer.ok:
            self._warn("commit failed", name, answer.error, answer.trace_id)
            return Done(result="kept", name=name, sent=caught.sent, trace_id=answer.trace_id, reason=answer.error)
        self._place.states.save(replace(state, live=False), touch=touch)
        return Done(result="committed", name=name, sent=caught.sent, trace_id=answer.trace_id)

    def _catch_up(self, session: Session, state: State, *, only_if_asked: bool) -> CaughtUp:
        catcher = Catcher(
            transcripts=self._services.transcripts,
            server=self._place.server,
            rules=Rules.of(self._settings),
            log=self._services.log,
            save=lambda moved: self._place.states.save(moved, touch=True),
            refused=self._place.rejected.keep,
        )
        name = server_name(session.host, session.id)
        return catcher.catch_up(session, state, name, only_if_asked=only_if_asked)

    def _load(self, session: Session) -> State:
        state = self._place.states.load(session.id)
        return replace(state, peer=state.peer or self._place.peer)

    def _lock(self, session: Session, wait_s: float) -> AbstractContextManager[bool]:
        return session_lock(
            self._place.states.folder, session.id, self._services.clock, self._services.deadline, wait_s=wait_s
        )

    def _locked(self, session: Session) -> Done:
        name = server_name(session.host, session.id)
        self._services.log.info("another writer has the session", session=name)
        return Done(result="locked", name=name)

    def _healthy(self) -> bool:
        self._health = self._place.server.healthy()
        return self._health.ok

    def _unreachable(self, name: str) -> Done:
        self._warn("server not reachable", name, self._health.error, "")
        return Done(result="unreachable", name=name, reason=self._health.error)

    def _is_full(self, name: str) -> bool:
        held = self._place.server.session(name)
        return held.ok and held.number("pending_tokens") >= self._settings.number("commit_token_threshold")

    def _warn(self, event: str, name: str, reason: str, trace_id: str) -> None:
        self._services.log.warning(event, session=name, reason=reason, **({"trace_id": trace_id} if trace_id else {}))


def _uncommitted(caught: CaughtUp, name: str) -> Done:
    results: dict[str, Result] = {
        "nothing_new": "nothing_new",
        "sent": "sent",
        "not_asked_for": "not_asked_for",
    }
    return Done(result=results.get(caught.outcome, "kept"), name=name, sent=caught.sent, reason=caught.error)
