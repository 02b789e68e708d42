"""The whole way in OpenCode 2: what is told in one session is in the system's words of the next, by set-up alone."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_opencode2 import FakeOpenCode2

from .plugin_file import run
from .plugin_file2 import asks, happens, prompts, systems
from .second_messages import assistant, text, user

FACT = "the harbor service is released with the lighthouse script"
PROMPT = f"Remember for all my projects: {FACT}, never by hand."
COMMAND = (sys.executable, "-I", "-m", "codexmem_core.cli")
LONGEST_S = 90.0
OVER = happens("session.execution.succeeded")


class Account:
    """A user with an empty home, set up for OpenCode 2."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.project = folder / "project"
        self.project.mkdir()
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.codexmem("setup", "opencode", "--yes")
        self.plugin = folder / "codexmem.mjs"  # by this name node takes it for a module, as OpenCode does by any
        shutil.copy(self.home / ".config" / "opencode" / "plugin" / "codexmem.js", self.plugin)
        self.memory = Path(json.loads(self.codexmem("--json", "status"))["home"])

    def codexmem(self, *arguments, status=0):
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=self.project, env=self.environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def plays(self, *steps, sessions):
        """One process of OpenCode 2."""
        seen = self.memory / "plugins" / "host-opencode" / "seen"
        host = {"sessions": sessions, "messages": {}, "servers": [], "deaf": 0, "seen": str(seen)}
        begin, end = {"begin": str(self.project)}, {"end": str(self.project)}
        scenario = {"file": str(self.plugin), "host": host, "steps": [begin, *steps, end]}
        return run(2, scenario, self.plugin.with_name("scenario.json"), self.environ)

    def until_ready(self, words):
        """Wait for the worker that the hooks started."""
        ready = self.memory / "read" / "opencode-session.start-startup"
        end = time.monotonic() + LONGEST_S
        while not (ready.exists() and words in ready.read_text()):
            assert time.monotonic() < end, self.codexmem("status")
            time.sleep(0.1)


@pytest.fixture
def account(tmp_path):
    account = Account(tmp_path)
    yield account
    account.codexmem("worker", "--stop")


def test_what_is_told_in_one_session_is_in_the_next_ones_system(account):
    with FakeOpenCode2() as service:
        service.register(account.home / ".local" / "state" / "opencode")
        now_ms = int(time.time() * 1000)
        said = [user(PROMPT, at=1), assistant(text("Noted."), at=2)]
        service.put("ses_1", *said, directory=str(account.project), updated=now_ms)
        account.plays(prompts(PROMPT), asks(), OVER, sessions=service.sessions)
        account.until_ready(FACT)
        ((given,),) = systems(account.plays(prompts("go on", "ses_2"), asks(id_="ses_2"), sessions={}))
        assert FACT in given
        assert "codexmem_memory_search" in given, "the tools are named as the plugin file registers them"
        status = account.codexmem("status")
        assert "opencode-2: OpenCode 2 (unverified against the real program): service http://127.0.0.1:" in status
    status = account.codexmem("status")
    assert "unavailable" in status
    assert "start OpenCode 2" in account.codexmem("doctor")
