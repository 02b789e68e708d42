"""Reading transcripts against another memory's reader, as whole processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.timing import in_pairs, run_quietly
from codexmem_bench.transcripts import corpus

if TYPE_CHECKING:
    from codexmem_bench.bench import Bench

PEER = "opencode-codex-memory"
READ = Figure(
    key="transcripts-peer",
    what="read, normalise and redact as a process, to opencode-codex-memory",
    limit=0.6,
    unit=TIMES,
)
MODULES = Path(__file__).resolve().parents[1]


def measure(bench: Bench) -> dict[str, Value]:
    """The peer is a bundle that node runs; README.md tells how it is made."""
    rollouts, bundle = corpus(bench).home, bench.peers[PEER]
    node = str(bench.node)
    home = bench.scratch / "peer-home"
    ours = (sys.executable, "-m", "codexmem_bench.read_all", str(rollouts), str(home))
    environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(bench.scratch), "PYTHONPATH": str(MODULES)}
    pairs = in_pairs(
        lambda: run_quietly(ours, environ),
        lambda: run_quietly((node, str(bundle), str(rollouts / "sessions")), environ),
        rounds=bench.sizes.rounds,
    )
    return {READ.key: Value(number=pairs.ratio, detail=pairs.detail)}


MEASUREMENT = Measurement(figures=(READ,), measure=measure, peer=PEER)
