"""A machine with Codex CLI and Claude Code on it, whose recorded hooks and transcripts can be played back."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Reaction

from codexmem_core.engine import Engine
from codexmem_core.pipeline import run
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.request import RunRequest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
BEGAN_MS = int(datetime(2026, 11, 30, 18, tzinfo=UTC).timestamp() * 1000)
"""After everything that was recorded."""
HOUR_MS = 3_600_000


class Listener:
    """Hears of every event."""

    name = "listener"

    def __init__(self):
        self.heard = []

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind=kind) for kind in ("start", "prompt", "tool", "stop", "idle", "compaction", "end")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        self.heard.append((event.session.id, event.kind))


class Machine:
    """Time passes only when it is told to, and files are as old as their last record."""

    def __init__(self, folder):
        self.folder = folder
        self.ms = BEGAN_MS
        self.listener = Listener()
        self.engines = []

    def now_ms(self):
        return self.ms

    def wait(self, *, hours):
        self.ms += int(hours * HOUR_MS)

    def engine(self):
        """Each is a fresh command."""
        names = {"memory-v1", "host-codex", "host-claude"}
        candidates = [one for one in installed() if one.name in names] + in_process([("listener", self.listener)])
        environ = {
            "CODEX_HOME": str(self.folder / ".codex"),
            "CLAUDE_CONFIG_DIR": str(self.folder / ".claude"),
            "HOME": str(self.folder),
            "PATH": "/usr/bin:/bin",
        }
        config = str(self.folder / "config.toml")
        home = str(self.folder / "home")
        engine = Engine(home=home, config=config, environ=environ, clock=self, plugins=candidates)
        self.engines.append(engine)
        return engine

    def run(self, **request):
        """One pass, as a hook's worker makes it."""
        engine = self.engine()
        report = run(engine, RunRequest(**request))
        engine.close()
        assert not report.errors, report
        assert all(memory.status != "failed" for memory in report.memories.values()), report
        return report

    def reasons(self, **request):
        """Why a pass leaves sessions out, by session."""
        return {row.session: row.reason for row in self.run(**request).skipped}

    # what hosts do

    def fire(self, host, *payloads):
        """Hooks run one after the other, each with a payload as it was recorded."""
        spool = self.engine().spool
        for payload in payloads:
            self.ms += 1_000
            spool.write(host, payload["hook_event_name"], json.dumps(payload).encode(), at_ms=self.ms)

    def write(self, host, name, lines):
        """Add lines to a transcript; its time is now."""
        below = {"codex": ".codex/sessions/2026/11/30", "claude": ".claude/projects/-home-user-proj"}[host]
        path = self.folder / below / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        os.utime(path, ns=(self.ms * 1_000_000,) * 2)
        return path

    # what there is afterwards

    def said(self, host, session_id):
        """(tier, text) of what extraction reads of a session, tools left out."""
        engine = self.engine()
        session = engine.catalogue.session(host, session_id).session
        return [(item.tier, item.text) for item in engine.transcripts.open(session) if item.tool is None]

    def notes(self):
        """(host, id) of the sessions that were learned from."""
        with self.engine().jobs("memory-v1") as jobs:
            return sorted(tuple(output.key) for output in jobs.outputs())

    def note(self, host, session_id):
        with self.engine().jobs("memory-v1") as jobs:
            return jobs.output(host, session_id)

    def ended(self, host, session_id):
        return self.engine().catalogue.session(host, session_id).ended_at_ms > 0


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path)
    yield machine
    for engine in machine.engines:
        engine.close()


@pytest.fixture(scope="session")
def recorded():
    """Payloads of a host's hooks, in their order, by a beginning of the session's id."""

    def payloads(host, beginning="", **fields):
        path = PLUGINS / f"host_{host}" / "tests" / "recordings" / "payloads.json"
        found = [payload for _, payload in json.loads(path.read_text())]
        return [
            payload
            for payload in found
            if payload["session_id"].startswith(beginning)
            and all(payload.get(name) == value for name, value in fields.items())
        ]

    return payloads


@pytest.fixture(scope="session")
def transcript():
    """Lines of a recorded transcript."""
    return lambda host, name: (PLUGINS / f"host_{host}" / "tests" / "recordings" / name).read_text().splitlines()
