"""A thousand small sessions remembered in one pass, and what a pass over one more writes."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codexmem_bench.figures import TIMES, Figure, Measurement, Value
from codexmem_bench.standing_clock import LAST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_bench.bench import Bench

FEW = 100
PROJECTS = 7
SECONDS = 600
SETTINGS = "[memories]\nmax_raw_memories_for_consolidation = 4000\nmax_unused_days = 365\n"

MEMORY = Figure(
    key="consolidate-1000",
    what="peak memory of a run that remembers 1,000 sessions, to one of 100",
    limit=2.0,
    unit=TIMES,
)
TOUCHED = Figure(
    key="consolidate-1000-touched", what="files that a run over one more session wrote without need", limit=0
)


def measure(bench: Bench) -> dict[str, Value]:
    """Three runs of the command."""
    folder = bench.once("small-sessions", lambda made: made)
    few, many, home = folder / "few", folder / "many", folder / "many-home"
    count = bench.sizes.small_sessions
    write(few, FEW)
    write(many, count)
    small, _ = _remember(few, folder / "few-home")
    large, seconds = _remember(many, home)
    before = _state(home)
    write(many, count + 1)
    _remember(many, home)
    after = _state(home)
    needless = [path for path in before if after[path][:2] != before[path][:2] and after[path][2] == before[path][2]]
    lost = set(before) - set(after)
    if lost or len(after) != len(before) + 1:
        raise RuntimeError(f"{len(after)} files instead of {len(before) + 1}, lost: {sorted(lost)[:3]}")
    return {
        MEMORY.key: Value(
            number=large / small,
            detail=f"{large:.0f} MiB for {count}, {small:.0f} MiB for {FEW}; {seconds:.0f} s",
        ),
        TOUCHED.key: Value(number=len(needless), detail=f"of {len(before)} files"),
    }


def write(folder: Path, count: int) -> None:
    """Rollouts of Codex with a request, a failure that was solved and a preference, those that are not there yet."""
    folder.mkdir(exist_ok=True)
    for number in range(len(list(folder.iterdir())), count):
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"codexmem/{number}"))
        lines = [json.dumps(record) for record in _records(session, number)]
        (folder / f"rollout-{number:06}-{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _records(session: str, number: int) -> Iterator[dict[str, Any]]:
    began = LAST_DAY - timedelta(minutes=30 * (2_000 - number))
    place = f"/home/dev/project{number % PROJECTS}"
    asked = f"Implement feature {number} in src/file{number}.py. Always mention part{number % 210} in the reports."
    steps = (
        ("make test", f"Process exited with code 2\nOutput:\nError: no part{number % 70}\n"),
        ("make fix", "Process exited with code 0\nOutput:\nfixed\n"),
        ("make test", "Process exited with code 0\nOutput:\n12 passed\n"),
    )
    payloads: list[tuple[str, dict[str, Any]]] = [
        (
            "session_meta",
            {"id": session, "cwd": place, "originator": "codex_cli", "cli_version": "0.171.0", "source": "cli"},
        ),
        ("response_item", _said(asked)),
    ]
    for call, (command, output) in enumerate(steps):
        arguments = json.dumps({"cmd": command})
        named = {"type": "function_call", "name": "exec_command", "call_id": f"c{call}", "arguments": arguments}
        payloads.append(("response_item", named))
        payloads.append(("response_item", {"type": "function_call_output", "call_id": f"c{call}", "output": output}))
    payloads.append(("response_item", _said("Thanks, that works.")))
    for second, (kind, payload) in enumerate(payloads):
        stamp = (began + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
        yield {"timestamp": stamp, "type": kind, "payload": payload}


def _said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _remember(sessions: Path, home: Path) -> tuple[float, float]:
    """Peak memory in MiB and seconds of ``codexmem run`` over a folder."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(SETTINGS)
    command = [sys.executable, "-m", "codexmem_bench.remember_all", str(sessions), str(home)]
    done = subprocess.run(
        command, cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the run failed: {done.stderr.strip()[-500:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    return told["peak_mib"], told["seconds"]


def _state(home: Path) -> dict[str, tuple[int, int, bytes]]:
    """By path, what writing a file changes, and its content; the history aside."""
    memory = home / "home" / "memories"
    return {
        path.relative_to(memory).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in memory.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


MEASUREMENT = Measurement(figures=(MEMORY, TOUCHED), measure=measure)
