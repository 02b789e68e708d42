"""Small Markdown: one-line texts, dates, paths of recaps."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.values.consolidate import Stored

UNDATED = "undated"

_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LATEST_MS = 253_402_300_799_000
"""The last millisecond of the year 9999, which is as far as dates can be written."""


def one_line(text: str, limit: int = 200) -> str:
    """The text without line ends and control characters, at most ``limit`` characters, cut at a word."""
    text = _UNSEEN.sub(" ", text.encode("utf-8", "replace").decode()).strip()
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip() + "…"


def quoted(text: str, limit: int = 200) -> str:
    """A near-quote in straight quotation marks."""
    return '"' + one_line(text, limit).replace('"', "'") + '"'


def code(text: str, limit: int = 160) -> str:
    """A command or path in backticks."""
    return "`" + one_line(text, limit).replace("`", "'") + "`"


def iso(milliseconds: int) -> str:
    """UTC, to the second, with its offset: ``2026-11-30T12:18:46+00:00``; ``unknown`` for 0."""
    if milliseconds <= 0:
        return "unknown"
    return datetime.fromtimestamp(min(milliseconds, _LATEST_MS) // 1000, UTC).isoformat()


def day(milliseconds: int) -> str:
    """``YYYY-MM-DD`` in UTC; UNDATED for 0."""
    return iso(milliseconds)[:10] if milliseconds > 0 else UNDATED


def place(cwd: str) -> str:
    """A working directory for people and for search."""
    return one_line(cwd, 300) or "unknown"


def recap(row: Stored) -> str:
    """Path of the session's recap."""
    return f"rollout_summaries/{one_line(row.recap_file, 300)}"


def note_line(path: str, text: str, limit: int = 300) -> str:
    """A note as one line, marked as one."""
    return f"{quoted(text, limit)} (from {one_line(path, 200)}) [ad-hoc note]"


def utf8(text: str) -> bytes:
    """As it is stored; half characters become question marks."""
    return text.encode("utf-8", "replace")


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(utf8(text))
