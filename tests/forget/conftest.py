"""A home with sessions of Codex, learned by Memory V1; and everything that is in it, down to the bytes."""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from codexmem_hookspecs import hookimpl
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.engine import Engine
from codexmem_core.pipeline import run
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.request import RunRequest

NOW_MS = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)


class HandClock:
    def __init__(self):
        self.ms = NOW_MS

    def now_ms(self):
        return self.ms

    def turn(self, *, hours):
        self.ms += int(hours * 3_600_000)


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def codex_home(tmp_path):
    """Writes Codex rollouts; each call adds one session, or goes on with one, with the given turns."""
    root = tmp_path / "codex"

    def add(*turns, session_id=None, at=datetime(2026, 11, 29, 9, tzinfo=UTC), cwd="/home/dev/harbor", items=()):
        session_id = session_id or str(uuid.uuid4())
        stamp = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        folder = root / "sessions" / at.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{at.strftime('%Y-%m-%dT%H-%M-%S')}-{session_id}.jsonl"
        lines = []
        if not path.exists():
            meta = {"id": session_id, "session_id": session_id, "timestamp": stamp, "cwd": cwd, "source": "cli",
                    "originator": "codex_cli", "cli_version": "0.171.0"}  # fmt: skip
            lines.append({"type": "session_meta", "payload": meta})
        for role, text in turns:
            kind = "input_text" if role == "user" else "output_text"
            message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
            if role == "assistant":
                message["phase"] = "final_answer"
            lines.append({"type": "response_item", "payload": message})
        lines += [{"type": "response_item", "payload": item} for item in items]
        with path.open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps({"timestamp": stamp, **line}) + "\n")
        return session_id

    add.root = root
    add.path = lambda session_id: next((root / "sessions").rglob(f"*{session_id}.jsonl"))
    return add


@pytest.fixture
def engine_of(tmp_path, home, clock, codex_home):
    """An engine over the one home; each call is a fresh command. ``plugins`` are added to Memory V1 and Codex."""
    engines = []

    def make(*plugins, config="", without=()):
        path = tmp_path / "config.toml"
        path.write_text(config)
        candidates = [one for one in installed() if one.name in {"memory-v1", "host-codex"} - set(without)]
        candidates += in_process([(plugin.name, plugin) for plugin in plugins])
        environ = {"CODEX_HOME": str(codex_home.root), "HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
        engine = Engine(home=str(home), config=str(path), environ=environ, clock=clock, plugins=candidates)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def learn(engine_of):
    """One pass over all sessions."""

    def once(*plugins, config="", now=True, **options):
        engine = engine_of(*plugins, config=config, **options)
        report = run(engine, RunRequest(idle_hours=0.0, all_ages=True, now=now))
        engine.close()
        # A session whose transcript is gone fails by itself; the memories and the run must not.
        assert not report.errors, report
        assert all(memory.status != "failed" for memory in report.memories.values()), report
        return report

    return once


@pytest.fixture
def command(engine_of):
    """Run ``codexmem`` with arguments: (exit status, what it printed)."""

    def call(*arguments, plugins=(), config="", **options):
        state = State()
        state._engine = engine_of(*plugins, config=config, **options)
        result = CliRunner().invoke(codexmem, [str(one) for one in arguments], obj=state)
        state.close()
        said = result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.output if said else str(result.exception)

    return call


@pytest.fixture
def places_of(home):
    """Files of the home in which something stands: names, bytes, and git objects unpacked, loose and in packs."""

    def search(*needles):
        wanted = [needle.lower().encode() for needle in needles]
        found = []
        for path in sorted(Path(home).rglob("*")):
            name = str(path.relative_to(home))
            contents = [name.encode()]
            if path.is_file():
                contents.append(path.read_bytes())
                if ".git" in path.parts:
                    contents += unpacked(path.read_bytes())
            if any(needle in content.lower() for needle in wanted for content in contents):
                found.append(name)
        return found

    return search


def unpacked(content):
    """Every deflated stream in a file: each begins with a zlib header."""
    for header in re.finditer(rb"x[\x01\x5e\x9c\xda]", content):
        try:
            yield zlib.decompressobj().decompress(content[header.start() :])
        except zlib.error:
            continue


class OtherMemory(type(memory_v1)):
    """A second memory with files and a database of its own."""

    name = "other"

    @hookimpl
    def codexmem_memory(self):
        (memory,) = super().codexmem_memory()
        return [dataclasses.replace(memory, name="other", folder="memories_other", database="other.db")]


@pytest.fixture
def other_memory():
    return OtherMemory()
