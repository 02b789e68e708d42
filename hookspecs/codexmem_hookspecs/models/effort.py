"""The effort level to ask for, of those that a model knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def nearest(wanted: str, known: Sequence[str]) -> str:
    """The known level nearest to the wanted one, of two equally near the higher; empty when none can be said.

    Names that are not on the ladder are not chosen, and without a list nothing is pinned (opencode-codex-memory 12).
    """
    if wanted not in LADDER:
        return ""
    at = LADDER.index(wanted)
    steps = [LADDER.index(level) for level in known if level in LADDER]
    return LADDER[min(steps, key=lambda step: (abs(step - at), -step))] if steps else ""
