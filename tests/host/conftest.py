"""Hooks as hosts start them, in processes of their own, and the worker that they start."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from codexmem_core.host import alone, shim
from codexmem_core.host.spool import Spool
from codexmem_core.paths import Home
from codexmem_core.setup.wanted import hook_argv

WAIT_S = 60.0


def command(event, home, config, host="codex"):
    """As ``setup`` installs it."""
    return list(hook_argv(sys.executable, host, str(home), str(config), event))


def until(condition, what="it"):
    """Wait for something that another process does."""
    ends_at = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < ends_at, f"{what} did not happen"
        time.sleep(0.02)
    return found


class Hooks:
    """One home, the hosts that call its hooks, and what becomes of that."""

    def __init__(self, folder):
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        self.config = folder / "config.toml"
        self.settings("")
        self.project = folder / "project"
        self.project.mkdir()
        self.codex = folder / "codex"
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "CODEX_HOME": str(self.codex),
            "CODEXMEM_DISABLE": "ov-commit",  # with it every start of a session asks; see `with_openviking`
        }  # fmt: skip
        self.place = Home(str(self.home))
        self.spool = Spool(self.place.spool)
        self.children = []

    def with_openviking(self, url, **environ):
        """Let OpenViking's plugin be loaded, with a server at this address."""
        del self.environ["CODEXMEM_DISABLE"]
        self.environ |= {"OPENVIKING_URL": url, **environ}

    def settings(self, text, worker=""):
        """Passes follow each other without a rest, so that tests need not wait for it."""
        self.config.write_text(f"[worker]\nrest_s = 0\n{worker}\n{text}\n")

    def command(self, event, host="codex"):
        return command(event, self.home, self.config, host)

    def call(self, event, payload=None, *, host="codex", cwd=None, raw=None, before=None, prefix=(), **environ):
        """Run a hook to its end. It always ends well and never speaks on stderr."""
        sent = json.dumps(payload or {}).encode() if raw is None else raw
        done = subprocess.run(
            [*prefix, *self.command(event, host)],
            input=sent,
            cwd=cwd or self.project,
            env={**self.environ, **environ},
            preexec_fn=before,
            capture_output=True,
            check=False,
            timeout=WAIT_S,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def payload(self, event, session="s1", **more):
        """Codex's, as far as it is looked at."""
        return {
            "session_id": session, "transcript_path": str(self.rollout(session)), "cwd": str(self.project),
            "hook_event_name": event, **more,
        }  # fmt: skip

    def rollout(self, session):
        return self.codex / "sessions" / "2026" / "11" / "29" / f"rollout-2026-11-29T09-00-00-{session}.jsonl"

    def say(self, session, *turns, at=None, parent=""):
        """Write turns (role, text) into the session's rollout, which is made when there is none, as a parent's fork."""
        path = self.rollout(session)
        stamp = (at or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        lines = []
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            forked = {"forked_from_id": parent} if parent else {}
            meta = {"id": session, "timestamp": stamp, "cwd": str(self.project), "source": "cli"}
            lines.append({"type": "session_meta", "payload": {**meta, "session_id": session, **forked}})
        for role, text in turns:
            content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
            lines.append({"type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
        with path.open("a") as file:
            file.writelines(json.dumps({"timestamp": stamp, **line}) + "\n" for line in lines)

    def spooled(self):
        return [event for event in self.spool.read_all() if not isinstance(event, tuple)]

    def is_quiet(self):
        """Whether everything was taken in and no pass is due."""
        return not self.spool.names()

    def worker(self):
        """Who holds the lock and answers the bell, or None."""
        return alone.owner(self.place)

    def worker_soon(self):
        return until(self.worker, "a worker's start")

    def worker_with(self, *plugins):
        """Start a worker that has these plugins too, in place of one that runs; wait until it has made a pass."""
        self.cli("worker", "--stop")
        before = len(self.passes())
        program = os.path.join(os.path.dirname(__file__), "programs", "worker_with_plugins.py")
        self.children.append(
            subprocess.Popen(
                [sys.executable, program, self.home, self.config, *plugins], env=self.environ, stdin=subprocess.DEVNULL
            )
        )
        until(lambda: len(self.passes()) > before, "a worker's first pass")

    def passes(self):
        return [line for line in self.log() if line["event"] == "pass"]

    def ready(self, event, host="codex"):
        path = self.home / "read" / f"{host}-{event}"
        return path.read_bytes().partition(b"\n")[2] if path.exists() else b""

    def rows(self, database, query):
        """What another process has written down."""
        path = self.home / database
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []  # the database is only just being made
                raise

    def catalogue(self, query):
        """One number."""
        return self.rows("catalog.db", query)[0][0]

    def log(self):
        """Lines of the log, but for one that is only just written."""
        path = self.home / "logs" / "codexmem.jsonl"
        *lines, _ = path.read_text().split("\n") if path.exists() else [""]
        return [json.loads(line) for line in lines]

    def make_ready(self, context="remember", event="SessionStart-startup"):
        """Put an answer where the shim finds it; returns what it prints."""
        folder = self.home / "read"
        folder.mkdir(exist_ok=True)
        output = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}
        printed = json.dumps(output, ensure_ascii=False).encode()
        (folder / f"codex-{event}").write_bytes(b"v1 0123456789abcdef\n" + printed)
        return printed

    def no_worker(self):
        """Let hooks find that enough workers were started."""
        (self.home / "locks").mkdir(exist_ok=True)
        lines = [f"{time.time_ns() // 1_000_000} 1\n" for _ in range(shim.STARTS_AN_HOUR)]
        (self.home / "locks" / "worker.starts").write_text("".join(lines))

    def starts(self):
        path = self.home / "locks" / "worker.starts"
        return path.read_text().splitlines() if path.exists() else []

    def cli(self, *words, **environ):
        return subprocess.run(
            [sys.executable, "-m", "codexmem_core.cli", "--home", self.home, "--config", self.config, *words],
            env={**self.environ, **environ}, cwd=self.project, capture_output=True, text=True, check=False,
        )  # fmt: skip


def workers(home):
    """Processes of this home: its worker, also one that is on its way, and hooks."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if os.fsencode(home) in words:
                found.append(int(name))
    return found


def end_workers(home):
    """None may outlive a test, whatever state it is in."""
    while pids := workers(home):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


@pytest.fixture
def hooks(tmp_path):
    made = Hooks(tmp_path)
    yield made
    end_workers(made.home)
    for child in made.children:
        child.wait()


@pytest.fixture
def eventually():
    return until
