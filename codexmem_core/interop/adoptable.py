"""What another tool's memory holds, read for taking it over; nothing of it is ever changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codexmem_hookspecs.values.capture import MemoryMode

    from codexmem_core.store.foreign import Row
    from codexmem_core.store.values import AdoptedNote, Key


T = TypeVar("T")

TOO_LARGE = 2**53
"""For a count, or for a time in milliseconds, of which it would be the year 287,396."""


class NothingToAdopt(Exception):  # noqa: N818 - a state that a caller handles
    """The folder holds no memory of that tool; the message says what was looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptableMemory:
    """One memory of the other tool: notes of its database, files of its folder."""

    memory: str
    """Name of the memory of ours that takes it over: ``v1``, ``v2``."""
    root: str
    """Its folder, which need not exist."""
    notes: tuple[AdoptedNote, ...] = ()
    settled: Mapping[Key, int] = field(default_factory=dict)
    """Up to when each session was extracted, UNIX milliseconds."""
    covered: int = 0
    """The most sessions that one consolidation covered."""
    recaps: Mapping[str, str] = field(default_factory=dict)
    """Names of recap files as the other tool has them → as ours will be called."""
    skipped: tuple[str, ...] = ()
    """What could not be understood, with its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoptable:
    """Everything that may be taken over from one place."""

    source: str
    """``codex``, ``opencode-codex-memory``."""
    place: str
    memories: tuple[AdoptableMemory, ...]
    modes: Mapping[Key, MemoryMode] = field(default_factory=dict)
    """Of sessions that are not to be remembered."""
    reads: Mapping[Key, str] = field(default_factory=dict)
    """Which memory a session was given."""
    skipped: tuple[str, ...] = ()
    not_files: frozenset[str] = frozenset()
    """Extensions that are copies of what comes from elsewhere, by name."""


def understood(rows: Iterable[Row], make: Callable[[Row], T], what: str, skipped: list[str]) -> list[T]:
    """What ``make`` makes of each row. One that it raises ValueError for is told with its place, and the others come.

    what: a name for such a row, with its columns in braces.
    """
    made = []
    for row in rows:
        try:
            made.append(make(row))
        except ValueError as error:
            skipped.append(f"{what.format(**row)}: {error}")
    return made


def text(row: Row, column: str) -> str:
    """A text column, empty for NULL. Raises ValueError for anything else."""
    value = row[column]
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{column} is no text")  # noqa: TRY004 - a row's fault, not a caller's
    return value


def identity(row: Row, column: str) -> str:
    """What a session is called. Raises ValueError for anything but text, and for none."""
    value = text(row, column)
    if not value:
        raise ValueError(f"{column} is empty")
    return value


def location(row: Row, column: str) -> str:
    """A path, empty for NULL. Raises ValueError for what can be none."""
    value = text(row, column)
    if "\0" in value:
        raise ValueError(f"{column} is no path")
    return value


def number(row: Row, column: str, factor: int = 1) -> int:
    """A whole number that is not negative, 0 for NULL, times ``factor``. Raises ValueError for anything else."""
    value = row[column]
    if value is None:
        return 0
    if not isinstance(value, int) or not 0 <= value * factor < TOO_LARGE:
        raise ValueError(f"{column} is no time or count")
    return value * factor
