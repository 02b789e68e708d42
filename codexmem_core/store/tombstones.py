"""Sessions and texts that are never learned again. Times are UNIX milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.store.part import StorePart
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class TombstoneRows(StorePart):
    """The part of the catalogue that keeps what was forgotten from coming back."""

    def forget_sessions(self, keys: Iterable[tuple[str, str]]) -> int:
        """Never learn these again; returns how many were not forgotten before."""
        now = self._clock.now_ms()
        with self._database.transaction("forget"):
            return sum(
                self._database.execute(
                    "INSERT OR IGNORE INTO forgotten_sessions (host, session_id, forgotten_at_ms) VALUES (?, ?, ?)",
                    (*key, now),
                ).rowcount
                for key in keys
            )

    def forget_texts(self, hashes: Iterable[tuple[str, str, int]]) -> list[str]:
        """Never learn these windows (hash, hash of the first word, words) again; returns the hashes that are new."""
        now = self._clock.now_ms()
        with self._database.transaction("forget"):
            return [
                window
                for window, first, words in hashes
                if self._database.execute(
                    "INSERT OR IGNORE INTO forgotten_texts (window, first, words, forgotten_at_ms) VALUES (?, ?, ?, ?)",
                    (window, first, words, now),
                ).rowcount
            ]

    def lift_sessions(self, keys: Iterable[tuple[str, str]]) -> int:
        """These may be learned again; returns how many were forgotten."""
        with self._database.transaction("lift"):
            return sum(
                self._database.execute(
                    "DELETE FROM forgotten_sessions WHERE host = ? AND session_id = ?", tuple(key)
                ).rowcount
                for key in keys
            )

    def lift_texts(self, windows: Sequence[str]) -> int:
        """These windows may be learned again; returns how many were forgotten."""
        with self._database.transaction("lift"):
            return sum(
                self._database.execute("DELETE FROM forgotten_texts WHERE window = ?", (window,)).rowcount
                for window in windows
            )

    def forgotten_sessions(self) -> frozenset[Key]:
        """All sessions that are never learned again."""
        with self._database.unit():
            rows = self._database.execute("SELECT host, session_id FROM forgotten_sessions")
            return frozenset(Key(*row) for row in rows)

    def forgotten_texts(self) -> list[tuple[str, str, int]]:
        """All windows: hash, hash of the first word, number of words."""
        with self._database.unit():
            return self._database.execute("SELECT window, first, words FROM forgotten_texts").fetchall()

    def tombstone_state(self) -> tuple[str, str]:
        """Changes whenever one is added or lifted."""
        with self._database.unit():
            sessions, texts = self._database.execute(
                "SELECT (SELECT count(*) || ':' || coalesce(max(rowid), 0) FROM forgotten_sessions),"
                " (SELECT count(*) || ':' || coalesce(max(rowid), 0) FROM forgotten_texts)"
            ).fetchone()
        return sessions, texts
