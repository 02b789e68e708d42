"""A user with agents' homes of their own, and codexmem as a program of its own beside them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import os, signal, sys
when = int(sys.argv.pop(1))
log = sys.argv.pop(1)
reached = 0
names = open(log, "a") if log else None
def hook(event, arguments):
    global reached
    if event != "codexmem.instant":
        return
    reached += 1
    if names is not None:
        names.write(arguments[0] + "\\n"); names.flush()
    if reached == when:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
sys.argv[0] = "codexmem"
from codexmem_core.cli import main
main()
"""


class User:
    """One user's files; every command is a process."""

    def __init__(self, place: Path):
        self.place = place
        self.home = place / "user"
        self.memory = place / "codexmem"
        self.config = place / "config.toml"
        self.home.mkdir(parents=True, exist_ok=True)
        self.claude = self.home / ".claude"
        self.codex = self.home / ".codex"

    def settings(self, text):
        self.config.write_text(text)

    def codexmem(self, *arguments, kill_at=0, instants="", **environ):
        """Run a command; the JSON object that it prints, its exit status being 0 or 1, or None when it was killed."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        command = [sys.executable, "-c", CHILD, str(kill_at), str(instants)]
        command += ["--home", str(self.memory), "--config", str(self.config), "--json", *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**kept, "HOME": str(self.home), **environ},
        )
        if kill_at and done.returncode == -signal.SIGKILL:
            return None
        assert done.returncode in (0, 1), done.stderr
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def run(self, **options):
        """A pass that takes in everything; without warnings, unless they are asked for."""
        wanted = options.pop("warnings", [])
        report = self.codexmem("run", "--idle-hours", "0", **options)
        if report is not None:
            assert [warning for warning in report["warnings"] if not any(one in warning for one in wanted)] == []
            assert report["errors"] == []
        return report

    def session(self, *turns, id_="3f0c1a52-0000-4000-8000-000000000001", cwd=""):
        """A Claude Code transcript, which gives its directory to the project's memories."""
        cwd = cwd or str(self.home / "shop")
        Path(cwd).mkdir(parents=True, exist_ok=True)
        lines = [
            {
                "type": role, "sessionId": id_, "cwd": cwd, "timestamp": f"2026-11-29T09:00:{number:02}.000Z",
                "message": {"role": role, "content": text},
            }
            for number, (role, text) in enumerate(turns or (("user", "hello"), ("assistant", "hello")))
        ]  # fmt: skip
        path = self.project(cwd) / f"{id_}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def project(self, cwd=""):
        cwd = cwd or str(self.home / "shop")
        return self.claude / "projects" / "".join(sign if sign.isalnum() else "-" for sign in cwd)

    def claude_memory(self, path, text, cwd=""):
        target = self.project(cwd) / "memory" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def files(self, under):
        """Path → content of everything below, what git and databases keep left out."""
        root = self.place / under
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and not {".git", ".codex-baseline"} & set(path.parts) and ".db" not in path.suffixes
        }

    # Trials that begin from one state

    def keep(self):
        """Remember how everything is now."""
        shutil.copytree(self.place, self.place.with_name("kept"), symlinks=True)

    def restore(self):
        """Everything as it was kept."""
        shutil.rmtree(self.place)
        shutil.copytree(self.place.with_name("kept"), self.place, symlinks=True)

    def killed_at_each(self, instants, **options):
        """Restore, and kill a run at each of these instants, numbers in the log; the caller goes on from there."""
        for number in instants:
            self.restore()
            assert self.run(kill_at=number, **options) is None, number
            yield number


@pytest.fixture
def user(tmp_path):
    return User(tmp_path / "machine")


@pytest.fixture
def command(user):
    """Run codexmem as people do: exit status, and everything that it printed."""

    def run(*arguments, **environ):
        where = ("--home", str(user.memory), "--config", str(user.config))
        environ = {"HOME": str(user.home), "PATH": "/usr/bin:/bin", **environ}
        program = (sys.executable, "-m", "codexmem_core.cli")
        done = subprocess.run([*program, *where, *arguments], capture_output=True, text=True, check=False, env=environ)
        return done.returncode, done.stdout + done.stderr

    return run
