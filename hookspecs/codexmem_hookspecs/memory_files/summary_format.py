"""What memory_summary.md looks like, whoever wrote it. Light, for it is looked at in every ``status``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.values.consolidate import Problem

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Workspace

PATH: Final = "memory_summary.md"
FORMAT: Final = "v1"
"""First line (Codex 0.171, both memories)."""
LIMIT_BYTES: Final = 10_000
HEADINGS: Final = ("User Profile", "User preferences", "General Tips", "What's in Memory")
"""Of level 2, in their order."""


def problems(workspace: Workspace) -> Iterator[Problem]:
    """Why a summary is not valid: it is a regular file whose first line is exactly ``v1`` (CRLF is accepted)."""
    if not workspace.exists(PATH):
        yield Problem(path=PATH, message="missing, or no regular file")
    elif workspace.read(PATH).split("\n", 1)[0].removesuffix("\r") != FORMAT:
        yield Problem(path=PATH, message=f"the first line is not exactly {FORMAT}")


def is_blank(text: str) -> bool:
    """Whether a summary says nothing: headings alone tell nobody anything."""
    return all(not line.strip() or line.startswith("#") or line.strip() == FORMAT for line in text.splitlines())
