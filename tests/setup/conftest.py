"""A machine in a temporary folder: an environment of its own with codexmem in it, and homes of agents."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
import venv

import pytest

from codexmem_core.host.spool import Spool

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR")


class Machine:
    """Runs commands there, each in a process, with nothing of this machine's homes or settings."""

    def __init__(self, root):
        self.root = root
        self.home = root / "home"
        self.home.mkdir(parents=True)
        self.environ = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | {"HOME": str(self.home)}
        self.environ["CODEXMEM_DISABLE"] = "mcp,ov-commit"  # most tests are about hooks; see `with_server`
        self.python = sys.executable

    def with_server(self):
        """The MCP server is installed too."""
        self.environ["CODEXMEM_DISABLE"] = "ov-commit"

    @property
    def codexmem_home(self):
        return self.home / ".local" / "share" / "codexmem"

    @property
    def config(self):
        return self.home / ".config" / "codexmem" / "config.toml"

    def run(self, *arguments, typed=None):
        """Exit status, and what was printed."""
        done = subprocess.run(
            [self.python, "-m", "codexmem_core.cli", *map(str, arguments)],
            input="" if typed is None else typed,
            env=self.environ,
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    def program(self, code, *arguments):
        """Exit status of a program of the test's own."""
        argv = [self.python, "-c", code, *map(str, arguments)]
        return subprocess.run(argv, env=self.environ, cwd=self.root, check=False, timeout=120).returncode

    def set_up(self, *hosts):
        status, printed = self.run("setup", "--yes", *hosts)
        assert status == 0, printed
        return printed

    def doctor(self):
        """What is not as it should be with hosts."""
        found = json.loads(self.run("doctor", "--json")[1])["findings"]
        return [each for each in found if each["check"] == "hooks" and each["level"] in ("warn", "fail")]

    def fired(self, host, event, payload, header=""):
        """A hook ran, and a pass has taken its event in."""
        spool = Spool(str(self.codexmem_home / "spool"))
        spool.write(host, event, json.dumps(payload).encode(), at_ms=1_796_000_000_000, header=header)
        assert self.run("run")[0] == 0

    def own_python(self, name):
        """An interpreter in an environment of its own, in which everything that is installed here is installed too."""
        folder = self.root / name
        venv.create(folder, with_pip=False)
        (packages,) = folder.glob("lib/python3*/site-packages")
        (packages / "here.pth").write_text("".join(f"{path}\n" for path in sys.path if os.path.isdir(path)))
        self.python = str(folder / "bin" / "python")
        return folder

    def path(self, name):
        return self.home / name

    def write(self, name, content):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return path

    def read(self, name):
        return self.path(name).read_text(encoding="utf-8")

    def json(self, name):
        return json.loads(self.read(name))

    def tree(self):
        """Every file of the agents, with its content."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home)): path.read_bytes() for path in files if ".local" not in path.parts}


class Terminal:
    """A command in front of somebody who types."""

    def __init__(self, machine, *arguments):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [machine.python, "-m", "codexmem_core.cli", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, env=machine.environ, cwd=machine.root,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def until(self, text):
        """Read on until the text has been printed, or the command has ended."""
        start, ends_at = len(self.seen), time.monotonic() + 120
        while text not in self.seen[start:]:
            assert select.select([self.ours], [], [], max(0, ends_at - time.monotonic()))[0], self.seen
            try:
                self.seen += os.read(self.ours, 65536).decode()
            except OSError:
                break
        return self.seen[start:]

    def type(self, text):
        os.write(self.ours, text.encode())

    def end(self):
        self.until("\0")
        os.close(self.ours)
        return self.process.wait(timeout=60)


@pytest.fixture
def terminal_of(machine):
    """A command of the machine's in front of somebody who types."""
    return lambda *arguments: Terminal(machine, *arguments)


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path / "machine")
    yield machine
    shutil.rmtree(machine.root)
