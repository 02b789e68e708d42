"""Reads the value that follows a secret name: where it begins and ends, and what may stand there instead."""

import re
import sys
from typing import NamedTuple

from codexmem_core.safety import shapes
from codexmem_core.safety.enclosure import CLOSING, Place
from codexmem_core.safety.shapes import REDACTED

_COLONS = (b":", "\uff1a".encode())
_STRICT = (b"==", b"===", b"=>")
"""Behind these stands code as often as a value: only a literal in quotes counts."""
_ELEMENT = re.compile(rb"[^<\r\n]{1,4096}(?=</)")
_ELEMENT_IN_STRING = re.compile(rb"(?:[^<\"\\\r\n]|\\.){1,4096}(?=<\\?/)")
_ESCAPED_STRUCTURE = re.compile(rb"[{}\[\]]|(?<!\\)\"")
_QUERY_NAME = re.compile(rb"[?&][\w.-]{0,38}$")
_FARTHEST_QUOTE = 4096


class Value(NamedTuple):
    """A value and its replacement."""

    start: int
    end: int
    text: bytes


class ValueReader:
    """Reads values in the order of their names, so that the text is gone through once."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._place = Place(raw)

    def value(self, hit: re.Match[bytes], *, flag: bool) -> Value | None:
        """The value behind a name, or None when nothing there is secret."""
        raw, at = self._raw, hit.end()
        self._place.advance(hit.start())
        close, separator = hit["close"] or b"", hit["sep"] or b""
        if hit["tag"]:
            return self._element(at)
        if hit["said"]:
            return self._said(at)
        if hit["gap"] or (flag and separator == b"="):
            return self._argument(at)
        at = _end(shapes.BLANKS, raw, at)
        if close and len(close) % 2 == 0:  # an odd number of backslashes: JSON within a string
            return self._escaped_value(at, close)
        if self._place.quote and not close:
            return self._inside_quotes(hit, at, separator)
        return self._after_key(hit, at, separator, close)

    # names without quotes of their own, inside a string

    def _inside_quotes(self, hit: re.Match[bytes], at: int, separator: bytes) -> Value | None:
        raw, line = self._raw, self._place.line_end(at)
        at, end = _end(shapes.ESCAPED_BLANKS, raw, at), self._place.enclosing_end(at)
        if self._spoken_only(hit, at, min(end, line), separator):
            return None
        if end > line:
            end = self._plain_end(at, separator, flow=False)
        else:
            end = self._command_end(at, min(end, _end(shapes.UNTIL_ESCAPED_LINE, raw, at, end)), separator)
        escaped = shapes.ESCAPED_QUOTE.match(raw, at)
        if escaped is not None:
            return self._escaped_value(at, escaped[0])
        first = raw[at : at + 1]
        if first in CLOSING and first != self._place.quote:
            closing = CLOSING[first].match(raw, at + 1, end)
            if closing is not None:
                return _replaced(raw, at + 1, closing.end() - 1)
        if separator in _STRICT:
            return None
        return _replaced(raw, at, self._sentence_end(hit, at, end, separator))

    # names in quotes, and names outside of any

    def _after_key(self, hit: re.Match[bytes], at: int, separator: bytes, close: bytes) -> Value | None:
        raw = self._raw
        outer = b"" if close[-1:] == self._place.quote else self._place.quote
        limit = self._place.limit(hit.start()) if outer else len(raw)
        if at >= limit:
            return None
        sign = close[-1:] if outer and close else b'"'  # a quote that does not end the outer string
        value = self._outside_quotes(hit, at, separator, sign)
        if value is not None and value.end > limit:
            value = _replaced(raw, at, limit)
        if value is not None:
            end, opening = value.end, raw[max(0, value.start - 1) : value.start]
            if opening in CLOSING and raw.startswith(opening, end):
                end += 3 if raw.startswith(opening * 3, end) else 1
            self._place.leave(end, outer)
        return value

    def _outside_quotes(  # noqa: PLR0911 - the forms of a value, one after the other
        self, hit: re.Match[bytes], at: int, separator: bytes, sign: bytes
    ) -> Value | None:
        raw, quoted = self._raw, hit["close"] is not None
        flow = self._place.in_flow(at)
        if quoted or hit["pair"] or (flow and separator == b":"):
            at = _end(shapes.SPACE, raw, at)
        if at >= len(raw) or raw[at : at + 1] in b"\r\n":
            return None if separator in _STRICT else self._next_line(hit, at)
        if not quoted:
            at = _typed(raw, at)
            if at < 0:
                return None
        at = _end(shapes.LITERAL_PREFIX, raw, at)
        if raw[at : at + 1] in CLOSING:
            return self._quoted(at, separator, flow=flow, item=hit["item"] is not None)
        if separator in _STRICT:
            return None
        if separator == b"=" and _QUERY_NAME.search(raw, max(0, hit.start() - 40), hit.start()) is not None:
            end = _end(shapes.QUERY_VALUE, raw, at)
            return _replaced(raw, at, end)
        end = self._whole(at, quoted=quoted)
        if end >= 0:
            return None if raw[at:end] == REDACTED else _replaced(raw, at, end, sign)
        return self._plain(hit, at, separator, sign, flow=flow)

    def _whole(self, at: int, *, quoted: bool) -> int:
        """The end of a structure, or of a number or constant of JSON, that begins here; -1 when none does."""
        raw = self._raw
        if raw[at : at + 1] in (b"{", b"[") and not raw.startswith(b"{{", at):
            end = self._place.partner(at)
            if end >= 0:
                return end
        primitive = shapes.PRIMITIVE.match(raw, at) if quoted else None
        return -1 if primitive is None else primitive.end()

    def _plain(self, hit: re.Match[bytes], at: int, separator: bytes, sign: bytes, *, flow: bool) -> Value | None:
        """A value without quotes: to the end of the line, or of the collection's item."""
        raw = self._raw
        block = shapes.BLOCK.match(raw, at)
        if block is not None:
            return self._block(hit.start(), block.end())
        if self._spoken_only(hit, at, self._place.line_end(at), separator):
            return None
        end = self._sentence_end(hit, at, self._plain_end(at, separator, flow=flow), separator)
        text = raw[at:end].rstrip()
        if text.endswith(b"\\"):
            text = text.rstrip(b"\\").rstrip()
        if text[-1:] in (b",", b";") and len(text) > 1:
            text = text[:-1]
        last = text[-1:]
        if last in CLOSING and text.count(last) % 2 == 1:
            return _replaced(raw, at, at + len(text) - 1)  # it closes a string that began on an earlier line
        return _replaced(raw, at, at + len(text), sign)

    def _quoted(self, at: int, separator: bytes, *, flow: bool = False, item: bool = False) -> Value | None:
        raw, quote = self._raw, self._raw[at : at + 1]
        if raw.startswith(quote * 3, at):
            end = raw.find(quote * 3, at + 3)
            return _replaced(raw, at + 3, end if end >= 0 else self._place.line_end(at))
        end = self._close(at + 1, quote)
        if end < 0:
            end = self._plain_end(at, separator, flow=flow)
            return _replaced(raw, at, at + len(raw[at:end].rstrip()), quote)
        if item and re.match(rb"\s*:", raw[end + 1 : end + 9]):
            return None  # the next key, not an argument
        return _replaced(raw, at + 1, end)

    def _close(self, at: int, quote: bytes) -> int:
        """Place of the quote that ends the value, or -1. On a later line only when it looks like an end there."""
        raw, line = self._raw, self._place.line_end(at)
        while (closing := CLOSING[quote].match(raw, at, line)) is not None:
            end = closing.end() - 1
            if quote == b"'" and raw[end + 1 : end + 2] == b"'":
                at = end + 2
            elif quote == b"'" and raw[end - 1 : end] == b"\\" and raw[end + 1 : end + 2].isalnum():
                at = end + 1
            else:
                return end
        closing = CLOSING[quote].match(raw, at, min(len(raw), at + _FARTHEST_QUOTE))
        if closing is None or shapes.ENDS_HERE.match(raw, closing.end()) is None:
            return -1
        return closing.end() - 1

    def _escaped_value(self, at: int, close: bytes) -> Value | None:
        raw, limit = self._raw, self._place.limit(at)
        opening = shapes.ESCAPED_QUOTE.match(raw, at)
        if opening is not None:
            ending = re.compile(rb"(?<!\\)\\{0,%d}%s" % (len(opening[1]), opening[2]))
            found = ending.search(raw, opening.end(), limit)
            if found is None and raw.startswith(opening[0], opening.end()):
                return None
            return _replaced(raw, opening.end(), limit if found is None else found.start())
        depth = 0
        if raw[at : at + 1] in (b"{", b"["):
            for sign in _ESCAPED_STRUCTURE.finditer(raw, at, min(limit, at + _FARTHEST_QUOTE)):
                depth += 1 if sign[0] in b"{[" else -1
                if sign[0] == b'"':
                    return _replaced(raw, at, sign.start(), close)
                if depth == 0:
                    return _replaced(raw, at, sign.end(), close)
        return _replaced(raw, at, _end(shapes.ESCAPED_PRIMITIVE, raw, at), close)

    def _argument(self, at: int) -> Value | None:
        """``--password value`` and the like."""
        raw, first = self._raw, self._raw[at : at + 1]
        escaped = shapes.ESCAPED_QUOTE.match(raw, at)
        if escaped is not None:
            return self._escaped_value(at, escaped[0])
        if first in CLOSING and first != self._place.quote:
            closing = CLOSING[first].match(raw, at + 1, self._place.limit(at))
            return None if closing is None else _replaced(raw, at + 1, closing.end() - 1)
        return None if first == b"-" else _replaced(raw, at, _end(shapes.FLAG_VALUE, raw, at))

    def _element(self, at: int) -> Value | None:
        """``<password>value</password>``."""
        pattern = _ELEMENT_IN_STRING if self._place.quote else _ELEMENT
        return _replaced(self._raw, at, _end(pattern, self._raw, at))

    def _said(self, at: int) -> Value | None:
        """``the password is value``."""
        at += self._raw[at : at + 1] in CLOSING and self._raw[at : at + 1] != self._place.quote
        return _replaced(self._raw, at, at + len(shapes.said_value(self._raw, at)))

    def _next_line(self, hit: re.Match[bytes], at: int) -> Value | None:
        """The word on the next line, when nothing else belongs to the name and it is not the next key."""
        raw = self._raw
        found = shapes.NEXT_LINE.match(raw, at)
        if found is None or shapes.NO_VALUE.match(found["word"] + (found["more"] or b"")) is not None:
            return None
        start, end = found.span("word")
        alone = shapes.KEY_ALONE.match(raw, raw.rfind(b"\n", 0, hit.start()) + 1, hit.start()) is not None
        if found["word"][:1] in (b'"', b"'"):
            return self._quoted(start, b"") if alone else None
        made = shapes.looks_made(found["word"])
        if (found["more"] and not made) or not (alone or made):
            return None
        return _replaced(raw, start, end, b'"')

    def _block(self, name: int, at: int) -> Value | None:
        """The lines of a YAML block scalar: all that stand deeper than the name's line."""
        raw = self._raw
        line = raw.rfind(b"\n", 0, name) + 1
        depth = _end(re.compile(rb"[ \t]*(?:- )?"), raw, line) - line
        lines = re.compile(rb"(?:\r?\n(?:[ \t]*(?=\r?\n|$)|[ \t]{%d,}[^\r\n]*))+" % (depth + 1))
        text = raw[at : _end(lines, raw, at)]
        start = at + len(text) - len(text.lstrip())
        return _replaced(raw, start, at + len(text.rstrip()))

    # ends

    def _plain_end(self, at: int, separator: bytes, *, flow: bool) -> int:
        raw, end = self._raw, self._place.line_end(at)
        for comment in (b" #", b"\t#"):
            found = raw.find(comment, at, end)
            end = end if found < 0 else found
        if flow:
            item = shapes.FLOW_END.search(raw, at + 1, end)
            end = end if item is None else item.start()
        return self._command_end(at, end, separator)

    def _command_end(self, at: int, end: int, separator: bytes) -> int:
        """Where the value ends when it is a variable in front of a shell command (``TOKEN=x ./deploy``)."""
        raw = self._raw
        shell = shapes.SHELL_END.search(raw, at, end) if separator == b"=" and raw[at - 1 : at] == b"=" else None
        return end if shell is None else shell.start()

    def _spoken_only(self, hit: re.Match[bytes], at: int, end: int, separator: bytes) -> bool:
        """Whether the name and what follows are words of a sentence. Asked first, because it costs least."""
        end = min(end, at + shapes.SENTENCE)
        return at >= end or self._sentence_end(hit, at, end, separator) <= at

    def _sentence_end(self, hit: re.Match[bytes], at: int, end: int, separator: bytes) -> int:
        """Where the value ends when the name stands in a sentence."""
        if separator not in _COLONS:
            return end
        name = hit.start()
        line = max(self._place.opened, self._raw.rfind(b"\n", max(0, name - 200), name) + 1, name - 200)
        if not shapes.in_sentence(self._raw, line, name):
            return end
        seen = self._raw[at : min(end, at + shapes.SENTENCE)]
        secret = shapes.sentence_value(seen)
        return end if secret == len(seen) else at + secret


def _typed(raw: bytes, at: int) -> int:
    """Where the value begins behind a type (``token: str = …``); -1 when there is only the type."""
    while (kind := shapes.TYPE.match(raw, at)) is not None:
        typed = shapes.TYPED_VALUE.match(raw, kind.end())
        if typed is None:
            return -1
        at = typed.end()
    return at


def _replaced(raw: bytes, start: int, end: int, quote: bytes = b"") -> Value | None:
    """The value's replacement; None when there is nothing to hide or it names where the secret is kept."""
    text = raw[start:end]
    if not text or shapes.is_placeholder(text):
        return None
    return Value(start, end, quote + REDACTED + quote)


def _end(pattern: re.Pattern[bytes], raw: bytes, at: int, limit: int = sys.maxsize) -> int:
    """Where a pattern that may match nothing ends."""
    found = pattern.match(raw, at, limit)
    return at if found is None else found.end()
