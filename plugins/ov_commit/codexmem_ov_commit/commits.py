"""When a session is sent and sealed: on every stop, before a compaction, at its end; the sweep has a module of its own.

Each of them has the session's lock and loads the state inside it. A commit that fails, a transcript that cannot be read
and turns that could not all be sent leave the session live, with its end marker: the next sweep tries again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codexmem_ov_commit.catching_up import Catcher
from codexmem_ov_commit.locks import session_lock
from codexmem_ov_commit.names import server_name
from codexmem_ov_commit.server import HEALTH_TIMEOUT_S
from codexmem_ov_commit.turns import Rules

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

    from codexmem_ov_commit.catching_up import CaughtUp
    from codexmem_ov_commit.place import Place
    from codexmem_ov_commit.server import Answer
    from codexmem_ov_commit.states import State

WAIT_S = 120.0
"""For another writer of the same session, on stop and at the end."""
WAIT_BEFORE_COMPACTION_S = 40.0
"""The same while the host waits for us."""
COMPACTION_S = 60.0
"""The host's patience before a compaction, from when its hook started."""
COMPACTION_PROBE_S = 5.0
"""Of it, for a sign of life: a server that swallows everything holds the agent up no longer."""
STOP_PROBE_S = 5.0
"""For a sign of life on a stop: a compaction may come right after it, and the next event tries again."""
DOUBTED_S = 5.0
"""For a sign of life of a server that gave none to somebody else a moment ago; before a compaction it has a second."""
COMPACTION_REST_S = 2.0
"""Of it, for writing down what was done."""
UNKNOWN = 404
"""The server's answer about a session that it does not have."""

Result = Literal["committed", "sent", "nothing_new", "kept", "locked", "unreachable", "superseded", "not_asked_for"]
"""``kept``: something failed, the session stays live for the next sweep. ``superseded``: it goes on, or ended anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one event."""

    result: Result
    name: str
    """The session's on the server."""
    sent: int = 0
    trace_id: str = ""
    reason: str = ""
    late: bool = False
    """Whether the agent's answer was not there to be sent."""


