"""Kill ``codexmem run`` at seeded instants and check that nothing is lost and nothing doubled.

Every atomic rename, database commit and baseline step announces itself as an audit event. A reference run counts them;
then each trial kills a run with SIGKILL at one of them (every name at least FEWEST times where the count allows it) or
at a random time, checks what lies on disk, runs once more, and compares the end with the reference.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEWEST = 5
BY_TIME = 0.1
"""Share of trials that kill at a random time instead of a named instant."""

CHILD = """
import os, signal, sys
want, nth, log = sys.argv[1], int(sys.argv[2]), sys.argv[3]
seen = 0
file = open(log, "a") if log else None
def hook(event, arguments):
    global seen
    if event != "codexmem.instant":
        return
    if file is not None:
        file.write(arguments[0] + "\\n"); file.flush()
    if arguments[0] == want:
        seen += 1
        if seen == nth:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
sys.argv = ["codexmem", *sys.argv[4:]]
from codexmem_core.cli import main
main()
"""


@dataclass(frozen=True)
class Trial:
    """One kill."""

    number: int
    name: str
    """Named instant; empty: at a time."""
    nth: int
    after_s: float
    start: str
    """``empty`` or ``half``: what the home holds before."""


class Corpus:
    """Homes to start from, and what they must end as."""

    def __init__(self, work: Path, sessions: Path) -> None:
        self.work = work
        self.all = sessions
        self.half = work / "half-sessions"
        files = sorted(path for path in sessions.rglob("*") if path.is_file())
        for path in files[: len(files) // 2]:
            target = self.half / path.relative_to(sessions)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        self.starts = {"empty": work / "start-empty", "half": work / "start-half"}
        self.starts["empty"].mkdir()
        self._must_run(self.starts["half"], self.half)
        self.instants: dict[str, collections.Counter[str]] = {}
        self.previous: dict[str, dict[str, bytes]] = {}
        self.ends: dict[str, object] = {}
        self.seconds = 0.0
        for start, home in self.starts.items():
            copy = work / f"reference-{start}"
            shutil.copytree(home, copy)
            log = work / f"instants-{start}"
            begun = time.monotonic()
            self._must_run(copy, self.all, log=str(log))
            self.seconds = max(self.seconds, time.monotonic() - begun)
            self.instants[start] = collections.Counter(log.read_text().split("\n")[:-1])
            self.previous[start] = artifacts(home)
            self.ends[start] = state(copy)

    def _must_run(self, home: Path, sessions: Path, log: str = "") -> None:
        done = run(home, sessions, log=log)
        if done.returncode != 0:
            sys.exit(f"the reference run failed:\n{done.stdout}{done.stderr}")


def run(
    home: Path, sessions: Path, name: str = "", nth: int = 0, *, log: str = "", after_s: float = 0.0
) -> subprocess.CompletedProcess[str]:
    """``codexmem run`` itself, in a process of its own, perhaps killed."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("CODEXMEM_")}
    arguments = ["--home", str(home), "--config", str(home / "none.toml"), "--json"]
    command = [
        sys.executable,
        "-c",
        CHILD,
        name,
        str(nth),
        log,
        *arguments,
        "run",
        "--sessions",
        str(sessions),
        "--now",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ) as child:
        try:
            output, errors = child.communicate(timeout=after_s or 120)
        except subprocess.TimeoutExpired:
            child.kill()
            output, errors = child.communicate()
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


def artifacts(home: Path) -> dict[str, bytes]:
    """The consolidated files of every memory in a home."""
    found = {}
    for path in sorted(home.glob("memories*/*.md")):
        found[str(path.relative_to(home))] = path.read_bytes()
    return found


def state(home: Path) -> dict[str, object]:
    """What a finished home holds, without times: notes, files and the last consolidated tree."""
    notes = {}
    for path in sorted(home.glob("memory*.db")):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            rows = database.execute(
                "SELECT host, session_id, raw_memory, rollout_summary FROM memory_stage1_outputs ORDER BY 1, 2"
            ).fetchall()
            jobs = database.execute("SELECT kind, job_key, status FROM memory_jobs ORDER BY 1, 2").fetchall()
        database.close()
        notes[path.name] = {"outputs": rows, "jobs": jobs}
    files = {}
    for root in sorted(home.glob("memories*")):
        for path in sorted(root.rglob("*")):
            if path.is_file() and ".git" not in path.parts:
                files[str(path.relative_to(home))] = path.read_bytes()
    return {"notes": notes, "files": files}


