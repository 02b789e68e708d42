"""Finds secrets that are recognisable by themselves, or by the words around them."""

import base64
import binascii
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from codexmem_core.safety import rules
from codexmem_core.safety.shapes import REDACTED

_RUN = b"a" * rules.SHORTEST_RUN
_RULES = {
    needle: (rule.kind, re.compile(re.escape(needle) + rule.body), rule.before and re.compile(rule.before))
    for rule in reversed(rules.TOKENS)
    for needle in rule.needles
}
_PREFIXES = re.compile(b"|".join(re.escape(needle) for needle in sorted(_RULES, key=len, reverse=True)))
_PLACES = {
    needle: [(rule.kind, rule.pattern) for rule in rules.PLACES if rule.needle == needle]
    for needle in sorted({rule.needle for rule in rules.PLACES})
}
_JOINED = re.compile(rb"\\[nrtbf]$|%[0-9A-Fa-f]{2}$|\\u[0-9A-Fa-f]{4}$|\x1b\[[0-9;]{0,10}m$|\\u001b\[[0-9;]{0,10}m$")


class Span(NamedTuple):
    """A part of a text, what takes its place, and which kind of secret it is."""

    start: int
    end: int
    text: bytes
    kind: str


def known_secrets(raw: bytes, lower: bytes, windows: Sequence[tuple[int, int]]) -> list[Span]:
    """Secrets that are recognisable by themselves or by the words around them."""
    spans: list[Span] = []
    for first, last in windows:
        _tokens_in_runs(raw, first, last, spans)
        for needle, places in _PLACES.items():
            at = lower.find(needle, first, last)
            while at >= 0:
                for kind, pattern in places:
                    found = pattern.match(lower, at)
                    if found is not None:
                        spans += _placed(raw, kind, found)
                at = lower.find(needle, at + 1, last)
    if b"private key" in lower:
        _private_keys(raw, spans)
    return spans


def _tokens_in_runs(raw: bytes, first: int, last: int, spans: list[Span]) -> None:
    runs = raw[first:last].translate(rules.RUN_BYTES)
    at, end, done = runs.find(_RUN), 0, 0
    while at >= 0:
        start = max(end, at - rules.LONGEST_PREFIX)
        end = runs.find(b" ", at)
        end = len(runs) if end < 0 else end
        for prefix in _PREFIXES.finditer(raw, first + start, first + end):
            if prefix.start() >= done:
                done = _token(raw, prefix, spans)
        at = runs.find(_RUN, end)


def _token(raw: bytes, prefix: re.Match[bytes], spans: list[Span]) -> int:
    """Note the token that begins here, if one does; gives the place from which to look on."""
    kind, pattern, before = _RULES[prefix[0]]
    start = prefix.start()
    found = pattern.match(raw, start)
    if found is None:
        return start
    if rules.EXAMPLE.search(found[0]):
        return found.end()
    if before:
        leading = before.search(raw, max(0, start - 10), start)
        if leading is None:
            return start
        start = leading.start()
    if raw[start - 1 : start].isalnum() and _JOINED.search(raw, max(0, start - 20), start) is None:
        return start
    if raw[start : start + 1] in b"bfnrt" and _escapes(raw, start):
        start += 1  # \npm_…: the letter belongs to the line end before the token
    spans.append(Span(start, found.end(), b"[REDACTED:%s]" % kind.encode(), kind))
    return found.end()


def _placed(raw: bytes, kind: str, found: re.Match[bytes]) -> list[Span]:
    group = found.lastgroup
    if group is None:
        return []
    start, end = found.span(group)
    if kind == "basic" and not _credentials(raw[start:end]):
        return []
    if kind == "bearer" and not _escapes(raw, found.start()):
        return [Span(found.start(), end, b"Bearer " + REDACTED, kind)]
    return [Span(start, end, REDACTED, kind)]


def _private_keys(raw: bytes, spans: list[Span]) -> None:
    """Whole keys, keys whose end is missing, and keys whose beginning is missing."""
    marks = list(rules.PEM_MARK.finditer(raw))
    cursor = 0
    for mark, following in zip_longest(marks, marks[1:]):
        start, end = mark.span()
        if start < cursor:
            continue
        if mark["side"] == b"END":
            start = _key_before(raw, cursor, start)
            if start < 0:
                cursor = end
                continue
        elif following is not None and following["side"] == b"END" and _one_key(raw, end, following):
            end = following.end()
        else:
            loose = rules.PEM_LOOSE.match(raw, end)
            end = end if loose is None else loose.end()
        spans.append(Span(start, end, b"[REDACTED:private-key]", "private-key"))
        cursor = end


def _one_key(raw: bytes, start: int, ending: re.Match[bytes]) -> bool:
    """Whether a key's body stands between a beginning and an end, in one piece or as strings of one list."""
    if rules.PEM_BETWEEN.fullmatch(raw, start, ending.start()) is not None:
        return True
    names_field = rules.PEM_FIELD.match(raw, ending.end(), ending.end() + rules.PEM_NEAR) is not None
    return not names_field and rules.PEM_PIECES.fullmatch(raw, start, ending.start()) is not None


def _key_before(raw: bytes, cursor: int, end: int) -> int:
    tail = rules.PEM_TAIL.search(raw, max(cursor, end - rules.PEM_WINDOW), end)
    return -1 if tail is None else tail.start()


def _escapes(raw: bytes, at: int) -> bool:
    """Whether the character at ``at`` is the letter of an escape: an odd number of backslashes stands before it."""
    count = 0
    while at - count > 0 and raw[at - count - 1] == ord("\\"):
        count += 1
    return count % 2 == 1


def _credentials(word: bytes) -> bool:
    """Whether base64 holds ``user:password``."""
    try:
        plain = base64.b64decode(word + b"=" * (-len(word) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode().isprintable()
