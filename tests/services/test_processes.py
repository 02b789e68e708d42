"""A child never outlives its time, and is marked as ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.leash import Leash
from codexmem_core.services.processes import ChildProcesses


@pytest.fixture
def children():
    leash = Leash()
    yield lambda seconds=30: ChildProcesses(os.environ, leash, WorkDeadline(seconds))
    leash.close()


@pytest.fixture
def gone_soon(is_running):
    """Whether a process ends long before it would by itself."""

    def wait(pid):
        for _ in range(200):
            if not is_running(pid):
                return True
            time.sleep(0.05)
        return False

    return wait


def test_output_errors_and_status_come_back(children):
    program = "import sys; print(sys.stdin.read()); print('e', file=sys.stderr); sys.exit(3)"
    assert children().run([sys.executable, "-c", program], stdin=b"in", timeout_s=20) == (3, b"in\n", b"e\n")


def test_children_carry_the_mark_that_silences_hooks(children):
    program = "import os; print(os.environ['CODEXMEM_CHILD'])"
    assert children().run([sys.executable, "-c", program], timeout_s=20)[1] == b"1\n"


def test_a_child_can_be_given_another_environment_and_cannot_lose_the_mark(children, monkeypatch):
    monkeypatch.setenv("COLOR", "red")
    monkeypatch.setenv("SHAPE", "round")
    program = "import os; print(*map(os.environ.get, ('COLOR', 'SHAPE', 'CODEXMEM_CHILD')))"
    changes = {"COLOR": "blue", "CODEXMEM_CHILD": "0"}
    done = children().run([sys.executable, "-c", program], timeout_s=20, environ=changes)
    assert done[1] == b"blue round 1\n"


def test_a_child_that_does_not_end_is_killed_with_its_whole_group(children, tmp_path, gone_soon):
    note = tmp_path / "pid"
    program = f"sleep 60 & echo $! > '{note}'; wait"
    with pytest.raises(TimeoutError, match="killed"):
        children().run(["sh", "-c", program], timeout_s=3)
    assert gone_soon(int(note.read_text()))


def test_the_deadline_of_the_call_cuts_the_timeout(children):
    with pytest.raises(TimeoutError):
        children(0.5).run([sys.executable, "-c", "import time; time.sleep(30)"], timeout_s=30)


def test_a_long_input_goes_in_whole_while_the_output_comes_slowly(children):
    program = "import sys, time; n = len(sys.stdin.read()); time.sleep(0.5); print(n)"
    assert children().run([sys.executable, "-c", program], stdin=b"x" * 3_000_000, timeout_s=20)[1] == b"3000000\n"


def test_work_that_is_no_longer_wanted_ends_its_program_at_once():
    leash, deadline = Leash(), WorkDeadline(60)
    threading.Timer(0.3, deadline.cancel).start()
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="killed"):
        ChildProcesses(os.environ, leash, deadline).run(
            [sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=60
        )
    assert time.monotonic() - began < 30
    leash.close()


HOLDER_BEFORE_ME = r"""
import glob, os
older = []
for path in glob.glob("/proc/[0-9]*/stat"):
    try:
        fields = open(path).read().rpartition(")")[2].split()
        words = open(os.path.dirname(path) + "/cmdline").read()
    except OSError:
        continue
    if int(fields[1]) == os.getppid() and "groups.discard" in words:
        older.append(int(os.path.basename(os.path.dirname(path))) < os.getpid())
print(older)
"""


def test_who_ends_a_program_with_this_process_is_there_before_the_program(children):
    """This process may be killed as soon as it has started a program."""
    done = children().run([sys.executable, "-c", HOLDER_BEFORE_ME], timeout_s=60)
    assert b"True" in done[1], done


CHILD = """
import os, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {grandchild.pid}")
time.sleep(60)
"""
PARENT = """
import os, sys
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.leash import Leash
from codexmem_core.services.processes import ChildProcesses
ChildProcesses(os.environ, Leash(), WorkDeadline(60)).run([sys.executable, "-c", *sys.argv[1:]], timeout_s=60)
"""


def test_no_child_and_no_grandchild_outlives_a_parent_that_is_killed(tmp_path, gone_soon):
    note = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", PARENT, CHILD, str(note)]) as parent:
        while not (note.exists() and len(note.read_text().split()) == 2):
            assert parent.poll() is None
            time.sleep(0.02)
        parent.send_signal(signal.SIGKILL)
    assert all(gone_soon(int(pid)) for pid in note.read_text().split())


def test_nothing_is_lost_of_a_program_that_does_not_wait_until_somebody_has_read(children):
    program = (
        "import os\n"
        "os.set_blocking(1, False)\n"
        "os.write(1, b'x' * 3_000_000)\n"  # as much as the descriptor takes at once
        "os._exit(0)\n"
    )
    assert len(children().run([sys.executable, "-c", program], timeout_s=20)[1]) == 3_000_000


def test_a_child_runs_where_it_is_told_to(children, tmp_path):
    program = "import os; print(os.getcwd())"
    status, output, _ = children().run([sys.executable, "-c", program], timeout_s=20, folder=str(tmp_path))
    assert (status, output.decode().strip()) == (0, str(tmp_path))
    with pytest.raises(FileNotFoundError):
        children().run([sys.executable, "-c", program], timeout_s=20, folder=str(tmp_path / "nowhere"))
