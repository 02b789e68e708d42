"""Estimating, cutting and naming text so that no character is ever split."""

import re

MARKER = "\n[...truncated...]\n"
CHARACTERS_A_TOKEN = 4
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def clean(text: str) -> str:
    """Replace what UTF-8 files and SQLite cannot hold: NUL, and surrogates without their other half."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def estimate_tokens(text: str) -> int:
    """Four characters a token, rounded half up. Counts code points (the first sources count UTF-16 units)."""
    return (len(text) + CHARACTERS_A_TOKEN // 2) // CHARACTERS_A_TOKEN


def cut_tokens(text: str, tokens: int) -> str:
    """Keep the beginning and the end of a text of more than ``tokens`` tokens; a marker line stands between them.

    With room for less than the marker, the marker is all that is left.
    """
    limit = max(0, tokens) * CHARACTERS_A_TOKEN
    if len(text) <= limit:
        return text
    keep = max(0, limit - len(MARKER))
    tail = keep // 2
    return text[: keep - tail] + MARKER + (text[-tail:] if tail else "")


def cut_bytes(text: str, limit: int, marker: str = MARKER) -> str:
    """Like :func:`cut_tokens`, measured in bytes of UTF-8; never more than ``limit`` bytes."""
    content = text.encode("utf-8", "surrogatepass")
    if len(content) <= limit:
        return text
    sign = marker.encode("utf-8", "surrogatepass")
    keep = max(0, limit - len(sign))
    if keep == 0:
        return marker if len(sign) <= limit else ""
    head, tail = keep - keep // 2, len(content) - keep // 2
    while head and _continues(content, head):
        head -= 1
    while tail < len(content) and _continues(content, tail):
        tail += 1
    return (content[:head] + sign + content[tail:]).decode("utf-8", "surrogatepass")


def slug(text: str, limit: int = 60, separator: str = "_") -> str:
    """Lower-case ASCII letters and digits joined by ``separator``: safe in any file name. May be empty."""
    return _NOT_SLUG.sub(separator, text.lower()).strip(separator)[:limit].rstrip(separator)


def _continues(content: bytes, at: int) -> bool:
    """Whether the byte belongs to the character before it."""
    return content[at] & 0xC0 == 0x80  # noqa: PLR2004 - UTF-8: continuation bytes are 10xxxxxx
