"""What is measured, in which unit, and when it is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_bench.bench import Bench

TIMES = "\N{MULTIPLICATION SIGN}"
"""Unit of ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its target."""

    key: str
    """What ``--only`` and the README's "Known misses" call it."""
    what: str
    limit: float
    unit: str = ""
    """TIMES for a ratio to the yardstick; counts have none."""
    at_least: bool = False
    """Whether more is better."""

    @property
    def target(self) -> str:
        """For people."""
        return f"{'≥' if self.at_least else '≤'} {written(self.limit, self.unit)}"

    def met(self, number: float) -> bool:
        """Whether the number is good enough."""
        return number >= self.limit if self.at_least else number <= self.limit

    def better(self, one: Value, other: Value) -> Value:
        """The better of two measurements."""
        first = one.number >= other.number if self.at_least else one.number <= other.number
        return one if first else other


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What came out, and what it was made from."""

    number: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Figures that are measured together; the function gives a value for each of them, by key."""

    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Mapping[str, Value]]
    peer: str = ""
    """Another program that it needs; without its path the figures are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A figure after it was measured."""

    figure: Figure
    value: Value | None = None
    error: str = ""
    """Why there is no value."""
    left_out: bool = False
    """Whether nobody asked for it."""

    @property
    def met(self) -> bool:
        """A figure that could not be measured is not met."""
        return self.value is not None and self.figure.met(self.value.number)


def written(number: float, unit: str) -> str:
    """Three digits are more than two runs agree on."""
    return f"{number:.3g} {unit}".rstrip()
