"""Changing keys and whole tables inside TOML text while everything else keeps its form, byte for byte.

Text is only ever taken out, put in and renamed by its header line, and what came out is read again: a file that says
the same in another form (inline tables, dotted keys) is refused, never rewritten.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Path = tuple[str, ...]

TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    "|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|\n|[\[{]|[\]}]|[^\n\"'#\[\]{}]+|.",
    re.DOTALL,
)
BLANK_LINE = re.compile(r"(\A|\n)\r?\n\Z")
BARE = re.compile(r"[A-Za-z0-9_-]+")


class OtherFormError(ValueError):
    """The text says it in a form that is not changed here. The message names the table."""


class Statement(NamedTuple):
    """One logical line: a header, a key with its value, a comment, or nothing."""

    start: int
    end: int
    text: str

    @property
    def says_nothing(self) -> bool:
        """Whether it is blank or a comment."""
        return self.text.strip()[:1] in ("", "#")


class Table(NamedTuple):
    """A header and what belongs to it."""

    path: Path
    statements: tuple[Statement, ...]
    """The header first; blank lines and comments at the end belong to what follows."""

    @property
    def is_array(self) -> bool:
        """Whether it is one of an array of tables."""
        return self.statements[0].text.lstrip().startswith("[[")

    @property
    def start(self) -> int:
        """Of the header."""
        return self.statements[0].start

    @property
    def end(self) -> int:
        """Past the last key."""
        return self.statements[-1].end


def read(text: str) -> dict[str, Any]:
    """What the text says. Raises ValueError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def value_at(document: Mapping[str, Any], path: Sequence[str]) -> Any:
    """What stands at a path; an empty table where nothing does."""
    found: Any = document
    for key in path:
        found = found.get(key, {}) if isinstance(found, dict) else {}
    return found


def with_table(text: str, path: Path, values: Mapping[str, str | float | Sequence[str]]) -> str:
    """The text with these keys in a table of its own, which is added at the end when it is not there."""
    expected = read(text)
    said = {key: value if isinstance(value, str | int | float) else list(value) for key, value in values.items()}
    _put(expected, path, {**value_at(expected, path), **said})
    lines = {key: f"{_name((key,))} = {written(value)}" for key, value in values.items()}
    if _table(text, path) is None:
        newline = _newline(text)
        apart = "" if not text else newline if text.endswith("\n") else 2 * newline
        new = text + apart + newline.join([f"[{_name(path)}]", *lines.values(), ""])
    else:
        new = text
        for key, line in lines.items():
            new = _with_key(new, path, key, line)
    return _checked(new, expected, path)


def without_tables(text: str, path: Path) -> str:
    """The text without the table and those below it; the blank line before each goes with it."""
    expected = read(text)
    _take(expected, path)
    new = text
    for table in reversed([table for table in _tables(text) if table.path[: len(path)] == path]):
        before = BLANK_LINE.sub(r"\1", new[: table.start])
        new = before + new[table.end :]
    return _checked(new, expected, path)


def renamed(text: str, path: Path, new_path: Path) -> str:
    """The text with another header over the same keys."""
    expected = read(text)
    value = copy.deepcopy(value_at(expected, path))
    _take(expected, path)
    _put(expected, new_path, value)
    table = _table(text, path)
    if table is None:
        raise OtherFormError(f"[{_name(path)}] is no table of its own")
    header = table.statements[0]
    new = f"{text[: header.start]}[{_name(new_path)}]{_newline(header.text)}{text[header.end :]}"
    return _checked(new, expected, path)


def _statements(text: str) -> Iterator[Statement]:
    start = depth = 0
    for token in TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and not depth:
            yield Statement(start, token.end(), text[start : token.end()])
            start = token.end()
    if start < len(text):
        yield Statement(start, len(text), text[start:])


def _tables(text: str) -> list[Table]:
    """Every table with a header, arrays of tables included."""
    groups: list[list[Statement]] = []
    for statement in _statements(text):
        if statement.text.lstrip().startswith("["):
            groups.append([])
        if groups:
            groups[-1].append(statement)
    for group in groups:
        while group[-1].says_nothing:
            group.pop()
    return [Table(_header(group[0].text), tuple(group)) for group in groups]


def _header(line: str) -> Path:
    """The keys in a header, read as a document of its own."""
    keys: list[str] = []
    value: Any = tomllib.loads(line)
    while value := value[0] if isinstance(value, list) else value:
        ((key, value),) = value.items()
        keys.append(key)
    return tuple(keys)


def _table(text: str, path: Path) -> Table | None:
    return next((table for table in _tables(text) if table.path == path and not table.is_array), None)


def _with_key(text: str, path: Path, key: str, line: str) -> str:
    table = _table(text, path)
    assert table is not None
    header = table.statements[0]
    for statement in table.statements[1:]:
        if not statement.says_nothing and key in tomllib.loads(statement.text):
            return text[: statement.start] + line + _comment(statement) + _newline(text) + text[statement.end :]
    apart = "" if header.text.endswith("\n") else _newline(text)
    return text[: header.end] + apart + line + _newline(text) + text[header.end :]


def _comment(statement: Statement) -> str:
    """What stands behind a value on its line."""
    said = next((token[0] for token in TOKEN.finditer(statement.text) if token[0].startswith("#")), "")
    return f"  {said.rstrip()}" if said else ""


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _put(document: dict[str, Any], path: Path, value: object) -> None:
    for key in path[:-1]:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise OtherFormError(f"{key} is no table")
    document[path[-1]] = value


def _take(document: dict[str, Any], path: Path) -> None:
    holder = value_at(document, path[:-1])
    if isinstance(holder, dict):
        holder.pop(path[-1], None)


def _checked(text: str, expected: dict[str, Any], path: Path) -> str:
    """The text, if it says what it should. A table that says nothing may stay or go."""
    try:
        same = _filled(read(text)) == _filled(expected)
    except ValueError:
        same = False
    if not same:
        raise OtherFormError(f"[{_name(path)}] cannot be changed beside what stands there, such as an inline table")
    return text


def _filled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, given in value.items() if (inner := _filled(given)) != {}}


def _name(path: Path) -> str:
    return ".".join(key if BARE.fullmatch(key) else written(key) for key in path)


def written(value: str | float | Sequence[str]) -> str:
    """A value as TOML says it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(map(written, value))}]"
