"""The last section of a summary: what there is, by place and day, folded until it fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codexmem_hookspecs.memory_files.document import Section, render
from codexmem_hookspecs.memory_files.lines import UNDATED, one_line, size

RECENT_DAYS = 3
"""Days with work that are told in full (Codex 0.171: the last three memory days)."""
_TRIED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A topic or a session, as it is listed."""

    place: str
    """Where it was worked on, as a heading says it."""
    day: str
    """``YYYY-MM-DD``, or UNDATED."""
    lines: Callable[[bool], Sequence[str]]
    """In full, or as an older entry is told."""


def contents(entries: Sequence[Entry], imported: Mapping[str, Sequence[str]], room: int, rest: str) -> list[Section]:
    """Sections below "What's in Memory", at most ``room`` bytes of UTF-8 when rendered.

    ``entries``: what is to be folded last comes first. Entries of the newest days stand in full; what does not fit
    loses its details, then stands as a count of its place, then as one count of all, which ``rest`` says.
    ``imported``: lines that lead to what other tools remember, by place; undated, so they are among the older ones.
    """
    days = sorted({entry.day for entry in entries if entry.day != UNDATED}, reverse=True)[:RECENT_DAYS]
    recent = [entry for entry in entries if entry.day in days]
    older = [entry for entry in entries if entry.day not in days]
    for routes in (imported, {}) if imported else (imported,):
        for full in _steps_down(len(recent)):
            kept, folded = recent[:full], [*recent[full:], *older]
            for short in _steps_down(len(folded)):
                sections = [*_recent(kept), *_older(folded[:short], folded[short:], routes, rest)]
                if size(render(sections)) <= room:
                    return sections
    return []


def _steps_down(count: int) -> list[int]:
    """How many to try: all, then fewer and fewer, then none."""
    tries = [min(count, _TRIED)]
    while tries[-1] > 0:
        tries.append(min(tries[-1] - 1, tries[-1] * 4 // 5))
    return tries


def _recent(kept: Sequence[Entry]) -> list[Section]:
    places: dict[str, dict[str, list[Entry]]] = {}
    for entry in kept:
        places.setdefault(entry.place, {}).setdefault(entry.day, []).append(entry)
    sections: list[Section] = []
    for where, days in places.items():
        sections.append(Section(3, where))
        sections += [Section(4, name, _lines(days[name], full=True)) for name in sorted(days, reverse=True)]
    return sections


def _older(
    short: Sequence[Entry], counted: Sequence[Entry], imported: Mapping[str, Sequence[str]], rest: str
) -> list[Section]:
    if not short and not counted and not imported:
        return []
    places: dict[str, list[str]] = {}
    for entry in short:
        places.setdefault(entry.place, []).extend(_lines([entry], full=False))
    for where, lines in imported.items():
        places.setdefault(where, []).extend(lines)
    sections = [Section(3, "Older Memory Topics")]
    sections += [Section(4, where, lines) for where, lines in places.items()]
    if counted:
        counts = Counter(entry.place for entry in counted)
        top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
        named = ", ".join(f"{one_line(name, 60)} ({count})" for name, count in top)
        sections.append(Section(4, "everything else", [f"- {len(counted)} more {rest}: {named}"]))
    return sections


def _lines(entries: Sequence[Entry], *, full: bool) -> list[str]:
    return [line for entry in entries for line in entry.lines(full)]
