"""What hooks tell of sessions: the process of the host that each lives in, and the context that it was given."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Session

from codexmem_core.store.part import StorePart
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSWERED = "answered:"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProcess:
    """Where a session was last seen."""

    key: Key
    pid: int
    started: str
    """``<clock ticks since boot>.<namespace>``; the process number alone is used again and again."""
    seen_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a hook printed for a session."""

    session_id: str
    memory: str
    """Name of the memory that the session reads."""
    generation: str
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A session in which the agent has answered, and which no pass has looked at since."""

    session: Session
    """Its key and its locator."""
    event_id: str
    """The newest event that told of it."""


class HookedSessions(StorePart):
    """The part of the catalogue about sessions that run with our hooks. Times are UNIX milliseconds."""

    def seen_in(self, host: str, id: str, pid: int, started: str, at_ms: int) -> None:  # noqa: A002 - the field's name
        """A hook of the session ran as a child of this process; older news is ignored."""
        with self._database.transaction("process"):
            self._database.execute(
                "INSERT INTO session_processes (host, session_id, pid, started, seen_at_ms) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET pid = excluded.pid, started = excluded.started,"
                " seen_at_ms = excluded.seen_at_ms WHERE excluded.seen_at_ms >= session_processes.seen_at_ms",
                (host, id, pid, started, at_ms),
            )

    def session_processes(self) -> list[SessionProcess]:
        """Of all sessions of which no end is known."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT host, session_id, pid, started, seen_at_ms FROM session_processes ORDER BY host, session_id"
            )
            return [
                SessionProcess(key=Key(host, session), pid=pid, started=started, seen_at_ms=seen_at_ms)
                for host, session, pid, started, seen_at_ms in rows
            ]

    def newest_in(self, host: str, pid: int, started: str) -> str:
        """Id of the session that was last seen in this process and has not ended; empty when there is none."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT p.session_id FROM session_processes AS p"
                " LEFT JOIN session_ends AS e ON e.host = p.host AND e.session_id = p.session_id"
                " WHERE p.host = ? AND p.pid = ? AND p.started = ? AND e.ended_at_ms IS NULL"
                " ORDER BY p.seen_at_ms DESC, p.session_id LIMIT 1",
                (host, pid, started),
            ).fetchone()
        return str(row[0]) if row else ""

    def left(self, host: str, id: str) -> None:  # noqa: A002 - the field's name
        """The session is in no process any more."""
        with self._database.transaction("process"):
            self._database.execute("DELETE FROM session_processes WHERE host = ? AND session_id = ?", (host, id))

    def prune_hooked(self, before_ms: int) -> None:
        """Let go of what was last heard before that time: of processes nobody can tell of, and of old sessions."""
        with self._database.transaction("prune"):
            self._database.execute("DELETE FROM session_processes WHERE seen_at_ms < ?", (before_ms,))
            self._database.execute("DELETE FROM session_contexts WHERE given_at_ms < ?", (before_ms,))

    def context_given(self, host: str, id: str, generation: str, at_ms: int) -> None:  # noqa: A002 - the field's name
        """The session was given this generation of context; older news is ignored."""
        with self._database.transaction("given"):
            self._database.execute(
                "INSERT INTO session_contexts (host, session_id, generation, given_at_ms) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET generation = excluded.generation, given_at_ms = excluded.given_at_ms"
                " WHERE excluded.given_at_ms >= session_contexts.given_at_ms",
                (host, id, generation, at_ms),
            )

    def generation_given(self, host: str, id: str) -> str:  # noqa: A002 - the field's name
        """What the session was last given, empty when it was given nothing."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT generation FROM session_contexts WHERE host = ? AND session_id = ?", (host, id)
            ).fetchone()
        return str(row[0]) if row else ""

    def last_given(self, host: str) -> Given | None:
        """What the newest session that was given anything was given."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT c.session_id, coalesce(v.version, ''), c.generation, c.given_at_ms FROM session_contexts AS c"
                " LEFT JOIN memory_session_versions AS v ON v.host = c.host AND v.session_id = c.session_id"
                " WHERE c.host = ? AND c.generation <> '' ORDER BY c.given_at_ms DESC, c.session_id DESC LIMIT 1",
                (host,),
            ).fetchone()
        return Given(session_id=row[0], memory=row[1], generation=row[2], at_ms=row[3]) if row else None

    def answered(self, session: Session, event_id: str) -> None:
        """The agent has answered in this session. The next pass looks at it, whatever becomes of this process."""
        with self._database.transaction("answered"):
            self._database.execute(
                "INSERT OR REPLACE INTO marks (key, value) VALUES (?, ?)",
                (_answered(session), json.dumps([event_id, session.locator])),
            )

    def not_looked_at(self) -> list[Answered]:
        """Sessions of :meth:`answered`, sorted by key."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT key, value FROM marks WHERE key GLOB ? ORDER BY key", (f"{_ANSWERED}*",)
            ).fetchall()
        found = []
        for name, value in rows:
            host, session = name.removeprefix(_ANSWERED).split(":", 1)
            event_id, locator = json.loads(value)
            found.append(Answered(session=Session(host=host, id=session, locator=locator), event_id=event_id))
        return found

    def looked_at(self, sessions: Iterable[Answered]) -> None:
        """A pass has done with them; one in which the agent has answered once more since stays."""
        with self._database.transaction("looked at"):
            self._database.execute_many(
                "DELETE FROM marks WHERE key = ? AND value = ?",
                [(_answered(one.session), json.dumps([one.event_id, one.session.locator])) for one in sessions],
            )


def _answered(session: Session) -> str:
    return f"{_ANSWERED}{session.host}:{session.id}"
