"""A pass over sessions that are all known and extracted, against one walk over their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_bench.corpora import Corpus, write_stubs
from codexmem_bench.engines import engine_over
from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.timing import in_pairs
from codexmem_core import pipeline
from codexmem_core.capture import sessions
from codexmem_core.memory_lane import MemoryLane
from codexmem_core.request import RunRequest
from codexmem_core.store.values import Candidate, Output

if TYPE_CHECKING:
    from pathlib import Path

    from codexmem_bench.bench import Bench
    from codexmem_core.engine import Engine

PASS = Figure(
    key="nothing-new",
    what="discovery, selection and claims for known sessions, to one scandir walk",
    limit=1.6,
    unit=TIMES,
)
RESUMED = Figure(key="nothing-new-resumed", what="resumed sessions in old day folders that were not found", limit=0)
NO_LIMIT = 1_000_000_000
WORKER = "bench"


class KnownSessions:
    """A home in which every session of the corpus is extracted."""

    def __init__(self, bench: Bench) -> None:
        self.corpus: Corpus = bench.once(
            "stubs", lambda folder: write_stubs(folder, count=bench.sizes.known_sessions, seed=bench.seed)
        )
        self.engine: Engine = engine_over(self.corpus.home, bench.scratch / "stubs-home")
        self._plugin = self.engine.memory_plugin()
        bench.once("stubs-settled", lambda _folder: self._settle())

    def look_for_work(self) -> int:
        """What ``pipeline.run`` does up to consolidation, with one memory; how many sessions it claimed."""
        engine, request = self.engine, RunRequest(consolidate=False)
        vars(engine).pop("guards", None)  # every pass reads them once
        chosen, _ = pipeline.choose(engine, request, self.discover())
        lane = MemoryLane(engine, self._plugin, request, chosen.eligible).work(lambda: None)
        return len(lane.extracted.claimed)

    def discover(self) -> sessions.Discovery:
        """The first part of that."""
        return sessions.discover(self.engine.stages, self.engine.catalogue)

    def walk(self) -> int:
        """The yardstick: every file with its stat."""
        seen = 0
        pending = [str(self.corpus.home)]
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.stat(follow_symlinks=False).st_size:
                        seen += 1
        return seen

    def missed(self, resumed: list[Path]) -> int:
        """Append to old rollouts; how many of them discovery does not see."""
        for path in resumed:
            with path.open("ab") as file:
                file.write(b'{"timestamp":"2026-11-30T18:30:00.000Z","ordinal":1,"type":"turn_context","payload":{}}\n')
        found = self.discover()
        return len({str(path) for path in resumed} - {session.locator for session in found.changed})

    def _settle(self) -> bool:
        """Discover all, and store an output for each, in few transactions."""
        found = self.discover()
        if len(found.changed) != len(self.corpus.files):
            raise RuntimeError(f"{len(found.changed)} of {len(self.corpus.files)} sessions found")
        candidates = [Candidate(host=s.host, id=s.id, watermark_ms=s.updated_at_ms) for s in found.changed]
        with self.engine.jobs(self._plugin) as jobs:
            claims = jobs.claim_extractions(candidates, limit=NO_LIMIT, running_cap=NO_LIMIT, worker=WORKER).claims
            for claim in claims:
                jobs.finish_extraction(claim, Output(rollout_summary="A note.", raw_memory="A note."))
            while jobs.prune(self.engine.config.number("memories", "max_unused_days")):
                pass  # a pass lets go of a few old notes only; here every one of them is long gone
        return True


def measure(bench: Bench) -> dict[str, Value]:
    """The ratio, then the old sessions that came alive."""
    known = KnownSessions(bench)
    known.look_for_work()  # takes what an earlier measurement resumed
    if known.look_for_work():
        raise RuntimeError("there was something new")
    pairs = in_pairs(known.look_for_work, known.walk, rounds=bench.sizes.rounds)
    discovery = in_pairs(known.discover, known.walk, rounds=bench.sizes.rounds)
    resumed = list(known.corpus.files[:: len(known.corpus.files) // 5])
    missed = known.missed(resumed)
    known.engine.close()
    return {
        PASS.key: Value(number=pairs.ratio, detail=f"{pairs.detail}; discovery alone {discovery.ratio:.2f} {TIMES}"),
        RESUMED.key: Value(number=missed, detail=f"of {len(resumed)}"),
    }


MEASUREMENT = Measurement(figures=(PASS, RESUMED), measure=measure)