def problems_now(home: Path, previous: dict[str, bytes]) -> list[str]:
    """What a crash must never leave: damaged databases, half-written or invalid artifacts."""
    found = []
    for path in home.glob("*.db"):
        with sqlite3.connect(path) as database:
            answer = database.execute("PRAGMA integrity_check").fetchone()[0]
            if answer != "ok":
                found.append(f"{path.name}: {answer}")
        database.close()
    for name, content in artifacts(home).items():
        if name.endswith("memory_summary.md") and content != previous.get(name) and not content.startswith(b"v1\n"):
            found.append(f"{name}: neither the previous file nor a valid one")
        if b"\x00" in content or not content.endswith(b"\n"):
            found.append(f"{name}: cut")
    return found


def try_one(corpus: Corpus, trial: Trial) -> tuple[Trial, str, list[str]]:
    """Kill, look, finish, compare."""
    home = corpus.work / f"trial-{trial.number}"
    shutil.copytree(corpus.starts[trial.start], home)
    killed = run(home, corpus.all, trial.name, trial.nth, after_s=trial.after_s)
    ended = "killed" if killed.returncode == -signal.SIGKILL else f"ended with {killed.returncode}"
    found = problems_now(home, corpus.previous[trial.start])
    second = run(home, corpus.all)
    if second.returncode != 0:
        found.append(f"the next run failed: {second.stdout[-2000:]}{second.stderr[-2000:]}")
    else:
        found += problems_now(home, corpus.previous[trial.start])
        end, wanted = state(home), corpus.ends[trial.start]
        assert isinstance(wanted, dict)
        for part in ("notes", "files"):
            if end[part] != wanted[part]:
                found.append(f"{part} differ from the uninterrupted run: {difference(wanted[part], end[part])}")
        found += [f"left behind: {path.name}" for path in home.rglob("*.tmp*")]
        third = json.loads(run(home, corpus.all).stdout)
        if third["sessions"]["claimed"]:
            found.append(f"a run after that claims {third['sessions']['claimed']} sessions again")
    if not found:
        shutil.rmtree(home)
    return trial, ended, found


def difference(wanted: object, got: object) -> str:
    """Where two states differ first."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted({*wanted, *got}):
            if wanted.get(key) != got.get(key):
                return f"{key}: {difference(wanted.get(key), got.get(key))}"
    return f"{wanted!r:.300} is now {got!r:.300}"


def plan(corpus: Corpus, count: int, seed: int) -> list[Trial]:
    """Names in turn, so that each is hit as evenly as the count allows; the rest of the choice is the seed's."""
    chooser = random.Random(seed)
    points = [(start, name) for start, seen in sorted(corpus.instants.items()) for name in sorted(seen)]
    timed = int(count * BY_TIME)
    trials = []
    for number in range(count):
        start, name = points[number % len(points)]
        if number >= count - timed:
            after = chooser.uniform(0.05, corpus.seconds)
            trials.append(Trial(number, "", 0, after, chooser.choice(sorted(corpus.starts))))
        else:
            trials.append(Trial(number, name, chooser.randint(1, corpus.instants[start][name]), 0.0, start))
    return trials


def main(arguments: list[str] | None = None) -> int:
    """Print the histogram and the failures; 1 when there is any."""
    parser = argparse.ArgumentParser(prog="contrib/dev.py chaos", description=__doc__)
    parser.add_argument("-n", type=int, default=60, help="how many kills (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="trials at once")
    parser.add_argument("--sessions", type=Path, default=HERE / "samples", help="transcripts to run over")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="codexmem-chaos-") as folder:
        corpus = Corpus(Path(folder), options.sessions)
        trials = plan(corpus, options.n, options.seed)
        killed: collections.Counter[str] = collections.Counter()
        failures = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for trial, ended, found in pool.map(lambda trial: try_one(corpus, trial), trials):
                killed[(trial.name or "at a random time") if ended == "killed" else f"({ended})"] += 1
                failures += [
                    f"trial {trial.number} ({trial.start}, {trial.name} #{trial.nth}): {text}" for text in found
                ]
        return tell(corpus, killed, failures, options)


def tell(corpus: Corpus, killed: collections.Counter[str], failures: list[str], options: argparse.Namespace) -> int:
    """The histogram, what was not hit often enough, and the failures."""
    names = sorted({name for seen in corpus.instants.values() for name in seen})
    print(f"{options.n} runs, seed {options.seed}, {len(names)} named instants")
    for name in [*names, *(other for other in sorted(killed) if other not in names)]:
        print(f"{killed[name]:6}  {name}")
    rare = [name for name in names if killed[name] < FEWEST]
    if rare and options.n * (1 - BY_TIME) >= 2 * FEWEST * len(names):
        failures.append(f"hit fewer than {FEWEST} times: {', '.join(rare)}")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{sum(killed.values())} trials, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
