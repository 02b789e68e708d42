"""Findings of one session as its recap, in the shape that the extraction prompt asks of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.memory_files.findings import Block, blocks, failure_line, group, title
from codexmem_hookspecs.memory_files.lines import code, day, one_line, place, quoted, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.extract import Findings, Preference

STATED: Final = "Stated preferences"
"""Heading of what the user wants in general; consolidation without a model reads it back from a model's recap."""
_STEPS = (60, 20, 8, 3)
"""So many steps of each task and files of the session are told, fewer as it gets long."""


def recap(findings: Findings, limit: int) -> str:
    """The recap: Markdown, task by task, with fewer steps where it would exceed ``limit`` bytes.

    Empty when there is nothing worth keeping; still longer than the limit when all that was said is.
    """
    found = blocks(findings) if findings.substance else []
    text = ""
    for steps in _STEPS:
        text = _recap(found, findings.files, steps)
        if size(text) <= limit:
            break
    return text


def _recap(found: Sequence[Block], files: Sequence[str], most: int) -> str:
    if not found:
        return ""
    first = found[0].source
    lines = [
        f"# {title(found)}",
        "",
        f"Session of {first.host} in {place(first.cwd)}, {day(first.at_ms)} (UTC).",
    ]
    for number, block in enumerate(found, 1):
        lines += ["", f"## {number}. {one_line(block.name)}", "", f"State at the end: {block.outcome}"]
        if block.source.cwd != first.cwd:
            lines.append(f"Where: {place(block.source.cwd)}")
        lines += group(f"{STATED}:", [_stated(item) for item in block.preferences])
        lines += group("Decided by the user:", [f"- {quoted(item.text)}" for item in block.decisions])
        lines += group("Done:", _few([f"- {code(step)}" for step in block.steps], most))
        lines += group("Went wrong:", [f"- {failure_line(failure)}" for failure in block.failures])
    lines += group("Files touched:", _few([f"- {code(path)}" for path in files], most))
    return "\n".join(lines) + "\n"


def _stated(preference: Preference) -> str:
    where = {
        "everywhere": "for any work",
        "project": f"for work in {place(preference.source.cwd)}",
        "unstated": f"while working in {place(preference.source.cwd)}, how far it reaches was not said",
    }[preference.scope]
    return f"- the user said {quoted(preference.quote)} ({where})"


def _few(lines: Sequence[str], most: int) -> list[str]:
    return [*lines[:most], *([f"- and {len(lines) - most} more"] if len(lines) > most else [])]
