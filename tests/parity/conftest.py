"""A home with Memory V1 and the Codex host, sessions for it, and a model that says what it is told to."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.engine import Engine
from codexmem_core.pipeline import run
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.request import RunRequest

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
NINE_THE_DAY_BEFORE = datetime(2026, 11, 29, 9, tzinfo=UTC)


class StandingClock:
    """Noon, until it is turned."""

    def __init__(self):
        self.ms = int(NOON.timestamp() * 1000)

    def now_ms(self):
        return self.ms


class Scripted:
    """A plugin with a model that gives one answer and remembers how often it was asked."""

    name = "scripted"

    def __init__(self, *, costs=False):
        self.costs = costs
        self.answer = {"rollout_summary": "# A crane", "rollout_slug": "crane", "raw_memory": "The crane stands."}
        self.asked = []

    @hookimpl
    def codexmem_models(self):
        def ask(request, transcript, services):
            self.asked.append(request)
            return Reply(data=self.answer)

        return [ModelBackend(name="scripted", summary="says what it is told to", costs=self.costs, ask=ask)]


@pytest.fixture
def clock():
    return StandingClock()


@pytest.fixture
def model():
    return Scripted()


@pytest.fixture
def paid_model():
    return Scripted(costs=True)


@pytest.fixture
def codex_home(tmp_path):
    """Writes a Codex rollout, or goes on with one: records are (role, text) or whole payloads of response items."""
    root = tmp_path / "codex"

    def add(*records, session_id=None, cwd="/home/dev/harbor"):
        begins = session_id is None
        session_id = session_id or str(uuid.uuid4())
        stamp = NINE_THE_DAY_BEFORE.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        meta = {"id": session_id, "timestamp": stamp, "cwd": cwd, "source": "cli"}
        lines = [{"type": "session_meta", "payload": meta}] if begins else []
        lines += [
            {"type": "response_item", "payload": record if isinstance(record, dict) else _said(*record)}
            for record in records
        ]
        folder = root / "sessions" / "2026" / "11" / "29"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"rollout-2026-11-29T09-00-00-{session_id}.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"timestamp": stamp, **line}) + "\n" for line in lines)
        return session_id

    add.root = root
    return add


def _said(role, text):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


@pytest.fixture
def engine_of(tmp_path, clock, codex_home):
    """A fresh engine over the one home; plugins are added to Memory V1 and the Codex host, but for one ``without``."""
    engines = []

    def make(*plugins, config="", without=""):
        path = tmp_path / "config.toml"
        path.write_text(config)
        candidates = [one for one in installed() if one.name in {"memory-v1", "host-codex"} - {without}]
        candidates += in_process([(plugin.name, plugin) for plugin in plugins])
        environ = {"CODEX_HOME": str(codex_home.root), "HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
        engine = Engine(home=str(tmp_path / "home"), config=str(path), environ=environ, clock=clock, plugins=candidates)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def run_once(engine_of):
    """One pass, as a command of its own; its report."""

    def once(*plugins, config="", **request):
        engine = engine_of(*plugins, config=config)
        report = run(engine, RunRequest(**{"idle_hours": 0.0, **request}))
        engine.close()
        return report

    return once
