"""How much forgetting a text would take, told before it is done: a common word stands everywhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.consolidate.worktree import survey
from codexmem_core.readpath.forgetting.rows import touched
from codexmem_core.readpath.forgetting.targets import databases_of, roots_of
from codexmem_core.readpath.tombstones import Tombstones, digests
from codexmem_core.store.values import Key

if TYPE_CHECKING:
    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.readpath.forgetting.wanted import Target

FEW_SESSIONS = 5
FEW_LINES = 100
_ANY_KEY = b"only for comparing here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Where a text stands now."""

    sessions: int
    all_sessions: int
    """That memories hold notes of."""
    files: int
    lines: int

    @property
    def is_large(self) -> bool:
        """Whether somebody should say yes to it: more than a few, or most of what there is."""
        most = self.sessions > 1 and 2 * self.sessions > self.all_sessions
        return self.sessions > FEW_SESSIONS or self.lines > FEW_LINES or most

    def text(self) -> str:
        """For the user who is asked."""
        return (
            f"The text stands in the notes of {self.sessions} of {self.all_sessions} sessions and in {self.lines} lines"
            f" of {self.files} memory files. All of these lines go, and sentences with it are never learned again."
        )


def effect_of(access: MemoryAccess, target: Target) -> Effect:
    """Looking changes nothing, and makes no key. Raises StoreError, Refused."""
    texts = Tombstones.of(_ANY_KEY, digests(_ANY_KEY, target.windows))
    held, known = set[Key](), set[Key]()
    for path in databases_of(access):
        with access.jobs_at(path) as jobs:
            for row in jobs.outputs():
                known.add(row.key)
                if touched(row, texts):
                    held.add(row.key)
    counts = [
        sum(map(texts.holds, content.splitlines()))
        for root in roots_of(access)
        for path in survey(root).files
        if texts.holds(content := _text(os.path.join(root, path))) or texts.holds(path)
    ]
    return Effect(sessions=len(held), all_sessions=len(known), files=len(counts), lines=sum(counts))


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
