"""A real home that the sample sessions filled, and the server as a real process in front of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

SAMPLES = Path(__file__).resolve().parents[3] / "contrib" / "samples"
COMMAND = (sys.executable, "-I", "-m", "codexmem_core.cli")
LONGEST_S = 60.0
"""Nothing here takes a second on a quiet machine."""


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """Made once: what ``codexmem run`` remembers of the sample sessions."""
    place = tmp_path_factory.mktemp("filled")
    (place / "config.toml").touch()
    options = ("--home", place / "home", "--config", place / "config.toml")
    subprocess.run([*COMMAND, *options, "run", "--sessions", SAMPLES, "--now"], check=True, stdout=subprocess.DEVNULL)
    return place


@pytest.fixture
def place(filled, tmp_path):
    """A copy of it, with a project to work in: home, config.toml, project."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    (tmp_path / "project").mkdir()
    return tmp_path


@pytest.fixture
def argv(place):
    """The command as ``setup`` enters it into a host; the host's name is left to add."""
    return [*COMMAND, "--home", str(place / "home"), "--config", str(place / "config.toml"), "mcp"]


@pytest.fixture
def environ(place):
    """What a host lets through to a server, and not the user's own codexmem. The engine's tools alone are served."""
    return {"HOME": str(place), "PATH": "/usr/bin:/bin", "CODEXMEM_DISABLE": "ov-commit"}


@pytest.fixture
def connected(argv, environ, place):
    """Let an async function talk to a server through the official client; gives what it returns."""

    def talk(conversation, *, host="codex", mode="legacy", answer=None, **env):
        async def once():
            where = {"env": {**environ, **env}, "cwd": place / "project"}
            server = StdioServerParameters(command=argv[0], args=[*argv[1:], host], **where)
            with anyio.fail_after(LONGEST_S):
                async with Client(server, mode=mode, elicitation_callback=answer) as client:
                    return await conversation(client)

        return anyio.run(once)

    return talk


@pytest.fixture
def called(connected):
    """The texts of calls, one after the other in one connection: (tool, arguments) or (tool, arguments, meta)."""

    def call(*calls, **options):
        async def conversation(client):
            texts = []
            for name, arguments, *meta in calls:
                result = await client.call_tool(name, arguments, meta=meta[0] if meta else None)
                assert not result.is_error
                (part,) = result.content
                texts.append(part.text)
            return texts

        return connected(conversation, **options)

    return call


class User:
    """Answers forms as it is told to, one after the other; keeps what it was shown."""

    def __init__(self, *answers):
        self.answers, self.shown = list(answers), []

    async def __call__(self, _context, params):
        self.shown.append(params.message)
        action, content = self.answers.pop(0)
        return types.ElicitResult(action=action, content=content)


@pytest.fixture
def user():
    return User


class Wire:
    """The server's standard input and output, byte for byte."""

    def __init__(self, process):
        self.process = process
        self.printed = []

    def send(self, line):
        raw = line if isinstance(line, bytes) else json.dumps({"jsonrpc": "2.0", **line}).encode()
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        self.printed.append(line)
        return json.loads(line)

    def ask(self, id_, method, **params):
        self.send({"id": id_, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == id_
        return answer

    def shake_hands(self, **capabilities):
        client = {"name": "wire", "version": "1"}
        answer = self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities=capabilities, clientInfo=client)
        self.send({"method": "notifications/initialized"})
        return answer["result"]


@pytest.fixture
def wire(argv, environ, place):
    """Starts a server and speaks to it without a client between; ends it in any case."""

    @contextmanager
    def start(host="codex", **env):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([*argv, host], cwd=place / "project", env={**environ, **env}, **pipes)
        try:
            yield Wire(process)
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(OSError):
                    stream.close()
            process.wait()

    return start
