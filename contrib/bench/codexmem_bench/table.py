"""Every figure there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_bench import (
    both_memories,
    claims,
    command_line,
    hooks,
    long_transcript,
    many_sessions,
    nothing_new,
    peers,
    recall,
    search,
    transcripts,
    workspace_diff,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_bench.figures import Figure, Measurement

MEASUREMENTS: tuple[Measurement, ...] = (
    transcripts.MEASUREMENT,
    peers.MEASUREMENT,
    long_transcript.MEASUREMENT,
    nothing_new.MEASUREMENT,
    both_memories.MEASUREMENT,
    many_sessions.MEASUREMENT,
    workspace_diff.MEASUREMENT,
    search.MEASUREMENT,
    claims.MEASUREMENT,
    command_line.MEASUREMENT,
    hooks.MEASUREMENT,
    hooks.OPENVIKING_MEASUREMENT,
    recall.MEASUREMENT,
)


def figures() -> list[Figure]:
    """All figures that can be measured."""
    return [figure for measurement in MEASUREMENTS for figure in measurement.figures]


def chosen(names: Iterable[str]) -> list[tuple[Measurement, tuple[Figure, ...]]]:
    """Measurements with the figures wanted of each: a name chooses its key and all keys that begin with it and ``-``.

    Without names everything. Raises ValueError for a name that chooses nothing.
    """
    wanted = list(names)
    for name in wanted:
        if not any(_fits(figure, name) for figure in figures()):
            raise ValueError(f"no figure is called {name}; there are {', '.join(figure.key for figure in figures())}")
    found = []
    for measurement in MEASUREMENTS:
        fitting = tuple(
            figure for figure in measurement.figures if not wanted or any(_fits(figure, name) for name in wanted)
        )
        if fitting:
            found.append((measurement, fitting))
    return found


def _fits(figure: Figure, name: str) -> bool:
    return figure.key == name or figure.key.startswith(f"{name}-")
