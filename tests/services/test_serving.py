"""A program that serves is started once, heard when it is ready, and ended with the work that wanted it."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.leash import Leash
from codexmem_core.services.processes import ChildProcesses
from codexmem_core.services.serving import ServingPrograms

SAYS = r"ready at (\S+)"
SERVER = """
import os, sys, time
open(sys.argv[1], "a").write(f"{os.getpid()} {os.environ['CODEXMEM_CHILD']}\\n")
print("beginning", flush=True)
print("ready at", os.environ.get("PLACE", "home"), flush=True)
time.sleep(60)
"""


@pytest.fixture
def serving():
    leash = Leash()
    programs = ServingPrograms(os.environ, leash)
    yield programs
    programs.close()
    leash.close()


@pytest.fixture
def processes(serving):
    return ChildProcesses(os.environ, serving._leash, WorkDeadline(60), serving)


def started(note):
    return [int(line.split()[0]) for line in note.read_text().splitlines()]


def test_it_is_heard_once_and_goes_on_between_calls(processes, tmp_path, is_running):
    note = tmp_path / "started"
    argv = [sys.executable, "-c", SERVER, str(note)]
    for _ in range(3):
        assert processes.serve(argv, says=SAYS, timeout_s=20, environ={"PLACE": "sea"}) == "sea"
    (pid,) = started(note)
    assert is_running(pid)
    assert note.read_text().endswith(" 1\n"), "it is marked as ours"


def test_threads_that_want_it_at_once_share_one(processes, tmp_path):
    note = tmp_path / "started"
    argv, heard = [sys.executable, "-c", SERVER, str(note)], []
    threads = [
        threading.Thread(target=lambda: heard.append(processes.serve(argv, says=SAYS, timeout_s=20))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == ["home"] * 5
    assert len(started(note)) == 1


def test_it_ends_with_the_work(processes, serving, tmp_path, is_running):
    note = tmp_path / "started"
    processes.serve([sys.executable, "-c", SERVER, str(note)], says=SAYS, timeout_s=20)
    serving.close()
    assert not any(map(is_running, started(note)))


def test_one_that_died_is_started_anew(processes, tmp_path, is_running):
    note = tmp_path / "started"
    argv = [sys.executable, "-c", SERVER, str(note)]
    processes.serve(argv, says=SAYS, timeout_s=20)
    os.kill(started(note)[0], 9)
    until_gone = time.monotonic() + 20
    while is_running(started(note)[0]):
        assert time.monotonic() < until_gone
        time.sleep(0.02)
    processes.serve(argv, says=SAYS, timeout_s=20)
    assert len(started(note)) == 2


@pytest.mark.parametrize(
    ("program", "reason", "timeout_s"),
    [
        ("print('no port left')", "no port left", 60),
        ("pass", "said nothing", 60),
        ("import time; time.sleep(60)", "not ready", 1),
    ],
)
def test_one_that_is_never_ready_is_told_with_its_last_words(processes, program, reason, timeout_s):
    with pytest.raises(TimeoutError, match=reason):
        processes.serve([sys.executable, "-c", program], says=SAYS, timeout_s=timeout_s)


def test_a_program_that_is_not_there_is_said_to_be_missing(processes):
    with pytest.raises(FileNotFoundError):
        processes.serve(["/nowhere/program"], says=SAYS, timeout_s=1)
