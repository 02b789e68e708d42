"""OpenCode passes what every host must pass, on recordings of the real program."""

import json
from pathlib import Path
from typing import ClassVar

import pytest
from codexmem_hookspecs.testing import HostContract
from codexmem_host_opencode import plugin

HERE = Path(__file__).parent
RECORDED = ("tools-question-subagent-compaction", "run-and-continue", "recalled")


def recording(name):
    return json.loads((HERE / "recordings" / f"{name}.json").read_text(encoding="utf-8"))


class TestOpenCodeHost(HostContract):
    plugin = plugin
    payloads = recording("payloads")
    own_context = "MARK-RECALLED"
    set_up: ClassVar = {
        ".config/opencode/opencode.jsonc": (HERE / "set_up" / "opencode.jsonc").read_bytes(),
    }

    @pytest.fixture
    def codexmem_services(self, network, server):
        network.settings["url"] = server.url
        network.settings["program"] = "/nowhere/opencode"
        self.server = server
        return network

    def fill(self, services):
        for name in RECORDED:
            self.server.put(recording(name))
