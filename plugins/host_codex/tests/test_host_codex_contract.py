"""Codex CLI passes what every host must pass, on recordings of the real program."""

import json
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.testing import FileHostContract
from codexmem_hookspecs.values.read import Caller
from codexmem_host_codex import plugin

RECORDINGS = Path(__file__).parent / "recordings"
META = {
    "callId": "call_1_0",
    "threadId": "01a22e0c-7130-79e3-9dc9-a67856cdff9c",
    "sessionId": "01a22e0c-7130-79e3-9dc9-a67856cdff9c",
    "itemId": "fc_1_0",
    "progressToken": 1,
    "x-codex-turn-metadata": {"turn_id": "01a22e0c-7164-7932-b24c-6fd20a352008", "codex_version": "0.171.0"},
}
"""What Codex 0.171 sent beside the arguments of a call."""


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
    callers = (
        (Caller(host="codex", cwd="/home/user/proj", meta=META), {}, {}, META["sessionId"]),
        (
            Caller(host="codex", cwd="/home/user/proj", meta={**META, "threadId": "a subagent's"}),
            {},
            {},
            META["sessionId"],
        ),
        (Caller(host="codex", cwd="/", meta={"x-codex-turn-metadata": {"session_id": "older"}}), {}, {}, "older"),
    )


class TestCodexHostBehindTheEnginesGuard(TestCodexHost):
    """The same with the engine's own reader of files."""

    @pytest.fixture
    def codexmem_services(self, guarded_services):
        return guarded_services
