"""A home of its own, sessions of both hosts, and memories that can be made to fail."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import threading
import uuid
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.engine import Engine
from codexmem_core.pipeline import run
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.request import RunRequest

TURNS = (
    ("user", "Please always run the linter before you commit in this repository."),
    ("assistant", "Understood, I will run it first."),
    ("user", "Add a retry to the uploader."),
    ("assistant", "Added."),
)
MANY = "[memories]\nmax_rollouts_per_startup = 128\n"
NOW_MS = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)


class HandClock:
    """Stands still until it is turned."""

    def __init__(self, now_ms=NOW_MS):
        self.ms = now_ms

    def now_ms(self):
        return self.ms

    def turn(self, *, hours=0.0, days=0.0):
        self.ms += int((hours + 24 * days) * 3_600_000)


@pytest.fixture
def clock():
    return HandClock()


class OtherMemory(type(memory_v1)):
    """A second memory with files and a database of its own; ``trouble`` is called in each extraction."""

    def __init__(self, name="other", trouble=lambda: None):
        super().__init__()
        self.name = name
        self.trouble = trouble
        self.asked = []

    @hookimpl
    def codexmem_memory(self):
        (memory,) = super().codexmem_memory()
        return [dataclasses.replace(memory, name=self.name, folder=f"memories_{self.name}", database=f"{self.name}.db")]

    @hookimpl
    def codexmem_extract_request(self, transcript, budget_bytes):
        self.asked.append(transcript.session.id)
        self.trouble()
        return super().codexmem_extract_request(transcript, budget_bytes)


@pytest.fixture
def other_memory():
    return OtherMemory


@pytest.fixture
def codex_home(tmp_path):
    """Writes Codex rollouts; each call adds one session with the given turns."""
    root = tmp_path / "codex"

    def add(*turns, session_id=None, at=datetime(2026, 11, 29, 9, tzinfo=UTC), cwd="/home/dev/harbor", **meta):
        session_id = session_id or str(uuid.uuid4())
        stamp = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        lines = [
            {
                "type": "session_meta",
                "payload": {
                    "id": session_id, "session_id": session_id, "timestamp": stamp, "cwd": cwd, "source": "cli",
                    "originator": "codex_cli", "cli_version": "0.171.0", **meta,
                },
            }
        ]  # fmt: skip
        for role, text in turns:
            kind = "input_text" if role == "user" else "output_text"
            content = [{"type": kind, "text": text}]
            lines.append({"type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
        folder = root / "sessions" / at.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{at.strftime('%Y-%m-%dT%H-%M-%S')}-{session_id}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps({"timestamp": stamp, **line}) + "\n")
        return session_id

    add.root = root
    return add


@pytest.fixture
def engine_of(tmp_path, clock, codex_home):
    """An engine over one home; each call is a fresh command. ``memories`` are added to the installed plugins."""
    engines = []

    def make(*memories, config="", home=tmp_path / "home", with_hosts=(), beside=(), without=(), **environ):
        path = tmp_path / "config.toml"
        path.write_text(config)
        candidates = [*installed(), *in_process([(memory.name, memory) for memory in memories])]
        candidates = [
            c
            for c in candidates
            if c.name in {"memory-v1", "host-codex", *with_hosts, *beside} - set(without)
            or c.distribution == "(in process)"
        ]
        base = {"CODEX_HOME": str(codex_home.root), "HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
        engine = Engine(home=str(home), config=str(path), environ={**base, **environ}, clock=clock, plugins=candidates)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def run_with(engine_of):
    """One pass with these memories beside V1; ``beside`` names installed ones."""

    def run_once(*memories, config="", beside=(), **request):
        engine = engine_of(*memories, config=config, beside=beside)
        report = run(engine, RunRequest(**{"idle_hours": 0.0, **request}))
        engine.close()
        return report

    return run_once


@pytest.fixture
def never_ends():
    """A trouble that waits until the test is over."""
    over = threading.Event()
    yield lambda: over.wait(120)
    over.set()


@pytest.fixture
def everything_in():
    """Bytes of every file of a folder, git objects unpacked."""

    def read(folder):
        found = []
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                found.append(path.read_bytes())
                if ".git" in path.parts:
                    found += unpacked(found[-1])
        return b"\n".join(found)

    return read


def unpacked(content):
    """A pack holds deflated streams one after the other; each begins with a zlib header."""
    for start in range(len(content)):
        if content[start : start + 1] == b"x":
            try:
                yield zlib.decompressobj().decompress(content[start:])
            except zlib.error:
                continue


class Both:
    """Memory V1 and Memory V2 in one home, as they lie on the disk."""

    names = ("v1", "v2")
    other: ClassVar = {"v1": "v2", "v2": "v1"}

    def __init__(self, home):
        self.home = home

    def database(self, memory):
        return self.home / {"v1": "memory.db", "v2": "memory_v2.db"}[memory]

    def folder(self, memory):
        return self.home / {"v1": "memories", "v2": "memories_v2"}[memory]

    def notes(self, memory):
        """Ids of the sessions of which there is a note."""
        with sqlite3.connect(self.database(memory)) as database:
            rows = database.execute("SELECT session_id FROM memory_stage1_outputs ORDER BY 1").fetchall()
        database.close()
        return [row[0] for row in rows]

    def summary(self, memory):
        return (self.folder(memory) / "memory_summary.md").read_text()

    def text(self, memory):
        files = sorted(self.folder(memory).rglob("*.md"))
        return "\n".join(path.read_text() for path in files if ".git" not in path.parts)


@pytest.fixture
def both(tmp_path):
    return Both(tmp_path / "home")


@pytest.fixture
def sessions(codex_home):
    return sorted(codex_home(*TURNS) for _ in range(4))


@pytest.fixture
def learn(run_with):
    """One pass of both, with a scripted model when one is given."""

    def once(model=None, models="", config="", **request):
        plugins = (model,) if model else ()
        settings = f'[models]\nbackend = "scripted"\n{models}\n{MANY}' if model else ""
        return run_with(*plugins, config=settings + config, beside=("memory-v2",), **{"now": True, **request})

    return once
