"""Whether the memory's files are valid, by Codex's rules for V1 and by ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files import summary_format
from codexmem_hookspecs.values.consolidate import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Workspace


def problems(workspace: Workspace) -> Iterator[Problem]:
    """MEMORY.md is a regular file, and the summary is valid."""
    if not workspace.exists("MEMORY.md"):
        yield Problem(path="MEMORY.md", message="missing, or no regular file")
    yield from summary_format.problems(workspace)
