"""Changing a value inside JSON text while everything else keeps its form, byte for byte. For plugins to use.

A path is made of keys and indices; the index one past the end appends. With ``comments`` the text may hold ``//`` and
``/* */`` comments and a comma after the last member, which stay as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

Key = str | int

SPACE = re.compile(r"[ \t\r\n]*")
COMMENTED = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
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


def parsed(text: str, *, comments: bool = False) -> Node:
    """The whole text as a tree. Raises NotJson."""
    return _Reader(text, COMMENTED if comments else SPACE).whole()


def with_value(text: str, path: Sequence[Key], value: object, *, comments: bool = False) -> str:
    """The text with ``value`` at the path, what is missing on the way made. Raises NotJson.

    What stands on the way must be objects and lists.
    """
    node = parsed(text, comments=comments)
    for depth, key in enumerate(path):
        child = node.child(key)
        if child is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value} if isinstance(name, str) else [value]
            return _inserted(text, node, key, value)
        node = child
    spread = "\n" in text[node.start : node.end]
    return text[: node.start] + _dumped(value, text, _margin(text, node.start) if spread else None) + text[node.end :]


def without(text: str, path: Sequence[Key], *, comments: bool = False) -> str:
    """The text without the member or item at the path, which must be there. Raises NotJson."""
    node = parsed(text, comments=comments)
    for key in path[:-1]:
        child = node.child(key)
        assert child is not None
        node = child
    place = node.keys.index(path[-1])
    begin, end = node.starts[place], node.children[place].end
    last = place == len(node.keys) - 1
    following = node.end - 1 if last else node.starts[place + 1]
    before = node.children[place - 1].end if place else node.start + 1
    if last and (place or not _says(text, node.start + 1, begin, end, following)):
        return text[:before] + text[end if place else following :]
    if not last and not _says(text, end, following):
        return text[:begin] + text[following:]
    comma = _past_comments(text, end)
    return text[:begin] + text[end:comma] + text[comma + (text[comma] == ",") :]


def _says(text: str, *edges: int) -> bool:
    """Whether anything but space and commas stands in one of the stretches: a comment, which is not ours to take."""
    return any(text[start:end].strip(" \t\r\n,") for start, end in zip(edges[::2], edges[1::2], strict=True))


def _past_comments(text: str, at: int) -> int:
    found = COMMENTED.match(text, at)
    return found.end() if found else at


def _inserted(text: str, parent: Node, key: Key, value: object) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(parent.value, dict) else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    if parent.children:
        own_line = OWN_LINE.match(text[parent.start + 1 : parent.starts[0]])
        before = f"{newline}{own_line[1]}" if own_line else " "
        at = parent.children[-1].end
        member = name + _dumped(value, text, own_line[1] if own_line else None)
        return f"{text[:at]},{before}{member}{text[at:]}"
    if _says(text, parent.start + 1, parent.end - 1):
        raise NotJson("nothing but a comment stands where something is to be added")
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


class _Reader:
    """Reads one text; what may stand between its tokens is ``space``."""

    def __init__(self, text: str, space: re.Pattern[str]) -> None:
        self._text = text
        self._space = space

    def whole(self) -> Node:
        """Everything. Raises NotJson."""
        if self._text.startswith("\ufeff"):
            raise NotJson("it begins with a byte order mark")
        try:
            node = self._node(self._past_space(0))
        except RecursionError:
            raise NotJson("nested too deeply") from None
        if self._past_space(node.end) != len(self._text):
            self._wrong("something follows the value", node.end)
        return node

    def _node(self, at: int) -> Node:
        if self._text[at : at + 1] in ("{", "["):
            return self._container(at, named=self._text[at] == "{")
        value, end = self._value(at)
        return Node(at, end, value)

    def _container(self, at: int, *, named: bool) -> Node:
        keys: list[Key] = []
        starts: list[int] = []
        children: list[Node] = []
        closing = "}" if named else "]"
        position = self._past_space(at + 1)
        while not self._closes(position, closing):
            if children:
                position = self._after(position, ",", f"a comma or {closing} is missing")
                if self._space is COMMENTED and self._closes(position, closing):
                    break
            starts.append(position)
            key: object = len(children)
            if named:
                key, end = self._value(position)
                if not isinstance(key, str):
                    self._wrong("a key is no string", position)
                if key in keys:
                    self._wrong(f"the key {key} stands twice", position)
                position = self._after(self._past_space(end), ":", "a colon is missing")
            keys.append(key)  # type: ignore[arg-type]
            children.append(self._node(position))
            position = self._past_space(children[-1].end)
        values = [child.value for child in children]
        value = dict(zip(keys, values, strict=True)) if named else values
        return Node(at, position + 1, value, tuple(keys), tuple(starts), tuple(children))

    def _closes(self, at: int, closing: str) -> bool:
        return self._text[at : at + 1] == closing

    def _value(self, at: int) -> tuple[object, int]:
        try:
            value, end = _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise NotJson(f"{error.msg} in line {error.lineno}") from None
        except ValueError as error:  # a number of more digits than Python reads
            raise NotJson(str(error)) from None
        return value, end

    def _past_space(self, at: int) -> int:
        found = self._space.match(self._text, at)
        return found.end() if found else at

    def _after(self, at: int, sign: str, problem: str) -> int:
        if not self._closes(at, sign):
            self._wrong(problem, at)
        return self._past_space(at + 1)

    def _wrong(self, problem: str, at: int) -> NoReturn:
        raise NotJson(f"{problem} in line {self._text.count(chr(10), 0, at) + 1}")


def _constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)
