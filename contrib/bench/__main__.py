"""Measure the numbers that codexmem holds itself to (``python3 contrib/dev.py bench``); README.md tells how."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from codexmem_bench.bench import FULL, QUICK, Bench
from codexmem_bench.openviking_plugin import PEER as OPENVIKING
from codexmem_bench.peers import PEER as OPENCODE
from codexmem_bench.readme import README, known_misses
from codexmem_bench.running import KEY_WIDTH, exit_status, line, outcomes, row, verdict
from codexmem_bench.table import chosen, figures


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each figure; 1 when something failed, or with ``--check`` was missed without an explanation."""
    options = parsed(arguments)
    explained = known_misses(README.read_text(encoding="utf-8"))
    if options.list:
        for figure in figures():
            print(row(figure.key, "", figure.target, "explained" if figure.key in explained else "", figure.what))
        return 0
    names = [name for name in options.only.split(",") if name]
    try:
        wanted = chosen(names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(machine() + ("; quick sizes: only a rough look" if options.quick else ""))
    print(row("figure", "value", "target", "verdict", "what"))
    peers = {OPENCODE: options.opencode_codex_memory, OPENVIKING: options.openviking_plugin}
    peers = {name: path for name, path in peers.items() if path}
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="codexmem-bench-") as folder:
        bench = Bench(
            scratch=Path(folder),
            sizes=QUICK if options.quick else FULL,
            seed=options.seed,
            peers=peers,
            node_program=options.node,
        )
        for outcome in outcomes(wanted, bench, explained):
            said = verdict(outcome, explained)
            counts[said] = counts.get(said, 0) + 1
            print(line(outcome, explained), flush=True)
            if said == "met" and outcome.figure.key in explained:
                print(f"{'':{KEY_WIDTH}}(README explains a miss that is none here)")
    print(", ".join(f"{count} {said}" for said, count in sorted(counts.items())))
    return exit_status(counts, check=options.check)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(prog="contrib/dev.py bench", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail on a miss that README.md does not explain")
    parser.add_argument("--only", default="", metavar="NAME[,NAME]", help="figures, or the beginnings of their names")
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer rounds")
    parser.add_argument("--list", action="store_true", help="print figures and targets, measure nothing")
    parser.add_argument("--seed", type=int, default=1, help="of all inputs (default 1)")
    parser.add_argument(f"--{OPENCODE}", type=Path, metavar="BUNDLE", help="also compare with it; README.md tells how")
    parser.add_argument(
        f"--{OPENVIKING}", type=Path, metavar="FOLDER", help="also compare with it; README.md tells how"
    )
    node = shutil.which("node")
    parser.add_argument(
        "--node", type=Path, metavar="PROGRAM", default=node, help="runs both; default: the one on PATH"
    )
    return parser.parse_args(arguments)


def machine() -> str:
    """On what this was measured."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


if __name__ == "__main__":
    sys.exit(main())
