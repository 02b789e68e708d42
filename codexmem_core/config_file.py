"""Writes one setting into the user's file, and leaves every other byte as it is.

The file is the user's own text, with comments and an order. So one line is changed or added, and the result is held
against what was meant before it is written; where that cannot be done, the user is told what to write.
"""

from __future__ import annotations

import os
import re
import tomllib
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.config import ALIASES
from codexmem_core.safety.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Collection

_TABLE = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")
_COMMENT = re.compile(r"""=\s*(?:"[^"]*"|'[^']*'|[^"'#]*)(\s*#.*)$""")


class SettingsFileError(Exception):
    """The settings file was not changed; the message says why and what to write by hand."""


def set_text(path: str, table: str, key: str, value: str) -> None:
    """Let ``[table] key`` be the string. Other names of the key go. Raises SettingsFileError."""
    line = f"{key} = {_quoted(value)}"
    by_hand = f"write it yourself: below [{table}], {line}"
    real = os.path.realpath(path)
    try:
        with open(real, encoding="utf-8", newline="") as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    except (OSError, ValueError) as error:
        raise SettingsFileError(f"{path} cannot be read ({error}); {by_hand}") from error
    names = {key, *(alias for (place, alias), stands_for in ALIASES.items() if (place, stands_for) == (table, key))}
    try:
        wanted = tomllib.loads(before)
        after = _with_line(before, table, names, line)
        held = wanted.setdefault(table, {})
        for name in names:
            held.pop(name, None)
        held[key] = value
        understood = tomllib.loads(after) == wanted
    except (ValueError, AttributeError) as error:
        raise SettingsFileError(f"{path} is not changed: it cannot be understood ({error}); {by_hand}") from error
    if not understood:
        raise SettingsFileError(f"{path} is not changed: [{table}] is written in a way that is left to you; {by_hand}")
    if after == before:
        return
    try:
        os.makedirs(os.path.dirname(real), exist_ok=True)
        atomic_write(real, after.encode(), "config")
    except (OSError, Refused) as error:
        raise SettingsFileError(f"{path} cannot be written ({error}); {by_hand}") from error


def _with_line(text: str, table: str, names: Collection[str], line: str) -> str:
    """The text in which the table's line of one of the names is this one; it is added where there is none."""
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    header, found = None, list[int]()
    current = ""
    for number, one in enumerate(lines):
        if opened := _TABLE.match(one):
            current = opened[1].strip("\"'")
            header = number if current == table and header is None else header
        elif current == table and (named := _KEY.match(one)) and named[1].strip("\"'") in names:
            found.append(number)
    if found:
        comment = _COMMENT.search(lines[found[0]].rstrip("\r\n"))
        lines[found[0]] = f"{line}{comment[1] if comment else ''}{ending}"
        for number in reversed(found[1:]):
            del lines[number]
    elif header is not None:
        lines[header] = lines[header].rstrip("\r\n") + ending
        lines.insert(header + 1, line + ending)
    else:
        if lines:
            lines[-1] = lines[-1].rstrip("\r\n") + ending
            lines.append(ending)
        lines += [f"[{table}]{ending}", line + ending]
    return "".join(lines)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
