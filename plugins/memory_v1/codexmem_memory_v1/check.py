"""Whether the memory's files are valid, by Codex's rules for V1 and by ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.consolidate import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Workspace


def problems(workspace: Workspace) -> Iterator[Problem]:
    """MEMORY.md is a regular file; memory_summary.md is one whose first line is exactly ``v1`` (CRLF is accepted)."""
    if not workspace.exists("MEMORY.md"):
        yield Problem(path="MEMORY.md", message="missing, or no regular file")
    if not workspace.exists("memory_summary.md"):
        yield Problem(path="memory_summary.md", message="missing, or no regular file")
        return
    first = workspace.read("memory_summary.md").split("\n", 1)[0].removesuffix("\r")
    if first != "v1":
        yield Problem(path="memory_summary.md", message="the first line is not exactly v1")
