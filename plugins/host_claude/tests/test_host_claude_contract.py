"""Claude Code passes what every host must pass, on recordings of the real program."""

import json
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.testing import FileHostContract
from codexmem_hookspecs.values.read import Caller
from codexmem_host_claude import plugin

RECORDINGS = Path(__file__).parent / "recordings"
CALL = Caller(host="claude", cwd="/home/user/proj", parent=30627, meta={"claudecode/toolUseId": "toolu_2_0"})
ENVIRON = {"HOME": "/home/user", "CLAUDE_CODE_SESSION_ID": "at-start"}
RUNNING = "/home/user/.claude/sessions/30627.json"


def running(session_id, pid=30627):
    """What Claude Code 2.1.197 keeps on a process of its own."""
    more = {"cwd": "/home/user/proj", "kind": "interactive", "version": "2.1.197", "status": "busy"}
    return json.dumps({"pid": pid, "sessionId": session_id, **more}).encode()


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
    callers = (
        (CALL, ENVIRON, {RUNNING: running("after-clear")}, "after-clear"),
        (CALL, ENVIRON, {}, "at-start"),
        (CALL, ENVIRON, {RUNNING: running("another's", pid=4711)}, "at-start"),
        (CALL, ENVIRON, {RUNNING: b"half a li"}, "at-start"),
    )


class TestClaudeHostBehindTheEnginesGuard(TestClaudeHost):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
