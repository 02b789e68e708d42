"""Findings of one session as recap and raw memory, in the shape that the extraction prompt asks of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.findings import Block, blocks, failure_line, group, preference_signals, title
from codexmem_hookspecs.memory_files.lines import code, day, one_line, place, quoted

from codexmem_memory_v1.lines import keywords

if TYPE_CHECKING:
    from codexmem_hookspecs.values.extract import Findings


def recap(findings: Findings) -> str:
    """The rollout summary: Markdown, task by task. Empty when there is nothing worth keeping."""
    found = blocks(findings)
    if not found:
        return ""
    first = found[0].source
    lines = [
        f"# {title(found)}",
        "",
        f"Rollout context: {first.host} session in {place(first.cwd)}, {day(first.at_ms)} (UTC).",
    ]
    for number, block in enumerate(found, 1):
        lines += ["", f"## Task {number}: {one_line(block.name)}", "", f"Outcome: {block.outcome}"]
        lines += group("Preference signals:", preference_signals(block.preferences))
        lines += group("Key steps:", [f"- {code(step)}" for step in block.steps])
        lines += group("Failures and how to do differently:", _failures(block))
        lines += group("Reusable knowledge:", _knowledge(block))
        lines += group("References:", [f"{index}. {text}" for index, text in enumerate(_references(block), 1)])
    if findings.files:
        lines += ["", "Files:", *(f"- {code(path)}" for path in findings.files)]
    return "\n".join(lines) + "\n"


def raw_memory(findings: Findings) -> str:
    """The raw memory: YAML front matter and a ``### Task`` block a task."""
    found = blocks(findings)
    if not found:
        return ""
    first = found[0]
    where = place(first.source.cwd)
    lines = [
        "---",
        f"description: {_yaml(title(found))}",
        f"task: {_yaml(first.name)}",
        f"task_group: {_yaml(where)}",
        f"task_outcome: {found[-1].outcome}",
        f"cwd: {_yaml(where)}",
        f"keywords: {_yaml(keywords([*findings.identifiers, *findings.files], 20))}",
        "---",
    ]
    for number, block in enumerate(found, 1):
        lines += ["", f"### Task {number}: {one_line(block.name)}", ""]
        lines += [
            f"task: {one_line(block.name)}",
            f"task_group: {place(block.source.cwd)}",
            f"task_outcome: {block.outcome}",
        ]
        lines += group("Preference signals:", preference_signals(block.preferences))
        lines += group("Reusable knowledge:", [*_knowledge(block), *(f"- ran {code(step)}" for step in block.steps)])
        lines += group("Failures and how to do differently:", _failures(block))
        lines += group("References:", [f"- {text}" for text in _references(block)])
    return "\n".join(lines) + "\n"


def _failures(block: Block) -> list[str]:
    return [f"- {failure_line(failure)}" for failure in block.failures]


def _knowledge(block: Block) -> list[str]:
    return [f"- decided: {quoted(item.text)}" for item in block.decisions]


def _references(block: Block) -> list[str]:
    source = block.source
    where = f"{source.host} session {one_line(source.session, 100)}, position {source.position}"
    said = [f"{quoted(item.quote)} at position {item.source.position}" for item in block.preferences]
    errors = [f"{one_line(item.error)} at position {item.source.position}" for item in block.failures]
    return [f"request: {quoted(block.name)} ({where})", *said, *errors]


def _yaml(text: str) -> str:
    """A double-quoted scalar, so that any text stays valid front matter."""
    return '"' + one_line(text, 400).replace("\\", "\\\\").replace('"', '\\"') + '"'
