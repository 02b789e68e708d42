"""Small things between passes: marks, notices for the user, when hooks fired, what is still to be forgotten."""

from __future__ import annotations

from dataclasses import dataclass

from codexmem_core.store.part import StorePart

MOST_NOTICES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that the user should see. Times are UNIX milliseconds."""

    source: str
    text: str
    first_at_ms: int
    last_at_ms: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """What a plugin was asked to forget and could not yet."""

    id: int
    plugin: str
    selector: str
    """JSON."""
    attempts: int
    error: str
    asked_at_ms: int


class Journal(StorePart):
    """The part of the catalogue that remembers small things. Rows are few, so peewee's queries do."""

    def mark(self, key: str) -> str:
        """The value under the key, empty when there is none."""
        marks = self._database.tables.marks
        with self._database.unit():
            row = marks.get_or_none(marks.key == key)
        return str(row.value) if row else ""

    def set_mark(self, key: str, value: str) -> None:
        """Keep a value; an empty one removes the key."""
        marks = self._database.tables.marks
        with self._database.transaction("mark"):
            if value:
                marks.replace(key=key, value=value).execute()
            else:
                marks.delete().where(marks.key == key).execute()

    def marks(self, prefix: str) -> dict[str, str]:
        """Values by what follows the prefix in their keys."""
        table = self._database.tables.marks
        with self._database.unit():
            return {
                row.key.removeprefix(prefix): row.value for row in table.select().where(table.key.startswith(prefix))
            }

    def note(self, source: str, text: str) -> None:
        """Something for the user to see; the same again only counts. The newest 200 are kept."""
        notices, now = self._database.tables.notices, self._clock.now_ms()
        with self._database.transaction("notice"):
            again = {notices.times: notices.times + 1, notices.last_at_ms: now}
            found = (notices.source == source) & (notices.text == text)
            if not notices.update(again).where(found).execute():
                notices.insert(source=source, text=text, first_at_ms=now, last_at_ms=now).execute()
            self._database.execute(
                "DELETE FROM notices WHERE rowid NOT IN (SELECT rowid FROM notices ORDER BY last_at_ms DESC, rowid DESC"
                " LIMIT ?)",
                (MOST_NOTICES,),
            )

    def notices(self, *, since_ms: int = 0) -> list[Notice]:
        """Newest first."""
        table = self._database.tables.notices
        with self._database.unit():
            rows = list(table.select().where(table.last_at_ms >= since_ms).order_by(table.last_at_ms.desc()))
        return [
            Notice(
                source=row.source,
                text=row.text,
                first_at_ms=row.first_at_ms,
                last_at_ms=row.last_at_ms,
                times=row.times,
            )
            for row in rows
        ]

    def event_fired(self, host: str, event: str, at_ms: int) -> None:
        """A host's hook ran; earlier times are ignored."""
        with self._database.transaction("fired"):
            self._database.execute(
                "INSERT INTO events_seen (host, event, fired_at_ms) VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
                " SET fired_at_ms = max(events_seen.fired_at_ms, excluded.fired_at_ms)",
                (host, event, at_ms),
            )

    def last_fired(self) -> dict[tuple[str, str], int]:
        """(host, event) → UNIX milliseconds."""
        table = self._database.tables.events_seen
        with self._database.unit():
            return {(row.host, row.event): row.fired_at_ms for row in table.select()}

    def keep_forgetting(self, plugin: str, selector: str, error: str) -> None:
        """A plugin could not forget (selector: JSON); it is asked again on later passes."""
        with self._database.transaction("forgetting"):
            self._database.execute(
                "INSERT INTO forget_pending (plugin, selector, attempts, error, asked_at_ms) VALUES (?, ?, 1, ?, ?)"
                " ON CONFLICT (plugin, selector) DO UPDATE SET attempts = attempts + 1, error = excluded.error",
                (plugin, selector, error, self._clock.now_ms()),
            )

    def forgettings(self) -> list[Forgetting]:
        """All that are open, oldest first."""
        table = self._database.tables.forget_pending
        with self._database.unit():
            rows = list(table.select().order_by(table.id))
        return [
            Forgetting(
                id=row.id,
                plugin=row.plugin,
                selector=row.selector,
                attempts=row.attempts,
                error=row.error,
                asked_at_ms=row.asked_at_ms,
            )
            for row in rows
        ]

    def forgotten(self, plugin: str, selector: str) -> None:
        """The plugin did forget."""
        table = self._database.tables.forget_pending
        with self._database.transaction("forgetting"):
            table.delete().where((table.plugin == plugin) & (table.selector == selector)).execute()
