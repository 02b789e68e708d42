"""Measures what was chosen, each measurement on its own, and says how each figure came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_bench.figures import Outcome, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codexmem_bench.bench import Bench
    from codexmem_bench.figures import Figure, Measurement, Value

KEY_WIDTH, VALUE_WIDTH = 26, 10


def outcomes(
    chosen: Sequence[tuple[Measurement, tuple[Figure, ...]]], bench: Bench, explained: Mapping[str, str]
) -> Iterator[Outcome]:
    """A measurement that fails costs only its own figures; one with a miss is made again, and the better value counts.

    Two cores that others use as well make a figure worse for a while, never better.
    """
    for measurement, figures in chosen:
        if measurement.peer and measurement.peer not in bench.peers:
            reason = f"needs --{measurement.peer} PATH"
            yield from (Outcome(figure=figure, error=reason, left_out=True) for figure in figures)
            continue
        try:
            values = dict(measurement.measure(bench))
            if any(not figure.met(values[figure.key].number) and figure.key not in explained for figure in figures):
                again = measurement.measure(bench)
                values = {
                    figure.key: figure.better(values[figure.key], again[figure.key]) for figure in measurement.figures
                }
        except Exception as error:  # noqa: BLE001 - the other measurements are still worth having
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            yield from (Outcome(figure=figure, error=reason) for figure in figures)
        else:
            yield from (Outcome(figure=figure, value=values[figure.key]) for figure in figures)


def verdict(outcome: Outcome, explained: Mapping[str, str]) -> str:
    """``met``, ``explained`` (a known miss), ``MISSED``, ``left out``, or ``FAILED`` when it could not be measured."""
    if outcome.met:
        return "met"
    if outcome.value is None:
        return "left out" if outcome.left_out else "FAILED"
    return "explained" if outcome.figure.key in explained else "MISSED"


def exit_status(counts: Mapping[str, int], *, check: bool) -> int:
    """What cannot be measured is always a failure, a miss that nobody explained only when checking."""
    return 1 if counts.get("FAILED") or (check and counts.get("MISSED")) else 0


def line(outcome: Outcome, explained: Mapping[str, str]) -> str:
    """One figure for people."""
    figure, value = outcome.figure, outcome.value
    shown = written(value.number, figure.unit) if value else "-"
    detail = _detail(value) if value else f" ({outcome.error})"
    return row(figure.key, shown, figure.target, verdict(outcome, explained), figure.what + detail)


def row(key: str, value: str, target: str, verdict: str, what: str) -> str:
    """Columns."""
    return f"{key:{KEY_WIDTH}}{value:{VALUE_WIDTH}}{target:{VALUE_WIDTH}}{verdict:{VALUE_WIDTH}}{what}"


def _detail(value: Value) -> str:
    return f" ({value.detail})" if value.detail else ""
