"""Which quote and how many brackets enclose a place in a text, known from the place's own line only."""

import re

_OPENING = re.compile(rb"(?<!\\)[\"`{}\[\]]|(?<![A-Za-z0-9\\])'")
CLOSING = {
    b'"': re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    b"'": re.compile(rb"[^']*'"),
    b"`": re.compile(rb"[^`]*`"),
}
_STRUCTURE = re.compile(rb"[\"'`{}\[\]]")
_OPENED_BY = {b"}": b"{", b"]": b"["}
_NEAR = 4096
"""Bytes within which most structures end."""


class Place:
    """A place that goes through the text once, from line to line; a quote that never closes spoils only its line."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0
        self._depth = 0
        self._line = (0, -1)  # the last line end that was looked for, and from where on it holds
        self._closing = -1  # end of the enclosing string, -1 when not looked for yet
        self._partners: dict[int, int] | None = None
        self.quote = b""
        """The quote that encloses the place, or nothing."""
        self.opened = 0
        """Where that string or, without one, the line began."""

    def leave(self, at: int, quote: bytes) -> None:
        """Go on behind a value, within the string that enclosed it."""
        self._at = self.opened = at
        self.quote, self._closing = quote, -1

    def advance(self, to: int) -> None:
        """Go to a place further on."""
        raw, at = self._raw, self._at
        newline = raw.rfind(b"\n", at, to)
        if newline >= 0:
            at = self.opened = newline + 1
            self.quote, self._depth, self._closing = b"", 0, -1
        while at < to:
            if self.quote:
                closing = CLOSING[self.quote].match(raw, at, to)
                if closing is None:
                    at = _before_backslashes(raw, at, to)
                    break
                at, self.quote, self._closing = closing.end(), b"", -1
            else:
                at = self._open(at, to)
        self._at = max(at, self._at)

    def _open(self, at: int, to: int) -> int:
        """Go to the next quote or bracket."""
        opening = _OPENING.search(self._raw, at, to)
        if opening is None:
            return to
        at, sign = opening.end(), opening[0]
        if sign in CLOSING:
            self.quote, self.opened = sign, at
        else:
            self._depth = self._depth + 1 if sign in b"{[" else max(0, self._depth - 1)
        return at

    def line_end(self, at: int) -> int:
        """Place of the next line end, or of the text's."""
        first, end = self._line
        if not first <= at <= end:
            end = self._raw.find(b"\n", at)
            end = len(self._raw) if end < 0 else end
            carriage = self._raw.find(b"\r", at, end)
            end = end if carriage < 0 else carriage
            self._line = (at, end)
        return end

    def enclosing_end(self, at: int) -> int:
        """Place of the quote that closes the enclosing string on this line; the line's end + 1 when there is none."""
        if self._closing < at:
            end = self.line_end(at)
            closing = CLOSING[self.quote].match(self._raw, at, end)
            self._closing = end + 1 if closing is None else closing.end() - 1
        return self._closing

    def limit(self, at: int) -> int:
        """How far something that begins at ``at`` may reach: the end of the enclosing string or of the line."""
        line = self.line_end(at)
        return min(line, self.enclosing_end(at)) if self.quote else line

    def in_flow(self, at: int) -> bool:
        """Whether a collection in brackets encloses the place and is closed on this line."""
        if not self._depth:
            return False
        line = self.line_end(at)
        return self._raw.find(b"}", at, line) >= 0 or self._raw.find(b"]", at, line) >= 0

    def partner(self, at: int) -> int:
        """The end of the structure that opens at ``at``, or -1. The whole text is gone through at most once."""
        if self._partners is None:
            near = _partners(self._raw, at, min(len(self._raw), at + _NEAR), first_only=True).get(at)
            if near is not None:
                return near
            self._partners = _partners(self._raw, 0, len(self._raw), first_only=False)
        return self._partners.get(at, -1)


def _before_backslashes(raw: bytes, first: int, at: int) -> int:
    """A place from which escapes are read right: not between a backslash and its character."""
    while at > first and raw[at - 1] == ord("\\"):
        at -= 1
    return at


def _partners(raw: bytes, at: int, limit: int, *, first_only: bool) -> dict[int, int]:
    """Opening brackets and where their structures end. Strings are left out, and brackets that match nothing."""
    stack: list[tuple[int, bytes]] = []
    waiting = {b"{": 0, b"[": 0}
    partners: dict[int, int] = {}
    while (found := _STRUCTURE.search(raw, at, limit)) is not None:
        at, sign = found.end(), found[0]
        if sign in CLOSING:
            line = raw.find(b"\n", at, limit)
            closing = CLOSING[sign].match(raw, at, limit if line < 0 else line)
            if closing is not None:
                at = closing.end()
            elif line < 0 and limit < len(raw):
                break  # the string may go on behind the limit
        elif sign in waiting:
            stack.append((found.start(), sign))
            waiting[sign] += 1
        elif waiting[_OPENED_BY[sign]]:
            opened = b""
            while opened != _OPENED_BY[sign]:
                start, opened = stack.pop()
                waiting[opened] -= 1
            partners[start] = at
            if first_only and not stack:
                break
    return partners
