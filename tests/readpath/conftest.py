from __future__ import annotations

from datetime import UTC, datetime

import pytest

from codexmem_core.engine import Engine
from codexmem_core.plugins.discovery import in_process, installed
from codexmem_core.readpath.arguments import Search
from codexmem_core.readpath.search import MemorySearch

NOON_MS = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)


class StandingClock:
    def __init__(self):
        self.ms = NOON_MS

    def now_ms(self):
        return self.ms


@pytest.fixture
def clock():
    return StandingClock()


@pytest.fixture
def root(tmp_path):
    """The folder of Memory V1 in the engine's home."""
    root = tmp_path / "home" / "memories"
    root.mkdir(parents=True)
    return root


@pytest.fixture
def put(root):
    """Write files of the memory: path → text or bytes."""

    def write(files):
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


@pytest.fixture
def search(root):
    """Search the memory; the same object, so that the second search is a warm one."""
    memory = MemorySearch(str(root))

    def found(*queries, **asked):
        return memory.search(Search(queries=list(queries), **asked))

    return found


@pytest.fixture
def places(search):
    """(path, line) of every match."""

    def found(*queries, **asked):
        return [(match.path, match.match_line_number) for match in search(*queries, **asked).matches]

    return found


@pytest.fixture
def engine_with(tmp_path, clock):
    """A fresh engine over the one home; ``plugins`` are added to Memory V1, the Codex host and the MCP server."""
    engines = []

    def make(*plugins, config="", hosts=("host-codex",), memories=("memory-v1",), servers=("mcp",)):
        path = tmp_path / "config.toml"
        path.write_text(config)
        candidates = [one for one in installed() if one.name in (*hosts, *memories, *servers)]
        candidates += in_process(plugins)
        environ = {"HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
        engine = Engine(home=str(tmp_path / "home"), config=str(path), environ=environ, clock=clock, plugins=candidates)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(engine_with):
    return engine_with()


@pytest.fixture
def secret():
    """A token that the redaction knows, made here so that no file holds one."""
    return "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
