"""Takes secrets out of text, values and transcript items. Runs in front of every sink: disk, database, model, log."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from codexmem_hookspecs.values.capture import Item, Part

from codexmem_core.safety import rules
from codexmem_core.safety.assignments import assigned_values, is_secret_name
from codexmem_core.safety.fence import OPENING, without_fenced
from codexmem_core.safety.private import PrivateSpans, may_hold_private, strip_private
from codexmem_core.safety.shapes import REDACTED
from codexmem_core.safety.tokens import Span, known_secrets

_MARK = REDACTED.decode()
_MARK_NEEDLE = b"[REDACTED"
_ROUNDS = 6
_DEEPEST = 6
_TOO_DEEP = f'"{_MARK}"'
"""Stands for JSON that holds something to hide and is nested too deep to be gone through."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]|\\\\u[dD][89a-fA-F]")
_HEADERS = ("authorization", "auth")
_NAMED_VALUE = ("name", "key", "Name", "Key", "variable")


_Window = tuple[int, int]


class SecretAt(NamedTuple):
    """Where a secret stands and of which kind it is; never the secret."""

    line: int
    """1-based."""
    kind: str


def redact(text: str) -> str:
    """Replace every secret by ``[REDACTED]`` or ``[REDACTED:<kind>]``.

    Never raises; doing it twice changes nothing more; JSON stays JSON, and YAML, shell and code keep their structure.
    """
    raw = text.encode("utf-8", "surrogatepass")
    changed = _redacted(raw)
    if changed is raw:
        return text
    for _ in range(_ROUNDS):  # a replacement may show more on its lines; no other line can change
        again = _redacted(changed, only_marked=True)
        if again is changed:
            break
        changed = again
    return changed.decode("utf-8", "surrogatepass")


def redact_strings(value: object) -> object:
    """The same value with every string leaf redacted, and everything below a key that names a secret replaced."""
    return _leaves(value, redact, redact)


def safe(text: str) -> str:
    """Without private spans and secrets: for a text that somebody wrote and that stands alone."""
    return redact(strip_private(text))


def redact_item(item: Item, spans: PrivateSpans | None = None) -> Item:
    """Redact an item's parts, tool input and tool output; take private spans out, and context that we once gave.

    JSON in a tool's texts is redacted as decoded, so that no escape hides a secret, and stays JSON. Parts of which
    nothing is left go. ``spans``: of the message of which the item is a piece.
    """
    parts = item.parts
    if parts:
        spans = spans or PrivateSpans()
        texts = [_clear(part.text, spans) for part in parts]
        if any(text is not part.text for text, part in zip(texts, parts, strict=True)):
            changed = zip(texts, parts, strict=True)
            parts = tuple(Part(kind=part.kind, text=text) for text, part in changed if text or not part.text)
    tool = item.tool
    if tool is not None:
        given, output = _clear_json(tool.input, PrivateSpans()), _clear_json(tool.output, PrivateSpans())
        if given is not tool.input or output is not tool.output:
            tool = tool._replace(input=given, output=output)
    if parts is item.parts and tool is item.tool:
        return item
    return item._replace(parts=parts, tool=tool)


def find_secrets(text: str) -> list[SecretAt]:
    """Where secrets stand, in order. What was redacted already is none."""
    raw = text.encode("utf-8", "surrogatepass")
    lower, windows = raw.lower(), _windows(raw, only_marked=False)
    found, line, cursor = [], 1, 0
    for span in _chosen(raw, known_secrets(raw, lower, windows) + _assignments(raw, lower, windows)):
        line += raw.count(b"\n", cursor, span.start)
        cursor = span.start
        found.append(SecretAt(line, span.kind))
    return found


# one text


def _redacted(raw: bytes, *, only_marked: bool = False) -> bytes:
    """One round over all lines or those that hold a replacement; the same object when nothing was found.

    Assignments come second: a token that stands as a value is then replaced as that value.
    """
    changed = _applied(raw, known_secrets(raw, lower := raw.lower(), _windows(raw, only_marked=only_marked)))
    if changed is not raw:
        lower = changed.lower()
    return _applied(changed, _assignments(changed, lower, _windows(changed, only_marked=only_marked)))


