"""Writes one setting into the user's file, which is the user's own text: every other byte stays as it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.toml_text import read, value_at, with_table, written

from codexmem_core.config import names_of
from codexmem_core.safety.files import atomic_write

if TYPE_CHECKING:
    from codexmem_hookspecs.values.records import SettingValue


class SettingsFileError(Exception):
    """The settings file was not changed; the message says why and what to write by hand."""


def set_value(path: str, table: str, key: str, value: SettingValue) -> None:
    """Let ``[table] key`` be the value, also where it stands under another name. Raises SettingsFileError."""
    by_hand = f"write it yourself: below [{table}], {key} = {written(value)}"
    real = os.path.realpath(path)
    try:
        before = _text(real)
        held = value_at(read(before), (table,))
        there = [name for name in names_of(table, key) if name in held] or [key]
        after = with_table(before, (table,), dict.fromkeys(there, value))
    except (OSError, ValueError, TypeError) as error:
        raise SettingsFileError(f"{path} is not changed ({error}); {by_hand}") from error
    if after == before:
        return
    try:
        os.makedirs(os.path.dirname(real), exist_ok=True)
        atomic_write(real, after.encode(), "config")
    except (OSError, ValueError, Refused) as error:
        raise SettingsFileError(f"{path} cannot be written ({error}); {by_hand}") from error


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
