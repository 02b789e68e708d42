"""The product's engine over a scratch home, with the installed plugins and a clock that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_bench.standing_clock import StandingClock
from codexmem_core.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

HOST = "codex"


def engine_over(codex_home: Path, home: Path) -> Engine:
    """An engine that finds the rollouts of one Codex home, and no settings and sessions of the user's own.

    One memory is written: what a second one costs is measured by :mod:`codexmem_bench.both_memories`.
    """
    empty = home.parent / "nobody"
    environ = {
        "HOME": str(empty),
        "CODEX_HOME": str(codex_home),
        "CLAUDE_CONFIG_DIR": str(empty),
        "CODEXMEM_DISABLE": "memory-v2",
    }
    return Engine(environ=environ, home=str(home), config=str(empty / "config.toml"), clock=StandingClock())
