"""The full-text index behind ranked search: SQLite FTS5 in memory, one a process, never on disk."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOKENIZER = "tokenize = 'porter unicode61 remove_diacritics 2'"
_SCHEMA = (
    f"CREATE VIRTUAL TABLE passages USING fts5(body, {_TOKENIZER})",
    "CREATE VIRTUAL TABLE terms USING fts5vocab(passages, row)",
    f"CREATE VIRTUAL TABLE words USING fts5(body, {_TOKENIZER})",
    "CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)",
)
_KEPT_STEMS = 4_096


class FullTextIndex:
    """Passages by number. Its owner serialises calls; threads may take turns.

    Raises StoreError when this SQLite was built without FTS5.
    """

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._stems: dict[str, str] = {}
        try:
            for statement in _SCHEMA:
                self._connection.execute(statement)
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} has no FTS5 ({error}): use another search mode"
            ) from error

    def change(self, *, removed: Iterable[int], added: Iterable[tuple[int, str]]) -> None:
        """Take passages out and put others in, in one transaction."""
        with self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("DELETE FROM passages WHERE rowid = ?", ((number,) for number in removed))
            self._connection.executemany("INSERT INTO passages (rowid, body) VALUES (?, ?)", added)

    def best(self, tokens: Sequence[str], *, limit: int) -> list[tuple[int, float]]:
        """Passages that hold any of the tokens with their bm25 (more is better), best first; limit -1 for all of them.

        A token is plain words (several stand next to each other) or, with ``*`` at its end, a beginning.
        """
        match = " OR ".join(_quoted(token) for token in tokens)
        if not match:
            return []
        rows = self._connection.execute(
            "SELECT rowid, rank FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
        return [(number, -rank) for number, rank in rows]

    def stem(self, word: str) -> str:
        """The word as the index keeps it; empty for what the tokenizer does not take for a word."""
        known = self._stems.get(word)
        if known is None:
            self._connection.execute("DELETE FROM words")
            self._connection.execute("INSERT INTO words (rowid, body) VALUES (1, ?)", (word,))
            row = self._connection.execute("SELECT term FROM stems ORDER BY offset LIMIT 1").fetchone()
            if len(self._stems) >= _KEPT_STEMS:
                self._stems.clear()
            known = self._stems[word] = row[0] if row else ""
        return known

    def occurrences(self, stem: str) -> int:
        """How often a stem stands in all passages."""
        row = self._connection.execute("SELECT cnt FROM terms WHERE term = ?", (stem,)).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()


def _quoted(token: str) -> str:
    # Inside quotes nothing is query syntax; a quote itself is doubled.
    beginning = token.endswith("*")
    text = token.removesuffix("*").replace('"', '""').replace("\0", " ")
    return f'"{text}"' + ("*" if beginning else "")
