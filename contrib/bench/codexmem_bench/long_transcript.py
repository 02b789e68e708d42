"""Peak memory of a process that reads one long transcript through the cache."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_bench.corpora import Corpus, write_long
from codexmem_bench.figures import TIMES, Figure, Measurement, Value

if TYPE_CHECKING:
    from codexmem_bench.bench import Bench

MEBIBYTE = 1024 * 1024
ALLOWED_MIB = 64
LONG_LINE_MB = 20
SECONDS = 600

ORDINARY = Figure(
    key="one-200mb", what="peak memory for one transcript of 200 MB, no line over 1 MB", limit=ALLOWED_MIB, unit="MiB"
)
LONG_LINE = Figure(
    key="one-200mb-long-line", what="with a line of 20 MB: what exceeds 64 MiB, to that line", limit=8.0, unit=TIMES
)


def measure(bench: Bench) -> dict[str, Value]:
    """Two processes, one transcript each."""
    size, seed = bench.sizes.long_mb, bench.seed
    plain: Corpus = bench.once("long", lambda folder: write_long(folder, megabytes=size, line_megabytes=0, seed=seed))
    lined: Corpus = bench.once(
        "long-line", lambda folder: write_long(folder, megabytes=size, line_megabytes=LONG_LINE_MB, seed=seed)
    )
    peak, told = _peak_mib(plain, bench.scratch / "long-home")
    lined_peak, lined_told = _peak_mib(lined, bench.scratch / "long-line-home")
    longest_mib = lined.longest_line / MEBIBYTE
    return {
        ORDINARY.key: Value(number=peak, detail=f"{told}, {plain.size_bytes / 1e6:.0f} MB"),
        LONG_LINE.key: Value(
            number=max(0.0, lined_peak - ALLOWED_MIB) / longest_mib,
            detail=f"{lined_told}, peak {lined_peak:.0f} MiB, line of {longest_mib:.1f} MiB",
        ),
    }


def _peak_mib(corpus: Corpus, home: Path) -> tuple[float, str]:
    command = [sys.executable, "-m", "codexmem_bench.read_all", str(corpus.home), str(home)]
    done = subprocess.run(
        command, cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"reading failed: {done.stderr.strip()[-500:]}")
    told = json.loads(done.stdout)
    return told["peak_mib"], f"{told['seconds']:.1f} s, {told['items']} items"


MEASUREMENT = Measurement(figures=(ORDINARY, LONG_LINE), measure=measure)
