"""OpenViking's own Codex plugin, whose hooks node runs: what its server's memory costs Codex without codexmem."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem_bench.processes import end, started_under
from codexmem_bench.timing import run_quietly

if TYPE_CHECKING:
    from codexmem_bench.bench import Bench

PEER = "openviking-plugin"
SCRIPTS = {"Stop": "auto-capture.mjs", "UserPromptSubmit": "auto-recall.mjs"}
"""What the plugin's hooks.json runs. At Stop it also runs usage/report.mjs beside it, which is not counted."""
NOBODY = "http://127.0.0.1:9"
"""No server listens there. Without an address the plugin would ask the one that the user may run."""
WAIT_S = 60.0


class Plugin:
    """The plugin's hooks with their default settings, in a new home: a worker that was ended leaves its lock behind."""

    def __init__(self, bench: Bench) -> None:
        """Raises FileNotFoundError for a folder that is not the plugin's, and without node."""
        self._node = str(bench.node)
        self._scripts = {event: bench.peers[PEER].absolute() / "scripts" / name for event, name in SCRIPTS.items()}
        for script in self._scripts.values():
            if not script.is_file():
                raise FileNotFoundError(f"{script} is not there; README.md tells how to get the plugin")
        self._home = Path(tempfile.mkdtemp(prefix="openviking-plugin-", dir=bench.scratch))
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "OPENVIKING_URL": NOBODY,
        }

    def run(self, event: str, sent: str) -> None:
        """One call, with a file that holds what the host sends."""
        run_quietly(self._hook(event), self.environ, stdin=sent)

    def printed(self, event: str, sent: str) -> str:
        """What one call prints."""
        with open(sent, "rb") as stdin:
            return subprocess.run(
                self._hook(event), env=self.environ, stdin=stdin, capture_output=True, text=True, check=True
            ).stdout

    def see_it_capture(self, sent: str, within_s: float = WAIT_S) -> None:
        """Raises RuntimeError when the worker that Stop leaves behind never says that it began."""
        log = self._home / "capture.log"
        told = {**self.environ, "OPENVIKING_DEBUG": "1", "OPENVIKING_DEBUG_LOG": str(log)}
        run_quietly(self._hook("Stop"), told, stdin=sent)
        ends_at = time.monotonic() + within_s
        while not log.exists() or '"start"' not in log.read_text(encoding="utf-8"):
            if time.monotonic() > ends_at:
                raise RuntimeError("the plugin's Stop hook left no worker that captures")
            time.sleep(0.01)

    def end_workers(self) -> None:
        """As if no hook had left one behind."""
        for pid in started_under(self._home):
            end(pid)

    def _hook(self, event: str) -> tuple[str, ...]:
        return (self._node, str(self._scripts[event]))
