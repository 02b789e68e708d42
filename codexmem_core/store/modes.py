"""Whether a session may be remembered, which memory it reads, and which sessions are our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from codexmem_core.store.part import StorePart
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.capture import MemoryMode

_BYPASS = "bypassed"
_UPSERT = (
    "INSERT INTO memory_session_meta (host, session_id, memory_mode, polluted, updated_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT DO "
)


class Modes(StorePart):
    """The part of the catalogue about single sessions' wishes."""

    def set_mode(self, host: str, id: str, mode: MemoryMode) -> None:  # noqa: A002 - the field's name
        """What the user says stands above what the session stated itself."""
        self._set(host, id, mode, "UPDATE SET memory_mode = excluded.memory_mode, polluted = excluded.polluted")

    def stamp_mode_if_absent(self, host: str, id: str, mode: MemoryMode) -> None:  # noqa: A002 - the field's name
        """Record the mode that holds now for a session that has none yet."""
        self._set(host, id, mode, "NOTHING")

    def mark_polluted(self, host: str, id: str) -> None:  # noqa: A002 - the field's name
        """The session took in outside content and is not remembered from now on.

        Call ``Jobs.requeue_if_held`` of every memory after it, so that what was consolidated is forgotten.
        """
        self.set_mode(host, id, "polluted")

    def bypass(self, host: str, id: str) -> None:  # noqa: A002 - the field's name
        """The session was started so that nothing of it is remembered: it is disabled, whatever was said before."""
        with self._database.transaction("bypass"):
            if self.mode_of(host, id) == "enabled":
                self.set_mode(host, id, "disabled")
            self._database.execute("INSERT OR REPLACE INTO marks (key, value) VALUES (?, ?)", (_bypass(host, id), "1"))

    def bypassed(self) -> frozenset[Key]:
        """Sessions that were once started so; whether it still holds, their mode says."""
        with self._database.unit():
            rows = self._database.execute("SELECT key FROM marks WHERE key GLOB ?", (f"{_BYPASS}:*",)).fetchall()
        return frozenset(Key(*key.split(":", 2)[1:]) for (key,) in rows)

    def is_bypassed(self, host: str, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether the session was started so, and nobody has switched its memory on since."""
        with self._database.unit():
            row = self._database.execute("SELECT 1 FROM marks WHERE key = ?", (_bypass(host, id),)).fetchone()
            return row is not None and self.mode_of(host, id) != "enabled"

    def mode_of(self, host: str, id: str) -> MemoryMode:  # noqa: A002 - the field's name
        """The recorded mode, else what the session stated, else ``enabled``."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT coalesce((SELECT memory_mode FROM memory_session_meta WHERE host = ?1 AND session_id = ?2),"
                " (SELECT memory_mode FROM sessions WHERE host = ?1 AND id = ?2), 'enabled')",
                (host, id),
            ).fetchone()
        return cast("MemoryMode", row[0])

    def is_mode_stated(self, host: str, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether the user or a guard said something about the session, whatever it was."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT 1 FROM memory_session_meta WHERE host = ? AND session_id = ?", (host, id)
            ).fetchone()
        return row is not None

    def excluded(self) -> frozenset[Key]:
        """All sessions whose mode is not ``enabled``, in one statement."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT host, session_id FROM memory_session_meta WHERE memory_mode <> 'enabled'"
                " UNION SELECT s.host, s.id FROM sessions AS s WHERE s.memory_mode <> 'enabled' AND NOT EXISTS"
                " (SELECT 1 FROM memory_session_meta AS m WHERE m.host = s.host AND m.session_id = s.id)"
            )
            return frozenset(Key(*row) for row in rows)

    def remembered(self, keys: Sequence[tuple[str, str]]) -> frozenset[Key]:
        """Those of the sessions that may be remembered: the ``allowed`` of ``Jobs.select_inputs``."""
        with self._database.unit():
            forgotten = {Key(*row) for row in self._database.execute("SELECT host, session_id FROM forgotten_sessions")}
        excluded = self.excluded() | forgotten
        return frozenset(Key(*key) for key in keys if key not in excluded)

    def freeze_memory(self, host: str, id: str, memory: str) -> str:  # noqa: A002 - the field's name
        """The session reads this memory for good, unless it was given one before; returns the one it reads."""
        with self._database.transaction("freeze"):
            self._database.execute(
                "INSERT OR IGNORE INTO memory_session_versions (host, session_id, version, frozen_at_ms)"
                " VALUES (?, ?, ?, ?)",
                (host, id, memory, self._clock.now_ms()),
            )
            return self.memory_of(host, id)

    def memory_of(self, host: str, id: str) -> str:  # noqa: A002 - the field's name
        """The memory that the session reads, empty when it was given none. Looking freezes nothing."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT version FROM memory_session_versions WHERE host = ? AND session_id = ?", (host, id)
            ).fetchone()
        return str(row[0]) if row else ""

    def frozen(self, since_ms: int = 0) -> dict[str, int]:
        """Memory → how many sessions read it for good, of those that were given it or were active since then."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT v.version, count(*) FROM memory_session_versions AS v LEFT JOIN sessions AS s"
                " ON s.host = v.host AND s.id = v.session_id"
                " WHERE max(v.frozen_at_ms, coalesce(s.updated_at_ms, 0)) >= ? GROUP BY v.version ORDER BY v.version",
                (since_ms,),
            )
            return {str(name): int(count) for name, count in rows}

    def register_own(self, host: str, id: str) -> None:  # noqa: A002 - the field's name
        """The session is one that we started: never capture it."""
        with self._database.transaction("own"):
            self._database.execute(
                "INSERT OR IGNORE INTO own_sessions (host, session_id, registered_at_ms) VALUES (?, ?, ?)",
                (host, id, self._clock.now_ms()),
            )

    def is_own(self, host: str, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether we started the session."""
        return Key(host, id) in self.own_sessions()

    def own_sessions(self) -> frozenset[Key]:
        """All sessions that we started."""
        with self._database.unit():
            return frozenset(Key(*row) for row in self._database.execute("SELECT host, session_id FROM own_sessions"))

    def _set(self, host: str, id: str, mode: MemoryMode, conflict: str) -> None:  # noqa: A002 - the field's name
        told = ", updated_at = excluded.updated_at" if conflict != "NOTHING" else ""
        with self._database.transaction("mode"):
            self._database.execute(
                _UPSERT + conflict + told, (host, id, mode, int(mode == "polluted"), self._clock.now_ms())
            )


def _bypass(host: str, id: str) -> str:  # noqa: A002 - the field's name
    return f"{_BYPASS}:{host}:{id}"
