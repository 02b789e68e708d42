"""Claude Code passes what every host must pass, on recordings of the real program."""

import json
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.testing import FileHostContract
from codexmem_host_claude import plugin

RECORDINGS = Path(__file__).parent / "recordings"


class TestClaudeHost(FileHostContract):
    plugin = plugin
    files: ClassVar = {
        f"projects/-home-user-proj/{path.name}": path.read_bytes() for path in sorted(RECORDINGS.glob("*.jsonl"))
    }
    payloads = json.loads((RECORDINGS / "payloads.json").read_text(encoding="utf-8"))
    own_context = "MARK-PROMPT"
    set_up: ClassVar = {
        ".claude/settings.json": (RECORDINGS.parent / "set_up" / "settings.json").read_bytes(),
        ".claude.json": b'{\n\t"numStartups": 3,\n\t"mcpServers": {"maps": {"command": "maps-server"}}\n}',
    }


class TestClaudeHostBehindTheEnginesGuard(TestClaudeHost):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
