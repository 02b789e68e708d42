"""Sessions that hosts hold: one row a session, whatever the number of its stores. Times are UNIX milliseconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.known import folders_of
from codexmem_hookspecs.values.capture import Presence, Session

from codexmem_core.store.part import StorePart
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

END_GRACE_MS = 5_000
"""Hosts write a last record just after their end event; only activity later than this takes the end back."""

_SESSION = (
    "s.host, s.id, s.locator, s.cwd, s.updated_at_ms, s.touched_at_ms, s.stamp, s.revision, s.kind, s.source,"
    " s.memory_mode, s.forked_from, s.size_bytes"
)
_FROM = "FROM sessions AS s LEFT JOIN session_ends AS e ON e.host = s.host AND e.session_id = s.id"
_KNOWN = f"SELECT {_SESSION}, s.first_seen_ms, s.present, coalesce(e.ended_at_ms, 0) {_FROM}"
_ORDER = "ORDER BY s.updated_at_ms DESC, s.host, s.id LIMIT ?"
_WRITE = (
    "INSERT OR REPLACE INTO sessions (host, id, locator, cwd, updated_at_ms, touched_at_ms, stamp, revision, kind,"
    " source, memory_mode, forked_from, size_bytes, first_seen_ms, present)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'present')"
)
_MANY = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSession:
    """A session with what the catalogue knows beside it."""

    session: Session
    first_seen_ms: int
    ended_at_ms: int
    """When its end event was seen, 0 when it was not or when the session went on since."""
    presence: Presence

    @property
    def key(self) -> Key:
        """(host, id)."""
        return Key(self.session.host, self.session.id)


class KnownSessions(StorePart):
    """The sessions part of the catalogue."""

    def known_states(self, host: str) -> dict[str, list[str]]:
        """Folder → sorted ``name/stamp`` of every store of the host seen so far, for :class:`Known`."""
        with self._database.unit():
            kept = self._database.execute("SELECT value FROM marks WHERE key = ?", (_kept(host),)).fetchone()
            if kept is not None:
                states: dict[str, list[str]] = json.loads(kept[0])
                return states
            return self._states(host)

    def keep_states(self, host: str) -> None:
        """Keep :meth:`known_states` ready as one row, until a store of the host changes.

        Reading ten thousand rows costs four times as much, and most passes find nothing new.
        """
        if self._database.read_only:
            return
        with self._database.transaction("states"):  # so that the row cannot be older than what it is made from
            if self._database.execute("SELECT 1 FROM marks WHERE key = ?", (_kept(host),)).fetchone() is None:
                self._database.execute(
                    "INSERT INTO marks (key, value) VALUES (?, ?)", (_kept(host), json.dumps(self._states(host)))
                )

    def record_sessions(self, sessions: Iterable[Session]) -> int:
        """Take over what a host tells, in one transaction; returns how many sessions are new or have new content.

        A session has one row: of two stores the longer wins, then the newer. While its revision stays, only where and
        when the store was touched changes; with a new revision ``updated_at_ms`` always grows, because jobs tell new
        content by it. Activity well after an end event takes the end back.
        """
        changed, hosts = 0, set[str]()
        with self._database.transaction("sessions"):
            for session in sessions:
                changed += self._record(session)
                hosts.add(session.host)
            for host in hosts:
                self._drop_kept(host)
        return changed

    def session(self, host: str, id: str) -> KnownSession:  # noqa: A002 - the field's name
        """Raises KeyError."""
        with self._database.unit():
            row = self._database.execute(_KNOWN + " WHERE s.host = ? AND s.id = ?", (host, id)).fetchone()
        if row is None:
            raise KeyError((host, id))
        return _known(row)

    def candidates(
        self,
        *,
        since_ms: int = 0,
        until_touched_ms: int | None = None,
        until_ended_ms: int | None = None,
        limit: int = -1,
        host: str = "",
        keys: Sequence[tuple[str, str]] | None = None,
    ) -> list[KnownSession]:
        """Sessions of any kind and mode, last active first.

        since_ms: active then or later. until_touched_ms: idle, that is not touched after it; None for all.
        until_ended_ms: also those whose end event was seen by then, however lately they were touched. keys: only these.
        limit: at most so many, -1 for all.
        """
        where, parameters = _conditions(since_ms, until_touched_ms, until_ended_ms, host)
        query = f"{_KNOWN} WHERE {where}"
        with self._database.reading():
            if keys is None:
                rows = self._database.execute(f"{query} {_ORDER}", (*parameters, limit)).fetchall()
            else:
                rows = []
                for start in range(0, len(keys), _MANY):
                    page = keys[start : start + _MANY]
                    chosen = f" AND (s.host, s.id) IN (VALUES {', '.join(['(?, ?)'] * len(page))})"
                    flat = [part for key in page for part in key]
                    rows += self._database.execute(query + chosen, (*parameters, *flat)).fetchall()
                rows.sort(key=lambda row: (-row[4], row[0], row[1]))
                rows = rows if limit < 0 else rows[:limit]
        return [_known(row) for row in rows]

    def newest_active(self, host: str, folders: Sequence[str], *, since_ms: int) -> Session | None:
        """The user's session in one of the folders that was last active, then or later, and has not ended."""
        active = (
            "max(s.updated_at_ms, coalesce((SELECT max(v.at_ms) FROM events AS v WHERE v.host = s.host"
            " AND v.session_id = s.id AND v.kind IN ('start', 'prompt', 'tool')), 0))"
        )
        where = f"s.host = ? AND s.cwd IN ({', '.join(['?'] * len(folders))}) AND s.kind = 'main'"
        query = f"{_KNOWN} WHERE {where} AND s.present <> 'gone' AND e.ended_at_ms IS NULL AND {active} >= ?"
        with self._database.unit():
            row = self._database.execute(
                f"{query} ORDER BY {active} DESC, s.id LIMIT 1", (host, *folders, since_ms)
            ).fetchone()
        return None if row is None else _known(row).session

    def mark_ended(self, host: str, id: str, at_ms: int) -> None:  # noqa: A002 - the field's name
        """An end event was seen; the session itself may not be known yet."""
        with self._database.transaction("ended"):
            self._database.execute(
                "INSERT INTO session_ends (host, session_id, ended_at_ms) VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
                " SET ended_at_ms = max(session_ends.ended_at_ms, excluded.ended_at_ms)",
                (host, id, at_ms),
            )

    def mark_active(self, host: str, id: str, at_ms: int) -> None:  # noqa: A002 - the field's name
        """The session went on (a start or prompt event): an end seen before that does not count any more."""
        with self._database.transaction("active"):
            self._database.execute(
                "DELETE FROM session_ends WHERE host = ? AND session_id = ? AND ended_at_ms <= ?", (host, id, at_ms)
            )

    def set_presence(self, host: str, presence: dict[str, Presence]) -> None:
        """What the host said of its sessions, by id."""
        with self._database.transaction("presence"):
            self._database.execute_many(
                "UPDATE sessions SET present = ? WHERE host = ? AND id = ?",
                [(state.value, host, session) for session, state in presence.items()],
            )

    def drop_locators(self, host: str, locators: Iterable[str]) -> None:
        """These stores are gone. What else holds their sessions is read anew, so that the best one left takes over."""
        with self._database.transaction("locators"):
            self._drop_kept(host)
            for locator in locators:
                row = self._database.execute(
                    "SELECT session_id FROM session_locators WHERE host = ? AND locator = ?", (host, locator)
                ).fetchone()
                if row is None:
                    continue
                self._database.execute("DELETE FROM session_locators WHERE host = ? AND locator = ?", (host, locator))
                self._database.execute(
                    "UPDATE session_locators SET stamp = '' WHERE host = ? AND session_id = ?", (host, row[0])
                )
                # The vanished store's length must not outdo the ones that are left.
                self._database.execute(
                    "UPDATE sessions SET size_bytes = 0 WHERE host = ? AND id = ? AND locator = ?",
                    (host, row[0], locator),
                )

    def _states(self, host: str) -> dict[str, list[str]]:
        return folders_of(self._database.execute("SELECT locator, stamp FROM session_locators WHERE host = ?", (host,)))

    def _drop_kept(self, host: str) -> None:
        """Part of every transaction that changes a locator or its stamp."""
        self._database.execute("DELETE FROM marks WHERE key = ?", (_kept(host),))

    def _record(self, new: Session) -> int:
        key = (new.host, new.id)
        self._database.execute(
            "INSERT OR REPLACE INTO session_locators (host, locator, session_id, stamp) VALUES (?, ?, ?, ?)",
            (new.host, new.locator, new.id, new.stamp),
        )
        row = self._database.execute(
            "SELECT locator, updated_at_ms, revision, stamp, size_bytes, first_seen_ms FROM sessions"
            " WHERE host = ? AND id = ?",
            key,
        ).fetchone()
        if row is None:
            self._write(new, new.updated_at_ms, self._clock.now_ms())
            return 1
        locator, updated_at_ms, revision, stamp, size_bytes, first_seen_ms = row
        if locator != new.locator and (new.size_bytes, new.updated_at_ms) < (size_bytes, updated_at_ms):
            return 0
        if (new.revision == revision) if new.revision else (new.stamp == stamp):
            self._database.execute(
                "UPDATE sessions SET locator = ?, stamp = ?, touched_at_ms = ?, size_bytes = ?, present = 'present'"
                " WHERE host = ? AND id = ?",
                (new.locator, new.stamp, new.touched_at_ms, new.size_bytes, *key),
            )
            return 0
        self._write(new, max(new.updated_at_ms, updated_at_ms + 1), first_seen_ms)
        self._database.execute(
            "DELETE FROM session_ends WHERE host = ? AND session_id = ? AND ended_at_ms < ?",
            (*key, new.updated_at_ms - END_GRACE_MS),
        )
        return 1

    def _write(self, new: Session, updated_at_ms: int, first_seen_ms: int) -> None:
        self._database.execute(
            _WRITE,
            (
                new.host,
                new.id,
                new.locator,
                new.cwd,
                updated_at_ms,
                new.touched_at_ms,
                new.stamp,
                new.revision,
                new.kind,
                new.source,
                new.memory_mode,
                new.forked_from,
                new.size_bytes,
                first_seen_ms,
            ),
        )


def _kept(host: str) -> str:
    return f"known-states:{host}"


def _conditions(
    since_ms: int, until_touched_ms: int | None, until_ended_ms: int | None, host: str
) -> tuple[str, list[Any]]:
    where = "s.updated_at_ms >= ?"
    parameters: list[Any] = [since_ms]
    if until_touched_ms is not None:
        where += " AND (s.touched_at_ms <= ? OR e.ended_at_ms <= ?)"
        parameters += [until_touched_ms, -1 if until_ended_ms is None else until_ended_ms]
    if host:
        where += " AND s.host = ?"
        parameters.append(host)
    return where, parameters


def _known(row: tuple[Any, ...]) -> KnownSession:
    return KnownSession(
        session=Session(
            host=row[0],
            id=row[1],
            locator=row[2],
            cwd=row[3],
            updated_at_ms=row[4],
            touched_at_ms=row[5],
            stamp=row[6],
            revision=row[7],
            kind=row[8],
            source=row[9],
            memory_mode=row[10],
            forked_from=row[11],
            size_bytes=row[12],
        ),
        first_seen_ms=row[13],
        presence=Presence(row[14]),
        ended_at_ms=row[15],
    )
