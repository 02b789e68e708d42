"""Events on their way to plugins: a row an event and plugin, at least once, in order within a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from codexmem_core.store.part import StorePart
from codexmem_core.store.rules import error_text
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from codexmem_hookspecs.values.capture import Event, EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event that a plugin has yet to hear of."""

    event_id: str
    plugin: str
    host: str
    session_id: str
    kind: EventKind
    payload: str
    """The event as JSON, as it was recorded."""
    attempts: int
    newer: tuple[EventKind, ...]
    """Kinds recorded later for this session, sorted, for :attr:`Event.newer`."""

    @property
    def key(self) -> Key:
        """The session's (host, id)."""
        return Key(self.host, self.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCount:
    """Deliveries of one plugin in one state."""

    plugin: str
    state: str
    count: int
    error: str
    """The newest error among them, or empty."""


class Deliveries(StorePart):
    """Over the catalogue's database. All times are UNIX milliseconds."""

    def record(self, event: Event, payload: str, plugins: Iterable[str]) -> int:
        """Keep the event and a delivery for each plugin, in one transaction; returns how many are new.

        Once this returns, the spool file may go. Recording the same event again adds only plugins that had none.
        """
        now = self._clock.now_ms()
        with self._database.transaction("event"):
            self._database.execute(
                "INSERT OR IGNORE INTO events (id, host, session_id, kind, at_ms) VALUES (?, ?, ?, ?, ?)",
                (event.id, event.host, event.session.id, event.kind, event.at_ms),
            )
            return sum(
                self._database.execute(
                    "INSERT OR IGNORE INTO deliveries (event_id, plugin, host, session_id, kind, payload,"
                    " updated_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (event.id, plugin, event.host, event.session.id, event.kind, payload, now),
                ).rowcount
                for plugin in plugins
            )

    def due(self, plugin: str = "", *, limit: int = 100) -> list[Delivery]:
        """The next delivery of each plugin and session, oldest event first.

        A later event of a session waits until the earlier one is done, also while that waits to be tried again.
        """
        with self._database.reading():
            rows = self._database.execute(
                "SELECT d.event_id, d.plugin, d.host, d.session_id, d.kind, d.payload, d.attempts"
                " FROM deliveries AS d JOIN (SELECT plugin, host, session_id, min(event_id) AS event_id"
                " FROM deliveries WHERE state = 'pending' AND ?1 IN ('', plugin) GROUP BY plugin, host, session_id)"
                " AS first ON first.event_id = d.event_id AND first.plugin = d.plugin"
                " WHERE d.retry_at_ms <= ?2 ORDER BY d.event_id, d.plugin LIMIT ?3",
                (plugin, self._clock.now_ms(), limit),
            ).fetchall()
            return [
                Delivery(
                    event_id=row[0],
                    plugin=row[1],
                    host=row[2],
                    session_id=row[3],
                    kind=row[4],
                    payload=row[5],
                    attempts=row[6],
                    newer=self.newer(row[2], row[3], row[0]),
                )
                for row in rows
            ]

    def newer(self, host: str, session_id: str, event_id: str) -> tuple[EventKind, ...]:
        """Kinds of the session's events after this one, sorted; asked again just before a delivery, it is exact."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT DISTINCT kind FROM events WHERE host = ? AND session_id = ? AND id > ? ORDER BY kind",
                (host, session_id, event_id),
            )
            return tuple(cast("EventKind", kind) for (kind,) in rows)

    def done(self, delivery: Delivery) -> None:
        """The plugin has heard of it."""
        self._end(delivery, "done", "")

    def give_up(self, delivery: Delivery, error: object) -> None:
        """Deliver it no more; later events of the session go on, and ``counts`` shows it."""
        self._end(delivery, "failed", error_text(error))

    def failed(self, delivery: Delivery, error: object, *, after_s: float) -> None:
        """Deliver it again after so many seconds; events of other sessions and to other plugins do not wait."""
        now = self._clock.now_ms()
        with self._database.transaction("delivery"):
            self._database.execute(
                "UPDATE deliveries SET attempts = attempts + 1, retry_at_ms = ?, error = ?, updated_at_ms = ?"
                " WHERE event_id = ? AND plugin = ? AND state = 'pending'",
                (now + round(after_s * 1_000), error_text(error), now, delivery.event_id, delivery.plugin),
            )

    def waiting(self, host: str, session_id: str, plugins: Collection[str]) -> bool:
        """Whether one of the plugins has yet to hear of an event of the session that could be told now."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT DISTINCT plugin FROM deliveries WHERE state = 'pending' AND host = ? AND session_id = ?"
                " AND retry_at_ms <= ?",
                (host, session_id, self._clock.now_ms()),
            )
            return any(plugin in plugins for (plugin,) in rows)

    def next_retry_ms(self) -> int:
        """When the next waiting delivery is due, 0 when none waits."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT min(retry_at_ms) FROM deliveries WHERE state = 'pending' AND retry_at_ms > ?",
                (self._clock.now_ms(),),
            ).fetchone()
        return int(row[0] or 0)

    def counts(self) -> list[DeliveryCount]:
        """Deliveries by plugin and state, for ``status``."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT plugin, state, count(*), max(nullif(error, '')), max(CASE WHEN error <> '' THEN updated_at_ms"
                " END) FROM deliveries GROUP BY plugin, state ORDER BY plugin, state"
            ).fetchall()
            return [
                DeliveryCount(plugin=row[0], state=row[1], count=row[2], error=self._newest_error(row[0], row[1]))
                for row in rows
            ]

    def prune(self, before_ms: int) -> int:
        """Delete what ended, and events that nothing waits for, from before that time; how many deliveries."""
        with self._database.transaction("prune"):
            removed = self._database.execute(
                "DELETE FROM deliveries WHERE state <> 'pending' AND updated_at_ms < ?", (before_ms,)
            ).rowcount
            self._database.execute(
                "DELETE FROM events WHERE at_ms < ? AND NOT EXISTS (SELECT 1 FROM deliveries AS d"
                " WHERE d.state = 'pending' AND d.host = events.host AND d.session_id = events.session_id)",
                (before_ms,),
            )
            return removed

    def _newest_error(self, plugin: str, state: str) -> str:
        row = self._database.execute(
            "SELECT error FROM deliveries WHERE plugin = ? AND state = ? AND error <> ''"
            " ORDER BY updated_at_ms DESC, event_id DESC LIMIT 1",
            (plugin, state),
        ).fetchone()
        return str(row[0]) if row else ""

    def _end(self, delivery: Delivery, state: str, error: str) -> None:
        """What was said in it is not kept: nobody needs it any more."""
        with self._database.transaction("delivery"):
            self._database.execute(
                "UPDATE deliveries SET state = ?, payload = '', error = ?, attempts = attempts + 1, updated_at_ms = ?"
                " WHERE event_id = ? AND plugin = ? AND state = 'pending'",
                (state, error, self._clock.now_ms(), delivery.event_id, delivery.plugin),
            )
