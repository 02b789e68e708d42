"""How long the smallest commands take, as whole processes, against the bare interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.timing import in_pairs, run_quietly

if TYPE_CHECKING:
    from codexmem_bench.bench import Bench

VERSION = Figure(key="cli-version", what="codexmem --version, to the bare interpreter", limit=6.0, unit=TIMES)
STATUS = Figure(key="cli-status", what="codexmem status over the sample sessions, to the same", limit=15.0, unit=TIMES)
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
BARE = (sys.executable, "-I", "-S", "-c", "pass")


class Installed:
    """The command as it was installed beside this interpreter, with a home that holds the samples."""

    def __init__(self, folder: Path) -> None:
        script = Path(sys.executable).with_name("codexmem")
        if not script.exists():
            raise FileNotFoundError(f"{script} is not there: install codexmem into this interpreter")
        self.command = (str(script), "--home", str(folder / "home"), "--config", str(folder / "config.toml"))
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "LANG": os.environ.get("LANG", "C.UTF-8"),
        }
        remember = (*self.command, "run", "--sessions", str(SAMPLES), "--now")
        done = subprocess.run(remember, env=self.environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the samples could not be remembered: {(done.stdout + done.stderr).strip()[-500:]}")

    def run(self, *arguments: str) -> None:
        """One command."""
        run_quietly((*self.command, *arguments), self.environ)

    def bare(self) -> None:
        """The yardstick."""
        run_quietly(BARE, self.environ)


def measure(bench: Bench) -> dict[str, Value]:
    """Both commands."""
    installed: Installed = bench.once("command-line", Installed)
    rounds = bench.sizes.process_rounds
    version = in_pairs(lambda: installed.run("--version"), installed.bare, rounds=rounds)
    status = in_pairs(lambda: installed.run("status"), installed.bare, rounds=rounds)
    return {
        VERSION.key: Value(number=version.ratio, detail=version.detail),
        STATUS.key: Value(number=status.ratio, detail=status.detail),
    }


MEASUREMENT = Measurement(figures=(VERSION, STATUS), measure=measure)
