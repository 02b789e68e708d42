"""Product and yardstick in turn, round by round, so that a machine that slows down slows both."""

from __future__ import annotations

import gc
import os
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Seconds of each round."""

    product: tuple[float, ...]
    yardstick: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median of the rounds' ratios."""
        return statistics.median(a / b for a, b in zip(self.product, self.yardstick, strict=True))

    @property
    def detail(self) -> str:
        """Medians, for people; they change with the machine."""
        product, yardstick = (statistics.median(side) * 1000 for side in (self.product, self.yardstick))
        return f"{product:.4g} ms to {yardstick:.4g} ms"


def in_pairs(
    product: Callable[[], object],
    yardstick: Callable[[], object],
    *,
    rounds: int,
    before: Callable[[], object] = lambda: None,
    before_product: Callable[[], object] = lambda: None,
) -> Pairs:
    """Run both ``rounds`` times after one round that does not count; the first of a round changes with each.

    ``before`` runs, untimed, ahead of every yardstick, ``before_product`` ahead of every product.
    """
    seconds: dict[str, list[float]] = {"product": [], "yardstick": []}
    for number in range(rounds + 1):
        order = ("product", "yardstick") if number % 2 else ("yardstick", "product")
        for side in order:
            (before if side == "yardstick" else before_product)()
            gc.collect()
            started = time.perf_counter()
            (product if side == "product" else yardstick)()
            seconds[side].append(time.perf_counter() - started)
    return Pairs(product=tuple(seconds["product"][1:]), yardstick=tuple(seconds["yardstick"][1:]))


def run_quietly(command: tuple[str, ...], environ: Mapping[str, str], stdin: str = os.devnull) -> None:
    """A whole process that prints to /dev/null, started as directly as the system can. Raises RuntimeError."""
    streams = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0)]
    streams += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (1, 2)]
    process = os.posix_spawn(command[0], command, environ, file_actions=streams)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
