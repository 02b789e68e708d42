"""Small Markdown of Codex's handbook: recaps with where they come from, and keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.lines import iso, one_line, place, recap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.values.consolidate import Stored


def reference(row: Stored, note: str = "") -> str:
    """The recap with where and when, as task groups list it."""
    session = row.session
    parts = [
        f"cwd={place(session.cwd)}",
        f"updated_at={iso(session.updated_at_ms)}",
        f"session_id={one_line(session.id, 100)}",
        f"host={one_line(session.host, 40)}",
    ]
    return f"{recap(row)} ({', '.join([*parts, *([one_line(note, 120)] if note else [])])})"


def keywords(words: Iterable[str], limit: int = 10) -> str:
    """Distinct words, separated by commas."""
    unique: dict[str, None] = {}
    for word in words:
        plain = one_line(word.replace(",", " "), 60)
        if plain:
            unique.setdefault(plain)
    return ", ".join(list(unique)[:limit])
