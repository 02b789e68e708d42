"""Run ``codexmem run`` over a folder of sessions in this process, and tell its peak memory as JSON.

``python -m codexmem_bench.remember_all SESSIONS PLACE``
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path

from codexmem_bench.read_all import peak_mib
from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State


def main() -> None:
    """The command as a user gives it, its report left out."""
    sessions, place = sys.argv[1], Path(sys.argv[2])
    home = ["--home", str(place / "home"), "--config", str(place / "config.toml")]
    started = time.perf_counter()
    state, report = State(), io.StringIO()
    with contextlib.redirect_stdout(report):
        status = codexmem.main(
            [*home, "--json", "run", "--sessions", sessions, "--now"], obj=state, standalone_mode=False
        )
    state.close()
    if status:
        sys.exit(f"codexmem ended with {status}: {report.getvalue()[-300:]}")
    print(json.dumps({"peak_mib": peak_mib(), "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
