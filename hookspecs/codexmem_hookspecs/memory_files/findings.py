"""Findings of one session in order, and the words in which a memory tells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codexmem_hookspecs.memory_files.lines import code, one_line, place, quoted
from codexmem_hookspecs.values.extract import Decision, Failure, Findings, Outcome, Preference, Source, Task

SLUG_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A task with what was said and met while it was worked on."""

    name: str
    outcome: Outcome
    source: Source
    steps: tuple[str, ...] = ()
    preferences: tuple[Preference, ...] = ()
    failures: tuple[Failure, ...] = ()
    decisions: tuple[Decision, ...] = ()


def blocks(findings: Findings) -> list[Block]:
    """Tasks in order of position; what stands before the first, or in a session without tasks, opens a block."""
    tasks: list[Task] = sorted(findings.tasks, key=lambda task: task.source.position)
    found = [_with(task, findings, start, end) for task, start, end in _spans(tasks)]
    if tasks or not findings.substance:
        return found
    sources = [
        *(item.source for item in findings.preferences),
        *(item.source for item in findings.decisions),
        *(item.source for item in findings.failures),
    ]
    what = "Preferences and decisions" if findings.preferences or findings.decisions else "Failed commands"
    task = Task(name=what, outcome="uncertain", source=min(sources, key=lambda source: source.position))
    return [_with(task, findings, -1, -1)]


def title(found: Sequence[Block]) -> str:
    """The session in one line."""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return one_line(found[0].name, 140) + more


def slug(findings: Findings) -> str:
    """A few words for the recap's file name."""
    found = blocks(findings)
    return one_line(found[0].name, SLUG_CHARS).rstrip("…") if found else ""


def group(heading: str, lines: Sequence[str]) -> list[str]:
    """A heading with its lines; nothing without any."""
    return ["", heading, *lines] if lines else []


def preference_signals(preferences: Sequence[Preference]) -> list[str]:
    """Bullets: when, nearly the user's words, and what follows from them."""
    return [
        f"- when {situation(item)}, the user said: {quoted(item.quote)} -> {guidance(item)}" for item in preferences
    ]


def situation(preference: Preference) -> str:
    """Where a preference holds, as far as the user said."""
    if preference.scope == "everywhere":
        return "working anywhere"
    where = f"working in {place(preference.source.cwd)}"
    return where if preference.scope == "project" else f"{where} (scope not stated)"


def guidance(preference: Preference) -> str:
    """What to do next time."""
    return "do so by default" if preference.polarity == "do" else "avoid it by default"


def failure_line(failure: Failure) -> str:
    """One failure with its solution."""
    solved = f"then worked: {code(failure.fix, 300)}" if failure.fix else "no solution in the session"
    return f"{code(failure.command)} failed: {one_line(failure.error)} -> {solved}"


def _spans(tasks: Sequence[Task]) -> Iterator[tuple[Task, int, int]]:
    for index, task in enumerate(tasks):
        start = -1 if index == 0 else task.source.position
        end = tasks[index + 1].source.position if index + 1 < len(tasks) else -1
        yield task, start, end


def _with(task: Task, findings: Findings, start: int, end: int) -> Block:
    def here(source: Source) -> bool:
        return start <= source.position and (end < 0 or source.position < end)

    return Block(
        name=task.name,
        outcome=task.outcome,
        source=task.source,
        steps=task.steps,
        preferences=tuple(item for item in findings.preferences if here(item.source)),
        failures=tuple(item for item in findings.failures if here(item.source)),
        decisions=tuple(item for item in findings.decisions if here(item.source)),
    )
