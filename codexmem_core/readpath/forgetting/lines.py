"""Takes one session out of Markdown that people or models wrote: its lines and tasks go, their neighbours stay.

A line belongs to a session when it names it or its recap; when it shares eight words in a row with what only that
session gave; or when it holds an identifier that only that session gave.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.readpath.forgetting.wanted import naming
from codexmem_core.readpath.tombstones import WINDOW_WORDS, windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

RECAP = re.compile(r"rollout_summaries/([^\s(),;|]+?)(?=[\s(),;|\]`]|\.?$)")
_IDENTIFIER = re.compile(r"\w[\w.-]{4,}\w")
_DATE = re.compile(r"\d{4}-\d\d")
_BULLET = re.compile(r"(\s*)[-*] ")
_TASK = re.compile(r"## Task (\d+)")
_TAG = re.compile(r"\[Task \d+(?:, ?Task \d+)*\]\s*$")
_RAW_SECTION = re.compile(r"^## (?:Session|Thread) `(.*?)`", re.MULTILINE)
FORGOTTEN = "[forgotten]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What only the forgotten sessions gave."""

    ids: frozenset[str]
    recaps: frozenset[str]
    """Names below rollout_summaries/."""
    runs: frozenset[tuple[str, ...]] = frozenset()
    identifiers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ids: Iterable[str], recaps: Iterable[str], theirs: Iterable[str], others: Iterable[str]) -> Provenance:
        """``theirs``: texts of the forgotten sessions; ``others``: of everything that stays."""
        runs, identifiers = _marks(theirs)
        other_runs, other_identifiers = _marks(others)
        return cls(
            ids=frozenset(ids),
            recaps=frozenset(recaps),
            runs=frozenset(runs - other_runs),
            identifiers=frozenset(identifiers - other_identifiers),
        )

    def names(self, line: str) -> bool:
        """Whether a line names one of the sessions."""
        return bool(naming(self.ids).search(line)) or not self.recaps.isdisjoint(RECAP.findall(line))

    def gave(self, line: str) -> bool:
        """Whether a line repeats what one of them alone gave."""
        return not (self.runs.isdisjoint(_runs(line)) and self.identifiers.isdisjoint(_identifiers(line)))

    def names_others(self, line: str) -> bool:
        """Whether a line names a recap that stays."""
        return any(name not in self.recaps for name in RECAP.findall(line))


def without_sessions(text: str, gone: Provenance, exempt: frozenset[str] = frozenset()) -> str:
    """The text without what belongs to the sessions; lines of ``exempt`` stay whatever they hold."""
    lines = text.split("\n")
    kept: list[str] = []
    for block in _blocks(lines):
        kept += _block_left(block, gone, exempt)
    if kept == lines:
        return text
    return "\n".join(_without_empty_tasks(lines, kept))


def without_raw_sections(text: str, gone: Provenance) -> str:
    """raw_memories.md without the sections of the sessions."""
    starts = list(_RAW_SECTION.finditer(text))
    kept = [text[: starts[0].start()]] if starts else [text]
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        if start[1] not in gone.ids:
            kept.append(text[start.start() : end])
    return "".join(kept)


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """A bullet with the lines below it that stand further in; any other line alone."""
    block: list[str] = []
    depth = -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if block and line.strip() and indent > depth >= 0:
            block.append(line)
            continue
        if block:
            yield block
        bullet = _BULLET.match(line)
        block, depth = [line], len(bullet[1]) if bullet else -1
    yield block


def _block_left(block: list[str], gone: Provenance, exempt: frozenset[str]) -> list[str]:
    theirs = [line for line in block if line not in exempt and (gone.names(line) or gone.gave(line))]
    if not theirs:
        return block
    named = any(gone.names(line) for line in block)
    if named and not any(gone.names_others(line) or line in exempt for line in block):
        return []
    left = []
    for line in block:
        if line not in theirs:
            left.append(line)
        elif gone.names_others(line):
            left.append(_unnamed(line, gone))
    return left


def _unnamed(line: str, gone: Provenance) -> str:
    """A line that others share, without the name of what is forgotten."""
    line = RECAP.sub(lambda found: FORGOTTEN if found[1] in gone.recaps else found[0], line)
    return naming(gone.ids).sub(FORGOTTEN, line)


def _without_empty_tasks(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Drop tasks that named recaps before and name none now, the bullets that only they stand behind, empty groups."""
    left: list[str] = []
    named = _recaps_by_task(before)
    for group in _groups(after):
        still = _recaps_by_task(group)
        gone = {task for task in still if named.get(task) and not still[task]}
        if gone and gone == set(still):
            continue  # nothing of the group is left
        dropping = False
        for line in group:
            if line.startswith("## "):
                dropping = _task_of(line, group[0]) in gone
            tag = _TAG.search(line)
            numbers = {(group[0], number) for number in re.findall(r"\d+", tag[0])} if tag else set()
            if not dropping and not (numbers and numbers <= gone):
                left.append(line)
    return left


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        if line.startswith("# ") and group:
            yield group
            group = []
        group.append(line)
    yield group


def _recaps_by_task(lines: Sequence[str]) -> dict[tuple[str, str], int]:
    """(line that begins the group, number of the task) → how many recaps it names."""
    counts: dict[tuple[str, str], int] = {}
    for group in _groups(lines):
        task = None
        for line in group:
            if line.startswith("## "):
                task = _task_of(line, group[0])
                if task is not None:
                    counts.setdefault(task, 0)
            elif task is not None:
                counts[task] += len(RECAP.findall(line))
    return counts


def _task_of(heading: str, group: str) -> tuple[str, str] | None:
    found = _TASK.match(heading)
    return (group, found[1]) if found else None


def _marks(texts: Iterable[str]) -> tuple[set[tuple[str, ...]], set[str]]:
    runs: set[tuple[str, ...]] = set()
    identifiers: set[str] = set()
    for text in texts:
        for line in text.split("\n"):
            runs |= _runs(line)
            identifiers |= _identifiers(line)
    return runs, identifiers


def _runs(line: str) -> set[tuple[str, ...]]:
    return {run for run in windows(line) if len(run) == WINDOW_WORDS}


def _identifiers(line: str) -> set[str]:
    """Words with letters and digits; dates are none."""
    found = (match[0].casefold() for match in _IDENTIFIER.finditer(line))
    return {
        word
        for word in found
        if any(letter.isdigit() for letter in word)
        and any(letter.isalpha() for letter in word)
        and not _DATE.match(word)
    }
