"""A user's account on a computer of its own: an empty home, a project, codexmem, and nothing of the real user's."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

from codexmem_core.host import shim
from realhosts.conversation import until

KEPT = ("PATH", "LANG", "TZ", "TMPDIR")
PLACE = "from codexmem_core.paths import default_home; print(default_home())"
SAMPLES = Path(__file__).resolve().parents[3] / "contrib" / "samples" / "claude"
SAID_IN_SAMPLE = "From now on use pnpm instead of npm in this project"
WORKER = "codexmem_core.host.worker"
COMMAND = (sys.executable, "-I", "-m", "codexmem_core.cli")
COMMAND_S = 60.0
PUBLISHED_S = 60.0
"""A pass may wait half a minute after the one before."""
GONE_S = 60.0


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
        return self._printed([*COMMAND, *arguments])

    def codexmem_fails(self, *arguments):
        """The same for a command that finds a fault."""
        return self._printed([*COMMAND, *arguments], status=1)

    def belongs_to(self, account, *, url="", key="", **plugin):
        """Write down the user's account on an OpenViking server and settings, as that server's own client does."""
        folder = self.home / ".openviking"
        folder.mkdir(exist_ok=True)
        connection = {"url": url or account.server.url, "api_key": key or account.key}
        (folder / "ovcli.conf").write_text(json.dumps({**connection, "plugin": plugin}))

    def end_markers(self):
        """Names of the ends whose commit OpenViking has not confirmed."""
        return [path.name for path in self.home.glob(".openviking/*/*.ended*")]

    def remember_the_sample(self):
        """Make a memory of a recorded session at once; returns words that occur in it once."""
        self.codexmem("run", "--sessions", str(SAMPLES), "--now")
        return SAID_IN_SAMPLE

    def _printed(self, command, *, cwd=None, status=0):
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
        assert done.returncode == status, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def until_known(self, text, host, within_s=PUBLISHED_S):
        """Wait until the hooks and the worker that they started made a memory that the host's next session is given."""

        try:
            until(lambda: self._is_given(text, host), f"{text!r} in what {host.name} is told", within_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.codexmem('status')}\n{self.logged()}") from None

    def until_written_by_host(self, text):
        """Wait until a text stands in a file of a host: some ask their model first and write afterwards."""

        def written():
            return any(self.memory_home not in path.parents for path in _files_with(text, self.home))

        until(written, f"{text!r} in a host's own files")

    def until_forgotten(self, text, host):
        """Wait until a host's next session is not given a text any more."""
        until(lambda: not self._is_given(text, host), f"{text!r} gone from what {host.name} is told", PUBLISHED_S)

    def _is_given(self, text, host):
        return any(path.name.startswith(f"{host.name}-") for path in _files_with(text, self.memory_home / "read"))

    def files_with(self, text):
        """Files of the memories that hold a text."""
        return [path for folder in self.memory_home.glob("memories*") for path in _files_with(text, folder)]

    def logged(self):
        """The last lines of the logs, for a failed test."""
        lines = [line for path in self.memory_home.glob("logs/*") for line in path.read_text().splitlines()]
        return "\n".join(lines[-30:])

    def waiting_events(self):
        """Names of the events that no worker has taken in yet."""
        return [path.name for path in self.memory_home.glob("spool/[0-9]*")]

    def everything_is_told(self):
        """Whether every event was taken in, and every plugin has heard of it."""
        if not (self.memory_home / "catalog.db").exists():
            return False
        with closing(sqlite3.connect(f"file:{self.memory_home}/catalog.db?mode=ro", uri=True)) as catalogue:
            if not catalogue.execute("SELECT count(*) FROM sqlite_master WHERE name = 'deliveries'").fetchone()[0]:
                return False  # it is only just being made
            pending = catalogue.execute("SELECT count(*) FROM deliveries WHERE state = 'pending'").fetchone()
        return not self.waiting_events() and pending == (0,)

    def let_no_worker_start(self):
        """Let hooks find that as many were started within the hour as may be."""
        locks = self.memory_home / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        now = time.time_ns() // 1_000_000
        (locks / "worker.starts").write_text("".join(f"{now} 1\n" for _ in range(shim.STARTS_AN_HOUR)))

    def let_the_worker_be_silent_for(self, *, minutes):
        """Put its last sign of life back; one that can will give another."""
        then = time.time() - 60 * minutes
        os.utime(self.memory_home / "locks" / "worker.beat", (then, then))

    def processes(self):
        """Ids of all processes of this account that run now, and what each is."""
        return dict(_processes_of(self.home))

    def end_processes(self, part):
        """End the processes whose command line holds ``part``, and wait for that."""

        def ended():
            found = [pid for pid, command in self.processes().items() if part in command]
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                    os.kill(pid, signal.SIGCONT)  # a stopped one cannot end
            return not found

        until(ended, f"the end of {part}", GONE_S)

    def workers(self):
        """Ids of the workers that run now."""
        return [pid for pid, command in self.processes().items() if WORKER in command]

    def the_worker(self):
        """Id of the only one; a second that hooks started at the same time leaves at once."""
        return until(lambda: len(found := self.workers()) == 1 and found[0], "one worker")

    def shut_down(self):
        """End what still runs, politely; whatever does not go is a failure, and so is any process but a worker."""
        self.end_processes(WORKER)
        try:
            until(lambda: not self.processes(), "the end of the machine's processes", GONE_S)
        except AssertionError:
            left = self.processes()
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"left behind, and killed now: {left}") from None


def _files_with(text, folder):
    """Files below a folder that hold a text; whoever writes there may take some away meanwhile."""
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):
                if path.is_file() and text.encode() in path.read_bytes():
                    yield path


def _processes_of(home):
    """(id, command line) of every process whose HOME this is; where there is no /proc, none is found."""
    needle = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if needle in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
