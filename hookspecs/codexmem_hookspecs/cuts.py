"""Cutting a text in the middle so that no character is ever split."""

TRUNCATED = "\n[...truncated...]\n"
CHARACTERS_A_TOKEN = 4


def cut_tokens(text: str, tokens: int) -> str:
    """Keep the beginning and the end of a text of more than ``tokens`` tokens; a marker line stands between them.

    With room for less than the marker, the marker is all that is left.
    """
    limit = max(0, tokens) * CHARACTERS_A_TOKEN
    if len(text) <= limit:
        return text
    keep = max(0, limit - len(TRUNCATED))
    tail = keep // 2
    return text[: keep - tail] + TRUNCATED + (text[-tail:] if tail else "")


def cut_bytes(text: str, limit: int, marker: str = TRUNCATED) -> str:
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


def _continues(content: bytes, at: int) -> bool:
    """Whether the byte belongs to the character before it."""
    return content[at] & 0xC0 == 0x80  # noqa: PLR2004 - UTF-8: continuation bytes are 10xxxxxx
