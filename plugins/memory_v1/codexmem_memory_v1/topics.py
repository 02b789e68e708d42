"""What the memory knows of, as topics: a task with its sessions, or a session that has no task of its own."""

# Word lists read better as words.
# ruff: noqa: SIM905
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.lines import day, one_line
from codexmem_hookspecs.memory_files.rows import bullets, first_heading, key, rows_of, sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.consolidate import Digest, Stored

_FRONT_MATTER = re.compile(r"\A\s*---\n(.*?)\n---", re.DOTALL)
_FIELD = re.compile(r'^(description|task|task_outcome|cwd|keywords):\s*"?(.*?)"?\s*$', re.MULTILINE)
_GROUPS = ("Preference signals", "Reusable knowledge", "Failures and how to do differently")
_WORD = re.compile(r"\w[\w.+#/-]{3,}")
_COMMON = frozenset(
    "about after again also another because been before could does doesn each else from have here into just like make "
    "need next only other over please should show some tell than that them then there they thing this until want were "
    "what when where whether which while will with would your".split()
)
"""Words of four letters and more that nobody searches for."""
LONGEST_RUN = 12
"""Letters; a longer run of Chinese or Japanese is a sentence, not a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One line of the summary, one task of the handbook."""

    name: str
    outcome: str
    cwd: str
    rows: tuple[Stored, ...]
    """Sessions in which it was worked on, newest first; at least one."""
    updated_at_ms: int
    words: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        """The day of the last work, UTC."""
        return day(self.updated_at_ms)

    @property
    def weight(self) -> tuple[int, int, str, str]:
        """Last touched or used, then how often used; what comes first is folded last."""
        used = max(row.last_usage_ms for row in self.rows)
        return (max(self.updated_at_ms, used), sum(row.usage_count for row in self.rows), self.cwd, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the raw memory of a row says that a model wrote."""

    fields: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    """Bullets below ``Preference signals:`` and the like."""


def topics(stored: Sequence[Stored], digest: Digest) -> list[Topic]:
    """All topics, most recently touched or used first. Every stored session is behind at least one of them."""
    known = sessions(stored)
    found: list[Topic] = []
    seen: set[tuple[str, str]] = set()
    for merged in digest.tasks:
        rows = rows_of(merged.sources, known)
        if not rows:
            continue
        seen.update(key(row.session) for row in rows)
        task = merged.task
        found.append(
            Topic(
                name=one_line(task.name, 120),
                outcome=task.outcome,
                cwd=task.source.cwd or rows[0].session.cwd,
                rows=rows,
                updated_at_ms=max(row.session.updated_at_ms for row in rows),
                words=(*_words(task.name), *_names(rows)),
                steps=task.steps,
            )
        )
    found.extend(_of_row(row) for row in stored if key(row.session) not in seen)
    return sorted(found, key=lambda topic: topic.weight, reverse=True)


def written(row: Stored) -> Written:
    """Front matter and bullet groups of a raw memory; whatever is not there is empty."""
    raw = row.extraction.raw
    front = _FRONT_MATTER.match(raw)
    fields = dict(_FIELD.findall(front.group(1))) if front else {}
    return Written(fields=fields, groups=bullets(raw, _GROUPS))


def _of_row(row: Stored) -> Topic:
    note = written(row) if row.findings is None else Written(fields={}, groups={})
    name = note.fields.get("description") or first_heading(row.extraction.summary) or row.extraction.slug or "Session"
    words = [word.strip() for word in note.fields.get("keywords", "").split(",")]
    return Topic(
        name=one_line(name, 120),
        outcome=one_line(note.fields.get("task_outcome", ""), 20) or "uncertain",
        cwd=row.session.cwd,
        rows=(row,),
        updated_at_ms=row.session.updated_at_ms,
        words=tuple(word for word in words if word) or (*_words(name), *_names((row,))),
        learnings=note.groups.get("Reusable knowledge", ())[:3],
    )


def _words(text: str) -> list[str]:
    words = [word.lower().rstrip(".-/") for word in _WORD.findall(text)]
    return [word for word in words if word not in _COMMON and (word.isascii() or len(word) <= LONGEST_RUN)][:4]


def _names(rows: Sequence[Stored]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows[:3]:
        if row.findings is not None:
            for name in (*row.findings.identifiers[:6], *(path.rsplit("/", 1)[-1] for path in row.findings.files[:4])):
                names.setdefault(name)
    return list(names)
