"""Eight processes that claim every session of one memory, against the same with bare sqlite3."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_bench.claim_workers import Tally, bare_worker, prepare_bare, product_worker
from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.standing_clock import StandingClock
from codexmem_core.store.database import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Barrier

    from codexmem_bench.bench import Bench

    Worker = Callable[[str, int, float, Barrier], Tally]

RATE = Figure(
    key="claims-rate",
    what="8 processes, jobs a second without work, to bare sqlite3",
    limit=0.15,
    unit=TIMES,
    at_least=True,
)
RATE_WITH_WORK = Figure(
    key="claims-rate-work", what="the same with 20 ms of work a job", limit=0.15, unit=TIMES, at_least=True
)
LOCKED = Figure(key="claims-locked", what="database is locked, with and without work", limit=0)
WAIT = Figure(key="claims-wait", what="longest wait for a claim, with and without work", limit=1.0, unit="s")
PROCESSES = 8
WORK_S = 0.02
LONGEST_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """All workers' tallies."""

    jobs: int
    tallies: tuple[Tally, ...]

    @property
    def rate(self) -> float:
        """Jobs a second from the first start to the last end."""
        return self.jobs / (max(t.ended for t in self.tallies) - min(t.started for t in self.tallies))

    @property
    def locked(self) -> int:
        """How often the database was."""
        return sum(tally.locked for tally in self.tallies)

    @property
    def longest_claim(self) -> float:
        """Seconds."""
        return max(tally.longest_claim for tally in self.tallies)

    @property
    def longest_finish(self) -> float:
        """Seconds."""
        return max(tally.longest_finish for tally in self.tallies)


def race(worker: Worker, path: Path, jobs: int, work_s: float) -> Race:
    """Start all processes, let them go at the same instant, and wait for their ends."""
    context = multiprocessing.get_context("spawn")
    barrier, tallies = context.Barrier(PROCESSES), context.SimpleQueue()
    arguments = (worker, str(path), jobs, work_s, barrier, tallies)
    processes = [context.Process(target=_run, args=arguments, daemon=True) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LONGEST_S)
        if process.exitcode != 0:
            raise RuntimeError(f"a worker ended with {process.exitcode}")
    done = Race(jobs=jobs, tallies=tuple(tallies.get() for _ in processes))
    finished = sum(tally.finished for tally in done.tallies)
    if finished != jobs:
        raise RuntimeError(f"{finished} of {jobs} jobs finished")
    return done


def product_race(folder: Path, jobs: int, work_s: float) -> Race:
    """In a fresh database of the product's."""
    path = folder / "memory.db"
    with open_memory(str(path), backups=str(folder / "backups"), clock=StandingClock()):
        pass
    return race(product_worker, path, jobs, work_s)


def bare_race(folder: Path, jobs: int, work_s: float) -> Race:
    """The yardstick."""
    path = folder / "bare.db"
    prepare_bare(str(path), jobs)
    return race(bare_worker, path, jobs, work_s)


def measure(bench: Bench) -> dict[str, Value]:
    """Several races without work, one with."""
    sizes = bench.sizes
    hot = [_pair(bench, sizes.jobs, 0.0) for _ in range((sizes.rounds + 1) // 2)]
    worked = _pair(bench, sizes.jobs_with_work, WORK_S)
    ours = [product for product, _ in (*hot, worked)]
    slowest = max(ours, key=lambda one: one.longest_claim)
    finish = max(one.longest_finish for one in ours)
    bare_wait = max(bare.longest_claim for _, bare in (*hot, worked))
    return {
        RATE.key: Value(number=statistics.median(a.rate / b.rate for a, b in hot), detail=_rates(*hot[0])),
        RATE_WITH_WORK.key: Value(number=worked[0].rate / worked[1].rate, detail=_rates(*worked)),
        LOCKED.key: Value(number=sum(one.locked for one in ours), detail=f"in {sum(one.jobs for one in ours)} jobs"),
        WAIT.key: Value(
            number=slowest.longest_claim, detail=f"longest finish {finish:.2f} s; bare claim {bare_wait:.2f} s"
        ),
    }


def _pair(bench: Bench, jobs: int, work_s: float) -> tuple[Race, Race]:
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        return product_race(Path(folder), jobs, work_s), bare_race(Path(folder), jobs, work_s)


def _rates(product: Race, bare: Race) -> str:
    return f"{product.rate:.0f} to {bare.rate:.0f} a second, {product.jobs} jobs"


def _run(  # the order of Process's arguments
    worker: Worker, path: str, jobs: int, work_s: float, barrier: Barrier, tallies: SimpleQueue[Tally]
) -> None:
    tallies.put(worker(path, jobs, work_s, barrier))


MEASUREMENT = Measurement(figures=(RATE, RATE_WITH_WORK, LOCKED, WAIT), measure=measure)
