"""MEMORY.md without a model: task groups by working directory, in the shape of Codex's handbook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.document import Section
from codexmem_hookspecs.memory_files.findings import failure_line, guidance, situation
from codexmem_hookspecs.memory_files.lines import code, day, iso, note_line, one_line, place, quoted, recap
from codexmem_hookspecs.memory_files.rows import Sessions, met_in, rows_of, sessions
from codexmem_hookspecs.memory_files.summary import user_notes

from codexmem_memory_v1.imports import imported_groups
from codexmem_memory_v1.lines import keywords, reference
from codexmem_memory_v1.topics import Topic, topics, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codexmem_hookspecs.values.consolidate import Digest, MergedPreference, Stored
    from codexmem_hookspecs.values.extract import Source

TASK_LEVEL = 2
"""Markdown level of a task's heading."""
TASKS = 30
"""Tasks of a group in full; the oldest and least used are folded into one list."""
ROWS = 8
"""Recaps listed for one task; the others are counted."""
PREFERENCES, KNOWLEDGE, FAILURES, NOTES = 60, 40, 40, 40
REPLACED = 20
"""Replaced preferences that are still told."""


def handbook(stored: Sequence[Stored], digest: Digest) -> list[Section]:
    """Sections of MEMORY.md. Groups with the newest work first; every stored session is named in one."""
    known = sessions(stored)
    groups: dict[str, list[Topic]] = {}
    for topic in topics(stored, digest):
        groups.setdefault(topic.cwd, []).append(topic)
    document = [Section(0, "")]
    for cwd, tasks in groups.items():
        document += _group(cwd, tasks, digest, known)
    return [*document, *_notes(digest), *imported_groups(digest)]


def complete(document: Sequence[Section]) -> list[Section]:
    """Without sections that hold nothing, and without tasks whose recaps the user removed from the list."""
    kept: list[Section] = []
    dropping = 0
    for index, section in enumerate(document):
        if dropping and (section.level > dropping or section.level == 0):
            continue
        dropping = 0
        below = _below(document, index)
        is_task = section.level == TASK_LEVEL and section.title.startswith("Task ")
        recaps = any("rollout_summaries/" in line or "extensions/" in line for part in below for line in part.lines)
        if section.level and (
            (is_task and not recaps) or not any(line.strip() for part in (section, *below) for line in part.lines)
        ):
            dropping = section.level
            continue
        kept.append(section)
    return kept


def _below(document: Sequence[Section], index: int) -> list[Section]:
    end = index + 1
    while end < len(document) and document[end].level > document[index].level:
        end += 1
    return list(document[index + 1 : end])


def _group(cwd: str, tasks: Sequence[Topic], digest: Digest, known: Sessions) -> list[Section]:
    full, folded = tasks[:TASKS], tasks[TASKS:]
    numbers: dict[tuple[str, str], int] = {}
    for number, topic in enumerate([*full, *folded], 1):
        for row in topic.rows:
            numbers.setdefault((row.session.host, row.session.id), min(number, TASKS + 1))
    where = place(cwd)
    sections = [
        Section(
            1,
            f"Task Group: {where}",
            [
                f"scope: work in {where}; use it when a request touches this directory or names these topics",
                f"applies_to: cwd={where}; reuse_rule=only here, except preferences that are said to hold anywhere",
            ],
        )
    ]
    for number, topic in enumerate(full, 1):
        sections += _task(number, topic)
    if folded:
        sections += _folded(len(full) + 1, folded)

    def tag(sources: Sequence[Source]) -> str:
        found = sorted(
            {numbers[known_key] for source in sources if (known_key := (source.host, source.session)) in numbers}
        )
        return f" [{', '.join(f'Task {number}' for number in found[:4])}]" if found else ""

    sections.append(
        Section(
            2,
            "User preferences",
            [*_preferences(cwd, digest, known, tag), *_model_lines("Preference signals", tasks, numbers)],
        )
    )
    decisions = [
        f"- decided on {day(item.decision.source.at_ms)}: {quoted(item.decision.text)}{tag(item.sources)}"
        for item in digest.decisions
        if any(source.cwd == cwd for source in item.sources)
    ]
    steps = [
        f"- what was done for {quoted(topic.name, 80)} ({topic.outcome}): "
        f"{'; '.join(code(step, 100) for step in topic.steps[:6])} [Task {number}]"
        for number, topic in enumerate(full, 1)
        if topic.steps
    ]
    sections.append(
        Section(
            2,
            "Reusable knowledge",
            [*decisions[:KNOWLEDGE], *steps, *_model_lines("Reusable knowledge", tasks, numbers)],
        )
    )
    failures = [
        f"- {failure_line(item.failure)}{_times(item.sources)}{tag(item.sources)}"
        for item in digest.failures
        if any(source.cwd == cwd for source in item.sources)
    ]
    sections.append(
        Section(
            2,
            "Failures and how to do differently",
            [*failures[:FAILURES], *_model_lines("Failures and how to do differently", tasks, numbers)],
        )
    )
    return complete(sections)


