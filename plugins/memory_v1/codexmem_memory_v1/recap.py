"""Findings of one session as recap and raw memory, in the shape that the extraction prompt asks of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.extract import Decision, Failure, Findings, Outcome, Preference, Source, Task

from codexmem_memory_v1.lines import code, day, keywords, one_line, place, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SLUG_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A task with what was said and met while it was worked on."""

    name: str
    outcome: Outcome
    source: Source
    steps: tuple[str, ...] = ()
    preferences: tuple[Preference, ...] = ()
    failures: tuple[Failure, ...] = ()
    decisions: tuple[Decision, ...] = ()


def recap(findings: Findings) -> str:
    """The rollout summary: Markdown, task by task. Empty when there is nothing worth keeping."""
    blocks = _blocks(findings)
    if not blocks:
        return ""
    first = blocks[0].source
    lines = [
        f"# {_title(blocks)}",
        "",
        f"Rollout context: {first.host} session in {place(first.cwd)}, {day(first.at_ms)} (UTC).",
    ]
    for number, block in enumerate(blocks, 1):
        lines += ["", f"## Task {number}: {one_line(block.name)}", "", f"Outcome: {block.outcome}"]
        lines += _group("Preference signals:", preference_signals(block.preferences))
        lines += _group("Key steps:", [f"- {code(step)}" for step in block.steps])
        lines += _group("Failures and how to do differently:", failure_lines(block.failures))
        lines += _group("Reusable knowledge:", _knowledge(block))
        lines += _group("References:", [f"{index}. {text}" for index, text in enumerate(_references(block), 1)])
    if findings.files:
        lines += ["", "Files:", *(f"- {code(path)}" for path in findings.files)]
    return "\n".join(lines) + "\n"


def raw_memory(findings: Findings) -> str:
    """The raw memory: YAML front matter and a ``### Task`` block a task."""
    blocks = _blocks(findings)
    if not blocks:
        return ""
    first = blocks[0]
    group = place(first.source.cwd)
    lines = [
        "---",
        f"description: {_yaml(_title(blocks))}",
        f"task: {_yaml(first.name)}",
        f"task_group: {_yaml(group)}",
        f"task_outcome: {blocks[-1].outcome}",
        f"cwd: {_yaml(group)}",
        f"keywords: {_yaml(keywords([*findings.identifiers, *findings.files], 20))}",
        "---",
    ]
    for number, block in enumerate(blocks, 1):
        lines += ["", f"### Task {number}: {one_line(block.name)}", ""]
        lines += [
            f"task: {one_line(block.name)}",
            f"task_group: {place(block.source.cwd)}",
            f"task_outcome: {block.outcome}",
        ]
        lines += _group("Preference signals:", preference_signals(block.preferences))
        lines += _group("Reusable knowledge:", [*_knowledge(block), *(f"- ran {code(step)}" for step in block.steps)])
        lines += _group("Failures and how to do differently:", failure_lines(block.failures))
        lines += _group("References:", [f"- {text}" for text in _references(block)])
    return "\n".join(lines) + "\n"


def slug(findings: Findings) -> str:
    """A few words for the recap's file name."""
    blocks = _blocks(findings)
    return one_line(blocks[0].name, SLUG_CHARS).rstrip("…") if blocks else ""


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


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """Bullets: command, error, and what then worked."""
    return [f"- {failure_line(failure)}" for failure in failures]


def failure_line(failure: Failure) -> str:
    """One failure with its solution."""
    solved = f"then worked: {code(failure.fix, 300)}" if failure.fix else "no solution in the session"
    return f"{code(failure.command)} failed: {one_line(failure.error)} -> {solved}"


def _title(blocks: Sequence[_Block]) -> str:
    more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
    return one_line(blocks[0].name, 140) + more


def _blocks(findings: Findings) -> list[_Block]:
    """Tasks in order of position; what stands before the first, or in a session without tasks, opens a block."""
    tasks: list[Task] = sorted(findings.tasks, key=lambda task: task.source.position)
    blocks = [_with(task, findings, start, end) for task, start, end in _spans(tasks)]
    if tasks or not findings.substance:
        return blocks
    sources = [
        *(item.source for item in findings.preferences),
        *(item.source for item in findings.decisions),
        *(item.source for item in findings.failures),
    ]
    what = "Preferences and decisions" if findings.preferences or findings.decisions else "Failed commands"
    task = Task(name=what, outcome="uncertain", source=min(sources, key=lambda source: source.position))
    return [_with(task, findings, -1, -1)]


def _spans(tasks: Sequence[Task]) -> Iterator[tuple[Task, int, int]]:
    for index, task in enumerate(tasks):
        start = -1 if index == 0 else task.source.position
        end = tasks[index + 1].source.position if index + 1 < len(tasks) else -1
        yield task, start, end


def _with(task: Task, findings: Findings, start: int, end: int) -> _Block:
    def here(source: Source) -> bool:
        return start <= source.position and (end < 0 or source.position < end)

    return _Block(
        name=task.name,
        outcome=task.outcome,
        source=task.source,
        steps=task.steps,
        preferences=tuple(item for item in findings.preferences if here(item.source)),
        failures=tuple(item for item in findings.failures if here(item.source)),
        decisions=tuple(item for item in findings.decisions if here(item.source)),
    )


def _knowledge(block: _Block) -> list[str]:
    return [f"- decided: {quoted(item.text)}" for item in block.decisions]


def _references(block: _Block) -> list[str]:
    source = block.source
    where = f"{source.host} session {one_line(source.session, 100)}, position {source.position}"
    said = [f"{quoted(item.quote)} at position {item.source.position}" for item in block.preferences]
    errors = [f"{one_line(item.error)} at position {item.source.position}" for item in block.failures]
    return [f"request: {quoted(block.name)} ({where})", *said, *errors]


def _group(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *lines] if lines else []


def _yaml(text: str) -> str:
    """A double-quoted scalar, so that any text stays valid front matter."""
    return '"' + one_line(text, 400).replace("\\", "\\\\").replace('"', '\\"') + '"'
