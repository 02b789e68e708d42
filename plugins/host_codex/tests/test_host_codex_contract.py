"""Codex CLI passes what every host must pass, on recordings of the real program."""

import json
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.testing import FileHostContract
from codexmem_host_codex import plugin

RECORDINGS = Path(__file__).parent / "recordings"


class TestCodexHost(FileHostContract):
    plugin = plugin
    files: ClassVar = {
        f"sessions/2026/11/30/{path.name}": path.read_bytes() for path in sorted(RECORDINGS.glob("rollout-*.jsonl"))
    }
    payloads = json.loads((RECORDINGS / "payloads.json").read_text(encoding="utf-8"))
    own_context = "MARK-SESSIONSTART"
    set_up: ClassVar = {
        f".codex/{path.name}": path.read_bytes() for path in sorted((RECORDINGS.parent / "set_up").iterdir())
    }


class TestCodexHostBehindTheEnginesGuard(TestCodexHost):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
