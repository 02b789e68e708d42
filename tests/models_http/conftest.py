"""A home with sessions of Codex in it, and engines whose model is a scripted server on loopback."""

from __future__ import annotations

import json
import shutil
import uuid
from datetime import UTC, datetime

import pytest
from codexmem_hookspecs.values.extract import ExtractionRequest
from fake_anthropic import FakeAnthropic
from fake_openai import FakeOpenAI

from codexmem_core.engine import Engine
from codexmem_core.pipeline import run
from codexmem_core.plugins.discovery import installed
from codexmem_core.request import RunRequest

KEY_VARIABLE = "MODEL_KEY"
KEY = "kz-loopback-0123456789"
NOTE = {"rollout_summary": "# Harbor\n\nThe crane stands.", "rollout_slug": "crane", "raw_memory": "The crane stands."}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["color", "size"],
    "properties": {"color": {"type": "string"}, "size": {"type": "integer"}},
}
WIRES = ("responses", "chat", "messages")


class HandClock:
    """Stands still until it is turned."""

    def __init__(self):
        self.ms = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)

    def now_ms(self):
        return self.ms

    def turn(self, *, hours=0.0, seconds=0.0):
        self.ms += int(hours * 3_600_000 + seconds * 1000)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    """What is asked again is asked again soon."""
    monkeypatch.setattr("codexmem_core.services.models.FIRST_PAUSE_S", 0.01)


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture(params=WIRES)
def wire(request):
    return request.param


@pytest.fixture
def serve():
    """A running server for a wire: ``serve(wire, *steps)``."""
    servers = []

    def start(wire, *steps):
        server = (FakeAnthropic if wire == "messages" else FakeOpenAI)(script=list(steps))
        servers.append(server)
        return server.__enter__()

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture
def config_of():
    """The settings that lead to a server; further lines of [models], and of other tables."""

    def config(server, wire, models="", other=""):
        backend = "anthropic" if wire == "messages" else "openai"
        url = server.url if wire == "messages" else f"{server.url}/v1"
        lines = [f'backend = "{backend}"', f'base_url = "{url}"', f'api_key_env = "{KEY_VARIABLE}"']
        lines += [] if wire == "messages" else [f'wire = "{wire}"']
        lines += [] if "model =" in models else ['model = "little"']
        return "\n".join(["[models]", *lines, models, other])

    return config


@pytest.fixture
def codex_home(tmp_path):
    """Adds a Codex rollout with the user's words, and answers its session id."""
    root = tmp_path / "codex"

    def add(*said, session_id=None, at=datetime(2026, 11, 29, 9, tzinfo=UTC)):
        session_id = session_id or str(uuid.uuid4())
        stamp = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        meta = {"id": session_id, "timestamp": stamp, "cwd": "/home/dev/harbor", "source": "cli"}
        lines = [{"type": "session_meta", "payload": meta}]
        for text in said:
            content = [{"type": "input_text", "text": text}]
            lines.append({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}})
        folder = root / "sessions" / at.strftime("%Y/%m/%d")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-{at.strftime('%Y-%m-%dT%H-%M-%S')}-{session_id}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"timestamp": stamp, **line}) + "\n" for line in lines)
        return session_id

    add.root = root
    return add


@pytest.fixture(scope="session")
def candidates():
    return [candidate for candidate in installed() if candidate.name in ("memory-v1", "host-codex")]


@pytest.fixture(scope="session")
def empty_databases(tmp_path_factory, candidates):
    """As a first command makes them: made once, for that is most of a short test's time."""
    home = tmp_path_factory.mktemp("empty")
    engine = Engine(home=str(home), config=str(home / "none.toml"), environ={}, plugins=candidates)
    with engine.jobs("memory-v1"):
        paths = engine.catalogue and list(home.glob("*.db"))
    engine.close()
    assert len(paths) == 2
    return paths


@pytest.fixture
def engine_of(tmp_path, clock, codex_home, candidates, empty_databases):
    """An engine over the one home; each call is a fresh command."""
    engines = []
    (tmp_path / "home").mkdir(mode=0o700)
    for path in empty_databases:
        shutil.copy(path, tmp_path / "home")

    def make(config, **environ):
        path = tmp_path / "config.toml"
        path.write_text(config)
        base = {
            "CODEX_HOME": str(codex_home.root), "HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin",
            KEY_VARIABLE: KEY,
        }  # fmt: skip
        engine = Engine(
            home=str(tmp_path / "home"),
            config=str(path),
            environ={**base, **environ},
            clock=clock,
            plugins=candidates,
        )
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def extract(engine_of):
    """One pass that extracts and does not consolidate; its report."""

    def once(config, **environ):
        engine = engine_of(config, **environ)
        report = run(engine, RunRequest(idle_hours=0.0, consolidate=False))
        engine.close()
        return report

    return once


@pytest.fixture
def question():
    """Makes a request with a schema of two fields."""

    def make(text="What color is it?", instructions="Look closely.", **more):
        return ExtractionRequest(instructions=instructions, input=text, schema=SCHEMA, schema_name="thing", **more)

    return make


@pytest.fixture
def ask(engine_of, question):
    """Asks the model of a configuration once, as a plugin would."""

    def once(config, request=None, environ=None):
        engine = engine_of(config, **(environ or {}))
        return engine.services_for("memory-v1").models.ask(request or question(), None)

    return once
