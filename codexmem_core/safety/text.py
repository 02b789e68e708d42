"""Estimating and naming text, and what cannot be stored."""

import re
from datetime import UTC, datetime

from codexmem_hookspecs.cuts import CHARACTERS_A_TOKEN

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def shown_time(at_ms: int) -> str:
    """UNIX milliseconds for people."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def clean(text: str) -> str:
    """Replace what UTF-8 files and SQLite cannot hold: NUL, and surrogates without their other half."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def estimate_tokens(text: str) -> int:
    """Four characters a token, rounded half up. Counts code points (the first sources count UTF-16 units)."""
    return (len(text) + CHARACTERS_A_TOKEN // 2) // CHARACTERS_A_TOKEN


def slug(text: str, limit: int = 60, separator: str = "_") -> str:
    """Lower-case ASCII letters and digits joined by ``separator``: safe in any file name. May be empty."""
    return _NOT_SLUG.sub(separator, text.lower()).strip(separator)[:limit].rstrip(separator)
