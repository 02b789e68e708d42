"""What a hook costs its host, as the whole process that ``setup`` installs, against the bare interpreter and a peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from codexmem_bench.command_line import BARE
from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.openviking_plugin import PEER, Plugin
from codexmem_bench.processes import end
from codexmem_bench.timing import Pairs, in_pairs, run_quietly
from codexmem_core.setup.wanted import hook_argv

if TYPE_CHECKING:
    from pathlib import Path

    from codexmem_bench.bench import Bench

STOP = Figure(key="hook-stop", what="Stop and SessionEnd hook as installed, starting a worker", limit=1.5, unit=TIMES)
PEAK = Figure(key="hook-stop-memory", what="its peak memory, to the bare interpreter", limit=1.2, unit=TIMES)
START = Figure(
    key="hook-start", what="session-start hook that prints 10 KB, starting a worker, to the same", limit=1.5, unit=TIMES
)
OPENVIKING = Figure(
    key="hook-stop-openviking",
    what="Stop hook, to the OpenViking plugin's; both leave a worker behind",
    limit=0.15,
    unit=TIMES,
)

CONTEXT_BYTES = 9_900
PEAK_ROUNDS = 5
MEASURE = """
import os, sys
files = [(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=files), 0)
print(status, usage.ru_maxrss)
"""
"""Run by a bare interpreter, for a child's peak cannot be read below its parent's."""


class Installed:
    """A home with a ready answer, and a project in which an agent works."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        for made in (self.home / "read", self.home / "locks", self.project):
            made.mkdir(parents=True)
        self._config = folder / "config.toml"
        self._config.touch()
        self.environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LANG": "C.UTF-8"}
        words = "always run make lint before a commit. " * 300
        output = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": words[:CONTEXT_BYTES]}}
        ready = b"v1 0123456789abcdef\n" + json.dumps(output).encode()
        (self.home / "read" / "codex-SessionStart-startup").write_bytes(ready)
        self._sent = {event: self._payload(folder, event) for event in ("Stop", "SessionEnd", "SessionStart")}

    def hook(self, event: str) -> tuple[str, ...]:
        """The command."""
        return hook_argv(sys.executable, "codex", str(self.home), str(self._config), event)

    def run(self, event: str) -> None:
        """One call."""
        run_quietly(self.hook(event), self.environ, stdin=self.sent(event))

    def sent(self, event: str) -> str:
        """File with what the host sends."""
        return str(self._sent[event.partition("-")[0]])

    def end_worker(self) -> None:
        """As if none had ever been started. A worker that was only just started would slow what comes next."""
        starts = self.home / "locks" / "worker.starts"
        for line in starts.read_text().splitlines() if starts.exists() else ():
            end(int(line.split()[1]))
        starts.unlink(missing_ok=True)

    def _payload(self, folder: Path, event: str) -> Path:
        path = folder / f"{event}.json"
        payload = {
            "session_id": "01a22d09-8504-7ff2-bc6d-dbd8ab20596d",
            "transcript_path": str(folder / "rollout.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
            "model": "gpt-6",
            "permission_mode": "default",
            "last_assistant_message": "done. " * 200,
        }
        path.write_text(json.dumps(payload))
        return path


def measure(bench: Bench) -> dict[str, Value]:
    """Every hook starts a worker, which is ended, untimed, before anything else is measured."""
    installed: Installed = bench.once("hooks", Installed)
    rounds = bench.sizes.process_rounds

    def to_bare(event: str) -> Pairs:
        pairs = in_pairs(
            lambda: installed.run(event),
            lambda: run_quietly(BARE, installed.environ),
            rounds=rounds,
            before=installed.end_worker,
            before_product=installed.end_worker,
        )
        installed.end_worker()
        return pairs

    stop, end, start = to_bare("Stop"), to_bare("SessionEnd"), to_bare("SessionStart-startup")
    worse = max(stop, end, key=lambda pairs: pairs.ratio)
    peak, bare = _peaks(installed)
    return {
        STOP.key: Value(number=worse.ratio, detail=worse.detail),
        PEAK.key: Value(number=peak / bare, detail=f"{peak / 1024:.3g} MiB to {bare / 1024:.3g} MiB"),
        START.key: Value(number=start.ratio, detail=start.detail),
    }


def _peaks(installed: Installed) -> tuple[int, int]:
    """The highest of some rounds, in KiB: of the hook and of the bare interpreter."""
    hooks, bares = [], []
    for _ in range(PEAK_ROUNDS):
        hooks.append(_peak_kib(installed.hook("Stop"), installed))
        installed.end_worker()
        bares.append(_peak_kib(BARE, installed))
    return max(hooks), max(bares)


def _peak_kib(command: tuple[str, ...], installed: Installed) -> int:
    measuring = (sys.executable, "-I", "-S", "-c", MEASURE, installed.sent("Stop"), *command)
    done = subprocess.run(measuring, env=installed.environ, capture_output=True, text=True, check=True)
    status, peak = map(int, done.stdout.split())
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return peak


def measure_openviking(bench: Bench) -> dict[str, Value]:
    """Its Stop hook detaches a worker too; both are ended, untimed, before anything else is measured."""
    installed: Installed = bench.once("hooks", Installed)
    plugin = Plugin(bench)
    sent = installed.sent("Stop")

    def end_workers() -> None:
        installed.end_worker()
        plugin.end_workers()

    try:
        plugin.see_it_capture(sent)
        pairs = in_pairs(
            lambda: installed.run("Stop"),
            lambda: plugin.run("Stop", sent),
            rounds=bench.sizes.process_rounds,
            before=end_workers,
            before_product=end_workers,
        )
    finally:
        end_workers()
    return {OPENVIKING.key: Value(number=pairs.ratio, detail=pairs.detail)}


MEASUREMENT = Measurement(figures=(STOP, PEAK, START), measure=measure)
OPENVIKING_MEASUREMENT = Measurement(figures=(OPENVIKING,), measure=measure_openviking, peer=PEER)
