"""A worker outlives the hook that started it and its host, and keeps nothing of theirs."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest


def pid_started(hooks):
    """Number of the worker that a hook has started, as soon as it is written down."""
    lines = hooks.starts()
    return int(lines[-1].split()[1]) if lines else 0


def fields(pid):
    """State, parent, process group and session of a process: proc(5)."""
    state, *numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    return state, *map(int, numbers)


def opened(pid):
    """What the descriptors of a process lead to; one that just begins closes some meanwhile."""
    found = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(path))
    assert found, "it was to live"
    return found


@pytest.fixture
def waiting(hooks):
    """A hook whose host waits for a long time, started as a host starts it."""
    (hooks.home / "read").mkdir()
    (hooks.home / "read" / "codex-PreCompact.wait").write_text("60")
    hook = subprocess.Popen(
        hooks.command("PreCompact"), env=hooks.environ, cwd=hooks.project, stdin=subprocess.DEVNULL
    )  # fmt: skip
    yield hook
    hook.kill()
    hook.wait()


@pytest.fixture
def pipe():
    """Descriptors of its writing end, a low and a high one."""
    read, write = os.pipe()
    high = os.dup2(write, 200)
    yield write, high
    for one in (read, write, high):
        os.close(one)


def test_it_keeps_no_descriptor_of_the_host(hooks, pipe):
    """Codex waits until nobody has any of them."""
    subprocess.run(
        hooks.command("Stop"),
        env=hooks.environ, cwd=hooks.project, stdin=subprocess.DEVNULL, pass_fds=pipe, check=True,
    )  # fmt: skip
    of_the_host = f"pipe:[{os.fstat(pipe[0]).st_ino}]"
    assert of_the_host not in opened(pid_started(hooks))


def test_it_has_a_session_of_its_own(hooks):
    hooks.call("Stop", hooks.payload("Stop"))
    pid = pid_started(hooks)
    assert fields(pid)[3] == pid != os.getsid(0)


def test_it_is_no_descendant_of_a_hook_that_waits(hooks, waiting, eventually):
    """A host that ends such a hook ends all of these."""
    pid = eventually(lambda: pid_started(hooks), "a worker's start")
    os.kill(pid, signal.SIGSTOP)
    assert waiting.poll() is None, "it was to wait"
    _, parent, _, session = fields(pid)
    assert parent not in (waiting.pid, os.getpid())
    assert session == pid