def _task(number: int, topic: Topic) -> list[Section]:
    listed = [f"- {reference(row)}" for row in topic.rows[:ROWS]]
    if len(topic.rows) > ROWS:
        listed += [f"- {recap(row)} (session_id={one_line(row.session.id, 100)})" for row in topic.rows[ROWS:]]
    return [
        Section(2, f"Task {number}: {topic.name}, {topic.outcome}"),
        Section(3, "rollout_summary_files", listed),
        Section(3, "keywords", [f"- {keywords(topic.words) or 'session'}"]),
    ]


def _folded(number: int, folded: Sequence[Topic]) -> list[Section]:
    lines = [
        f"- {recap(row)} (updated_at={iso(row.session.updated_at_ms)}, "
        f"session_id={one_line(row.session.id, 100)}, {one_line(topic.name, 60)})"
        for topic in folded
        for row in topic.rows
    ]
    words = keywords((word for topic in folded for word in topic.words), 40)
    return [
        Section(2, f"Task {number}: Earlier work, one line each"),
        Section(3, "rollout_summary_files", list(dict.fromkeys(lines))),
        Section(3, "keywords", [f"- {words or 'session'}"]),
    ]


def _preferences(cwd: str, digest: Digest, known: Sessions, tag: object) -> list[str]:
    assert callable(tag)
    here = [item for item in digest.preferences if any(source.cwd == cwd for source in item.sources)]
    standing = [item for item in here if item.replaced_by is None]
    replaced = [item for item in here if item.replaced_by is not None]
    lines = [f"- {preference_line(item, known)}{tag(item.sources)}" for item in standing[:PREFERENCES]]
    if len(standing) > PREFERENCES:
        lines.append(f"- {len(standing) - PREFERENCES} older ones are in the recaps")
    lines += [f"- {preference_line(item, known)}{tag(item.sources)}" for item in replaced[:REPLACED]]
    return lines


def preference_line(item: MergedPreference, known: Sessions) -> str:
    """A preference with its dates; one that was replaced says by what."""
    stated = item.preference
    line = f"when {situation(stated)}, the user said: {quoted(stated.quote)}"
    if item.replaced_by is not None:
        newer = item.replaced_by
        return f"replaced on {day(newer.source.at_ms)} by {quoted(newer.quote)}: {line} ({day(stated.source.at_ms)})"
    rows = rows_of(item.sources, known)
    where = f", {recap(rows[0])}" if rows else ""
    return f"{line} -> {guidance(stated)} ({day(stated.source.at_ms)}{_times(item.sources, ', said')}{where})"


def _times(sources: Sequence[Source], prefix: str = "; met") -> str:
    met = met_in(sources)
    return f"{prefix} in {met} sessions" if met > 1 else ""


def _model_lines(group: str, tasks: Iterable[Topic], numbers: dict[tuple[str, str], int]) -> list[str]:
    """Bullets of raw memories that a model wrote; they have no findings that could be merged."""
    lines: dict[str, None] = {}
    for topic in tasks:
        for row in topic.rows:
            if row.findings is None:
                number = numbers[(row.session.host, row.session.id)]
                for bullet in written(row).groups.get(group, ()):
                    lines.setdefault(f"- {bullet} ({day(row.session.updated_at_ms)}, {recap(row)}) [Task {number}]")
    return list(lines)[:KNOWLEDGE]


def _notes(digest: Digest) -> list[Section]:
    """The user's notes as a group of their own."""
    newest = [*user_notes(digest).items()][:NOTES]
    if not newest:
        return []
    return [
        Section(
            1,
            "Task Group: notes of the user",
            [
                "scope: what the user asked to remember; authoritative",
                "applies_to: cwd=any; reuse_rule=as each note says",
            ],
        ),
        Section(2, "Task 1: Notes, newest first"),
        Section(3, "extension_resource_files", [f"- {one_line(path, 300)}" for path, _ in newest]),
        Section(2, "User preferences", [f"- {note_line(path, text)} [Task 1]" for path, text in newest]),
    ]
