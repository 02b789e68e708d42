"""A pass over the sample sessions with both memories, against the slower of them alone; a model takes 200 ms a call."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.standing_clock import StandingClock
from codexmem_core import pipeline
from codexmem_core.engine import Engine
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services, Transcript
    from codexmem_hookspecs.values.extract import ExtractionRequest

    from codexmem_bench.bench import Bench

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
CALL_S = 0.2
SETTINGS = '[models]\nbackend = "slow"\n[memories]\nmax_rollouts_per_startup = 128\n'
MEMORIES = ("memory-v1", "memory-v2")

BOTH = Figure(
    key="both-memories",
    what="wall time of a pass with both memories, to the slower alone; 200 ms a model call",
    limit=1.2,
    unit=TIMES,
)


class SlowModel:
    """Costs, so that calls run side by side as they do with a provider's model; knows nothing."""

    @hookimpl
    def codexmem_models(self) -> Iterable[ModelBackend]:
        """One backend."""
        return (ModelBackend(name="slow", summary="waits", costs=True, ask=self.ask),)

    def ask(self, request: ExtractionRequest, transcript: Transcript, services: Services) -> Reply:
        """The same for every session."""
        time.sleep(CALL_S)
        fields = request.schema["required"]
        assert isinstance(fields, list)
        return Reply(data=dict.fromkeys(fields, f"# Session {transcript.session.id}"), tokens_in=1, tokens_out=1)


def measure(bench: Bench) -> dict[str, Value]:
    """Each round takes all three in turn, every one in a fresh home."""
    folder = bench.once("both-memories", lambda made: made)
    ratios, told = list[float](), dict[str, list[float]]()
    for number in range(bench.sizes.rounds + 1):
        choices = {"both": MEMORIES, "V1": MEMORIES[:1], "V2": MEMORIES[1:]}
        seconds = {
            name: _seconds(folder, choices[name])
            for name in (sorted(choices) if number % 2 else sorted(choices, reverse=True))
        }
        if number:  # the first does not count: it reads every module
            ratios.append(seconds["both"] / max(seconds["V1"], seconds["V2"]))
            for name, taken in seconds.items():
                told.setdefault(name, []).append(taken)
    detail = ", ".join(f"{name} {statistics.median(taken) * 1000:.0f} ms" for name, taken in sorted(told.items()))
    return {BOTH.key: Value(number=statistics.median(ratios), detail=detail)}


def _seconds(folder: Path, memories: tuple[str, ...]) -> float:
    """Of ``codexmem run --sessions`` in this process, in a fresh home."""
    place = Path(tempfile.mkdtemp(dir=folder))
    (place / "config.toml").write_text(SETTINGS, encoding="utf-8")
    chosen = [one for one in installed() if one.name in memories or one.name.startswith("host-")]
    engine = Engine(
        home=str(place / "home"),
        config=str(place / "config.toml"),
        environ={"HOME": str(place)},
        clock=StandingClock(),
        plugins=[*chosen, *in_process([("slow", SlowModel())])],
    )
    started = time.perf_counter()
    report = pipeline.run(engine, RunRequest(folder=str(SAMPLES), now=True))
    taken = time.perf_counter() - started
    engine.close()
    if report.failed or len(report.memories) != len(memories):
        raise RuntimeError(f"the pass failed: {report}")
    return taken


MEASUREMENT = Measurement(figures=(BOTH,), measure=measure)
