"""Changing a value inside JSON text while everything else keeps its form, byte for byte. For plugins to use.

A path is made of keys and indices; the index one past the end appends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

Key = str | int

SPACE = re.compile(r"[ \t\r\n]*")
OWN_LINE = re.compile(r"\s*\n([ \t]*)\Z")
"""Space that puts what follows on a line of its own, and how far in."""
INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)
"""JSON strings hold no line breaks, so an indented line shows how the text is laid out."""


class NotJson(ValueError):  # noqa: N818 - a state of a file, like NotUnderstood
    """The text is no JSON, or says a key twice. The message says where."""


class Node(NamedTuple):
    """A value and where it stands."""

    start: int
    end: int
    value: object
    keys: tuple[Key, ...] = ()
    """Of an object its keys, of a list its indices."""
    starts: tuple[int, ...] = ()
    """Where each member begins: an object's with its key."""
    children: tuple[Node, ...] = ()

    def child(self, key: Key) -> Node | None:
        """The value below a key or an index, if there is one."""
        return self.children[self.keys.index(key)] if key in self.keys else None


def parsed(text: str) -> Node:
    """The whole text as a tree. Raises NotJson."""
    if text.startswith("\ufeff"):
        raise NotJson("it begins with a byte order mark")
    try:
        node = _node(text, _space(text, 0))
    except RecursionError:
        raise NotJson("nested too deeply") from None
    if _space(text, node.end) != len(text):
        _wrong("something follows the value", text, node.end)
    return node


def with_value(text: str, path: Sequence[Key], value: object) -> str:
    """The text with ``value`` at the path, what is missing on the way made. Raises NotJson.

    What stands on the way must be objects and lists.
    """
    node = parsed(text)
    for depth, key in enumerate(path):
        child = node.child(key)
        if child is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value} if isinstance(name, str) else [value]
            return _inserted(text, node, key, value)
        node = child
    spread = "\n" in text[node.start : node.end]
    return text[: node.start] + _dumped(value, text, _margin(text, node.start) if spread else None) + text[node.end :]


def without(text: str, path: Sequence[Key]) -> str:
    """The text without the member or item at the path, which must be there. Raises NotJson."""
    node = parsed(text)
    for key in path[:-1]:
        child = node.child(key)
        assert child is not None
        node = child
    place = node.keys.index(path[-1])
    if len(node.keys) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if place == len(node.keys) - 1:
        return text[: node.children[place - 1].end] + text[node.children[place].end :]
    return text[: node.starts[place]] + text[node.starts[place + 1] :]


def _inserted(text: str, parent: Node, key: Key, value: object) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(parent.value, dict) else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    if parent.children:
        own_line = OWN_LINE.match(text[parent.start + 1 : parent.starts[0]])
        before = f"{newline}{own_line[1]}" if own_line else " "
        at = parent.children[-1].end
        member = name + _dumped(value, text, own_line[1] if own_line else None)
        return f"{text[:at]},{before}{member}{text[at:]}"
    margin = _margin(text, parent.start)
    inner = margin + _unit(text)
    member = name + _dumped(value, text, inner)
    return f"{text[: parent.start + 1]}{newline}{inner}{member}{newline}{margin}{text[parent.end - 1 :]}"


def _dumped(value: object, text: str, margin: str | None) -> str:
    """The value as JSON in the layout of the text; without a margin in one line."""
    if margin is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (("\r\n" if "\r\n" in text else "\n") + margin).join(lines)


def _unit(text: str) -> str:
    found = INDENTED.search(text)
    return found[1] if found else "  "


def _margin(text: str, position: int) -> str:
    """How far the line is indented that holds the position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _node(text: str, at: int) -> Node:
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, named=text[at] == "{")
    value, end = _value(text, at)
    return Node(at, end, value)


def _container(text: str, at: int, *, named: bool) -> Node:
    keys: list[Key] = []
    starts: list[int] = []
    children: list[Node] = []
    closing = "}" if named else "]"
    position = _space(text, at + 1)
    while text[position : position + 1] != closing:
        if children:
            position = _after(text, position, ",", f"a comma or {closing} is missing")
        starts.append(position)
        key: object = len(children)
        if named:
            key, end = _value(text, position)
            if not isinstance(key, str):
                _wrong("a key is no string", text, position)
            if key in keys:
                _wrong(f"the key {key} stands twice", text, position)
            position = _after(text, _space(text, end), ":", "a colon is missing")
        keys.append(key)  # type: ignore[arg-type]
        children.append(_node(text, position))
        position = _space(text, children[-1].end)
    values = [child.value for child in children]
    value = dict(zip(keys, values, strict=True)) if named else values
    return Node(at, position + 1, value, tuple(keys), tuple(starts), tuple(children))


def _value(text: str, at: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} in line {error.lineno}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise NotJson(str(error)) from None
    return value, end


def _constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _after(text: str, at: int, sign: str, problem: str) -> int:
    if text[at : at + 1] != sign:
        _wrong(problem, text, at)
    return _space(text, at + 1)


def _wrong(problem: str, text: str, at: int) -> NoReturn:
    raise NotJson(f"{problem} in line {text.count(chr(10), 0, at) + 1}")
