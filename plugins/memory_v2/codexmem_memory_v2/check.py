"""Whether memory_summary.md, the one file of this memory, is valid by Codex's rules for V2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.memory_files import summary_format
from codexmem_hookspecs.values.consolidate import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Workspace

MOST_BYTES: Final = summary_format.LIMIT_BYTES - 1
"""Codex 0.171: below 10,000 bytes of UTF-8."""


def problems(workspace: Workspace) -> Iterator[Problem]:
    """The first line, the four headings, each a line of its own, and the length."""
    found = list(summary_format.problems(workspace))
    yield from found
    if found:
        return
    text = workspace.read(summary_format.PATH)
    lines = {line.strip() for line in text.split("\n")}
    missing = ", ".join(f"## {heading}" for heading in summary_format.HEADINGS if f"## {heading}" not in lines)
    if missing:
        yield Problem(path=summary_format.PATH, message=f"headings are missing: {missing}")
    length = len(text.encode("utf-8", "replace"))
    if length > MOST_BYTES:
        message = f"{length} bytes, at most {MOST_BYTES} are allowed: shorten what you wrote there, or make it a note"
        yield Problem(path=summary_format.PATH, message=message)
