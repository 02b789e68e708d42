"""A user's account on a computer of its own: an empty home, a project, codexmem, and nothing of the real user's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from realhosts.conversation import until

KEPT = ("PATH", "LANG", "TZ", "TMPDIR")
PLACE = "from codexmem_core.paths import default_home; print(default_home())"
COMMAND_S = 60.0
PUBLISHED_S = 20.0
GONE_S = 20.0


class Machine:
    """The account. Everything that a host or codexmem writes lies below ``root``."""

    def __init__(self, root: Path):
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.environ = {name: os.environ[name] for name in KEPT if name in os.environ} | {"HOME": str(self.home)}
        self.home.mkdir(parents=True)
        self.make_project(self.project)
        self.memory_home = Path(self._printed([sys.executable, "-I", "-c", PLACE]).strip())

    def make_project(self, folder):
        """A git repository with one commit."""
        folder.mkdir(parents=True)
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        for command in (("init", "-q", "."), (*identity, "commit", "-q", "--allow-empty", "-m", "Begin")):
            self._printed(["git", *command], cwd=folder)
        return folder

    def codexmem(self, *arguments):
        """Run a command of ours as the user would; what it printed."""
        return self._printed([sys.executable, "-I", "-m", "codexmem_core.cli", *arguments])

    def _printed(self, command, cwd=None):
        done = subprocess.run(
            command,
            cwd=cwd or self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def until_known(self, text, host):
        """Wait until the hooks and the worker that they started made a memory that the host's next session is given."""

        def published():
            ready = self.memory_home.glob(f"read/{host.name}-*")
            return any(text.encode() in path.read_bytes() for path in ready)

        until(published, f"{text!r} in what {host.name} is told", PUBLISHED_S)

    def processes(self):
        """Ids of all processes of this account that run now, and what each is."""
        return dict(_processes_of(self.home))

    def workers(self):
        """Ids of the workers that run now."""
        return [pid for pid, command in self.processes().items() if "codexmem_core.host.worker" in command]

    def shut_down(self):
        """End what still runs, politely; whatever does not go is a failure, and so is any process but a worker."""
        for pid in self.workers():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        try:
            until(lambda: not self.processes(), "the end of the machine's processes", GONE_S)
        except AssertionError:
            left = self.processes()
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"left behind, and killed now: {left}") from None


def _processes_of(home):
    """(id, command line) of every process whose HOME this is; where there is no /proc, none is found."""
    needle = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if needle in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