def _windows(raw: bytes, *, only_marked: bool) -> list[_Window]:
    """The parts of the text to look at: all of it, or each line with a replacement and the line before it."""
    if not only_marked:
        return [(0, len(raw))]
    windows: list[_Window] = []
    at = raw.find(_MARK_NEEDLE)
    while at >= 0:
        start = raw.rfind(b"\n", 0, max(0, raw.rfind(b"\n", 0, at))) + 1
        end = raw.find(b"\n", at)
        end = len(raw) if end < 0 else end
        windows.append((max(start, windows[-1][1]) if windows else start, end))
        at = raw.find(_MARK_NEEDLE, end)
    return windows


def _assignments(raw: bytes, lower: bytes, windows: list[_Window]) -> list[Span]:
    return [
        Span(*value, "assignment")
        for value in assigned_values(raw, lower, windows)
        if not rules.EXAMPLE.search(raw, max(value.start, value.end - 16), value.end)
    ]


def _applied(raw: bytes, spans: list[Span]) -> bytes:
    pieces, cursor = [], 0
    for span in _chosen(raw, spans):
        pieces += [raw[cursor : span.start], span.text]
        cursor = span.end
    return b"".join([*pieces, raw[cursor:]]) if pieces else raw


def _chosen(raw: bytes, spans: list[Span]) -> list[Span]:
    """In order, without overlaps (the earlier, then the longer one stands) and without what is replaced already."""
    chosen: list[Span] = []
    cursor = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= cursor and raw[span.start : span.end] != span.text:
            chosen.append(span)
            cursor = span.end
    return chosen


# structured values


def _clear(text: str, spans: PrivateSpans) -> str:
    return redact(without_fenced(spans.without(text)))


def _clear_json(text: str, spans: PrivateSpans, depth: int = 0) -> str:
    """Like :func:`_clear` for text that may be JSON: where escapes may hide something, it is decoded first."""
    if not text[:64].lstrip().startswith(("{", "[", '"')) or depth > _DEEPEST:
        return _clear(text, spans)
    marked = spans.is_open or may_hold_private(text) or OPENING in text
    escaped = "\\" in text
    if not (escaped or marked):
        return redact(text)
    if not (marked or "\\u" in text) and redact(plain := text.replace("\\/", "/")) is plain:
        return text
    try:
        value = json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError):
        return _clear(text, spans)
    try:
        changed = _leaves(value, lambda leaf: _clear_json(leaf, spans, depth + 1), safe)
        return text if changed == value else _encoded(changed, text)
    except RecursionError:
        return _TOO_DEEP


def _finite(number: str) -> float:
    """A number that JSON can hold again: 1e999 is valid there, infinity is not."""
    return max(-sys.float_info.max, min(float(number), sys.float_info.max))


def _encoded(value: object, like: str) -> str:
    """JSON in the manner of the text that it came from."""
    indent = 2 if "\n" in like.strip() else None
    separators = (",", ": ") if indent else (", ", ": ") if '": ' in like else (",", ":")
    plain = not like.isascii() and _HALF_CHARACTER.search(like) is None
    return json.dumps(value, ensure_ascii=not plain, indent=indent, separators=separators)


def _leaves(value: object, leaf: Callable[[str], str], named: Callable[[str], str]) -> object:
    """Every text leaf in its order; keys are texts of their own, so that none takes another's place."""
    if isinstance(value, str):
        return leaf(value)
    if isinstance(value, Mapping):
        name = next((value[key] for key in _NAMED_VALUE if key in value), None)
        secret = "value" if isinstance(name, str) and is_secret_name(name) else None
        return {
            named(key) if isinstance(key, str) else key: _hidden(part)
            if isinstance(key, str) and (is_secret_name(key) or key == secret)
            else _under(key, _leaves(part, leaf, named))
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        parts = [_leaves(part, leaf, named) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def _under(key: object, value: object) -> object:
    """A value whose key tells that it may be a credential, though not every value of it is."""
    if not isinstance(value, str) or not isinstance(key, str) or not key.lower().endswith(_HEADERS):
        return value
    name = _HEADERS[0] if key.lower().endswith(_HEADERS[0]) else "_auth"
    return redact(f'"{name}":"{value}"')[len(name) + 4 : -1]


def _hidden(value: object) -> object:
    """What stands below a secret name, whatever its shape; an empty text hides nothing."""
    return value if isinstance(value, str) and not value else _MARK
