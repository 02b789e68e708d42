"""Read every session of a Codex home as a memory does, in this process, and tell its peak memory as JSON.

``python -m codexmem_bench.read_all CODEX_HOME HOME``
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from codexmem_hookspecs.values.capture import SessionQuery

from codexmem_bench.engines import HOST, engine_over

KIBIBYTES = 1024


def main() -> None:
    """Open, which parses and redacts, then go over all items once."""
    engine = engine_over(Path(sys.argv[1]), Path(sys.argv[2]))
    started = time.perf_counter()
    sessions = engine.stages.sessions(HOST, SessionQuery())
    items = sum(1 for session in sessions for _ in engine.transcripts.open(session))
    seconds = time.perf_counter() - started
    print(json.dumps({"peak_mib": peak_mib(), "items": items, "seconds": seconds}))


def peak_mib() -> float:
    """Most resident memory so far.

    Linux counts what the process was started from into the usual figure; its own counter begins with the program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.partition(":")[::2] for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / KIBIBYTES
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (KIBIBYTES * KIBIBYTES if sys.platform == "darwin" else KIBIBYTES)


if __name__ == "__main__":
    main()