class Committer:
    """Sends and commits one session."""

    def __init__(self, place: Place, services: Services, session: Session) -> None:
        self._place = place
        self._services = services
        self._session = session
        self._server = place.server
        self._doubted = place.reach.paused()
        timeout_s = place.settings.connection.timeout_s
        self._sign_of_life_s = min(timeout_s, DOUBTED_S) if self._doubted else timeout_s
        self._keyword = place.settings.text("capture_mode") == "keyword"
        self.name = server_name(session.host, session.id)

    def at_start(self) -> None:
        """Where the transcript lies: a host that is killed in its first turn has told that nowhere else."""
        with self._lock(0) as held:
            state = self._load()
            if held and self._session.locator and not state.transcript:
                self._save(replace(state, transcript=self._session.locator), touch=False)

    def on_stop(self, started_at_ms: int, answer: str = "") -> Done:
        """New turns, then a commit when enough tokens wait; the newest turns stay live after it.

        ``answer``: what the agent said last; where its transcript does not hold it yet, it comes later.
        """
        self._place.markers.clear(self._session.id, started_at_ms)
        self._sign_of_life_s = min(self._sign_of_life_s, STOP_PROBE_S)
        with self._lock(WAIT_S) as held:
            if not held:
                return self._locked()
            state = self._load()
            if not (health := self._healthy()).ok:
                return self._unreachable(health, state, touch=True)
            caught = self._catch_up(state, only_if_asked=self._keyword, answer=answer)
            self._save(caught.state, touch=True)
            done = self._commit_if_full(caught) if caught.outcome == "sent" else self._uncommitted(caught)
            missed = caught.outcome in ("sent", "nothing_new") and not caught.answered
            return replace(done, late=bool(answer) and missed)

    def before_compaction(self, started_at_ms: int) -> Done:
        """Everything that the context still holds, sealed before it is summarised. The host waits for this.

        When it waits no longer, the compaction is over and this is a stop like any other.
        """
        left_s = COMPACTION_S - COMPACTION_REST_S - (self._services.clock.now_ms() - started_at_ms) / 1_000
        if left_s <= 0:
            return self.on_stop(started_at_ms)
        until = time.monotonic() + left_s
        self._sign_of_life_s = min(self._sign_of_life_s, HEALTH_TIMEOUT_S if self._doubted else COMPACTION_PROBE_S)
        self._server = self._server.within(lambda: until - time.monotonic())
        self._place.markers.clear(self._session.id, started_at_ms)
        with self._lock(min(left_s, self._wait_s(WAIT_BEFORE_COMPACTION_S))) as held:
            return self._seal(self._load(), touch=True) if held else self._locked()

    def at_end(self, ended_at_ms: int) -> Done:
        """Mark the end, then commit, unless the mark is gone or a newer one there by the time we have the session."""
        self._place.markers.mark(self._session.id, ended_at_ms)
        with self._lock(self._wait_s(WAIT_S)) as held:
            if not held:
                return self._locked()
            if self._place.markers.newest(self._session.id) != ended_at_ms:
                return Done(result="superseded", name=self.name)
            done = self._seal(self._load(), touch=False)
            if done.result in ("committed", "nothing_new", "not_asked_for"):
                self._place.markers.clear(self._session.id, ended_at_ms + 1)
            return done

    def now(self) -> Done:
        """Because somebody asks for it, whatever is new; waits for nobody."""
        with self._lock(0) as held:
            return self.swept(self._load()) if held else self._locked()

    def swept(self, state: State, *, give_up: bool = False) -> Done:
        """Under the session's lock, held by the caller.

        ``give_up``: commit what the server holds although the transcript cannot be read any more, and let go of a
        session that it does not know.
        """
        return self._seal(self._of_workspace(state), touch=False, give_up=give_up)

    def _seal(self, state: State, *, touch: bool, give_up: bool = False) -> Done:
        if not (health := self._healthy()).ok:
            return self._unreachable(health, state, touch=touch)
        caught = self._catch_up(state, only_if_asked=self._keyword and not state.live)
        state = self._save(caught.state, touch=touch and caught.outcome != "unreadable")
        failed = caught.outcome == "incomplete" or (caught.outcome == "unreadable" and not give_up)
        if failed or not state.live:
            return self._uncommitted(caught)
        answer = self._server.commit(self.name)
        unknown = give_up and answer.status == UNKNOWN
        if not answer.ok and not unknown:
            return self._commit_failed(answer, caught)
        self._save(replace(state, live=False), touch=touch)
        if unknown:
            self._services.log.warning("the server does not know the session; let go of", session=self.name)
            return Done(result="nothing_new", name=self.name, sent=caught.sent)
        return self._committed(answer, caught)

    def _commit_if_full(self, caught: CaughtUp) -> Done:
        held, most = self._server.session(self.name), self._place.settings.number("commit_token_threshold")
        if not held.ok or held.number("pending_tokens") < most:
            return self._uncommitted(caught)
        answer = self._server.commit(self.name, self._place.settings.number("commit_keep_recent_count"))
        if answer.ok:
            return self._committed(answer, caught)
        self._commit_failed(answer, caught)
        return self._uncommitted(caught)

    # the parts

    def _catch_up(self, state: State, *, only_if_asked: bool, answer: str = "") -> CaughtUp:
        catcher = Catcher(
            name=self.name,
            transcripts=self._services.transcripts,
            server=self._server,
            rules=Rules.of(self._place.settings),
            peer=self._place.own_peer or state.peer,
            log=self._services.log,
            save=lambda moved: self._save(moved, touch=True),
            refused=self._place.rejected.keep,
            answer=answer,
        )
        caught = catcher.catch_up(self._session, state, only_if_asked=only_if_asked)
        if caught.outcome == "unreadable":
            return replace(caught, state=self._unread(caught.state))
        return replace(caught, state=replace(caught.state, behind=caught.outcome == "incomplete" and not state.live))

    def _unread(self, state: State) -> State:
        """In keyword mode nobody knows whether to send it before it is read: only its end makes the sweep look."""
        locator = self._session.locator or state.transcript
        return replace(state, behind=bool(locator) and not (state.live or self._keyword), transcript=locator)

    def _load(self) -> State:
        return self._of_workspace(self._place.states.load(self._session.id))

    def _of_workspace(self, state: State) -> State:
        """Where a session began is where it belongs, also when it is caught up from elsewhere."""
        state = replace(state, peer=state.peer or self._place.workspace)
        self._server = self._server.acting_for(self._place.own_peer or state.peer)
        return state

    def _save(self, state: State, *, touch: bool) -> State:
        return self._place.states.save(state, touch=touch)

    def _wait_s(self, usual: float) -> float:
        given = self._place.settings.number("lock_wait_ms")
        return usual if given < 0 else given / 1_000

    def _lock(self, wait_s: float) -> AbstractContextManager[bool]:
        folder, services = self._place.states.folder, self._services
        return session_lock(folder, self._session.id, services.clock, services.deadline, wait_s=wait_s)

    def _healthy(self) -> Answer:
        return self._place.reach.probe_for(self._server, self._sign_of_life_s)

    # what came of it

    def _locked(self) -> Done:
        self._services.log.info("another writer has the session", session=self.name)
        return Done(result="locked", name=self.name)

    def _unreachable(self, health: Answer, state: State, *, touch: bool) -> Done:
        """What was said stays in the transcript; that it is not on the server must be known when nothing ever was."""
        self._save(self._unread(state), touch=touch)
        self._services.log.info("server not reachable", session=self.name, reason=health.error, status=health.status)
        return Done(result="unreachable", name=self.name, reason=health.error)

    def _committed(self, answer: Answer, caught: CaughtUp) -> Done:
        self._services.log.info("committed", session=self.name, sent=caught.sent, trace_id=answer.trace_id)
        return Done(result="committed", name=self.name, sent=caught.sent, trace_id=answer.trace_id)

    def _commit_failed(self, answer: Answer, caught: CaughtUp) -> Done:
        told = {"session": self.name, "reason": answer.error, "trace_id": answer.trace_id}
        self._services.log.warning("commit failed; it is tried again", **told)
        return Done(result="kept", name=self.name, sent=caught.sent, trace_id=answer.trace_id, reason=answer.error)

    def _uncommitted(self, caught: CaughtUp) -> Done:
        if caught.outcome == "incomplete" or caught.outcome == "unreadable":  # noqa: PLR1714 - so mypy narrows it
            return Done(result="kept", name=self.name, sent=caught.sent, reason=caught.error)
        return Done(result=caught.outcome, name=self.name, sent=caught.sent)
