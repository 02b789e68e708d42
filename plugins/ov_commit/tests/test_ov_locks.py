"""One writer a session, also between processes: never two, nobody shut out by the dead, foreign locks respected."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from codexmem_hookspecs.testing.services import PlainDeadline
from codexmem_ov_commit.locks import STALE_MS, lock_name, session_lock

PROGRAM = Path(__file__).parent / "programs" / "take_turns.py"
SESSION = "0198a000-0000-7000-8000-000000000001"
TURNS = 15


@pytest.fixture
def folder(machine):
    """The state folder, on the real clock."""
    machine.clock.now_ms = lambda: time.time_ns() // 1_000_000
    machine.state_folder().mkdir(parents=True)
    return machine.states().folder


@pytest.fixture
def start(folder):
    running = []

    def start_program(turns):
        argv = [sys.executable, str(PROGRAM), folder.root, SESSION, str(turns)]
        running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return running[-1]

    yield start_program
    for process in running:
        process.kill()
        process.communicate()


def take(folder, machine, wait_s=0.0):
    return session_lock(folder, SESSION, machine.clock, PlainDeadline(), wait_s=wait_s)


def foreign(folder, age_s, *, owner=True):
    """As the original plugin makes it."""
    lock = Path(folder.root) / f"{SESSION}.lock"
    lock.mkdir()
    at_s = time.time() - age_s
    if owner:
        (lock / "owner").write_text("4711:4b0b2c2e-0000-4000-8000-000000000000")
        os.utime(lock / "owner", (at_s, at_s))
    os.utime(lock, (at_s, at_s))
    return lock


def test_racing_processes_are_never_inside_together(folder, start):
    programs = [start(TURNS) for _ in range(3)]
    assert [(program.communicate(timeout=120)[1], program.returncode) for program in programs] == [("", 0)] * 3


def test_racing_processes_over_a_stale_foreign_lock_are_never_inside_together(folder, start):
    lock = foreign(folder, 600)
    programs = [start(TURNS) for _ in range(3)]
    assert [(program.communicate(timeout=120)[1], program.returncode) for program in programs] == [("", 0)] * 3
    assert (lock / "owner").exists()


def test_a_holder_that_is_killed_frees_it(folder, machine, start):
    program = start("hold")
    assert program.stdout.readline() == "held\n"
    with take(folder, machine) as held:
        assert not held
    program.send_signal(signal.SIGKILL)
    program.wait(60)
    with take(folder, machine, 60) as held:
        assert held


def test_it_is_free_after_an_exception_inside(folder, machine):
    with pytest.raises(RuntimeError, match="inside"), take(folder, machine):
        raise RuntimeError("inside")
    with take(folder, machine) as held:
        assert held


@pytest.mark.parametrize("owner", [True, False])
def test_a_fresh_foreign_lock_is_respected_and_left_alone(folder, machine, owner):
    lock = foreign(folder, 60, owner=owner)
    with take(folder, machine) as held:
        assert not held
    assert lock.is_dir()


@pytest.mark.parametrize("owner", [True, False])
def test_a_stale_foreign_lock_hinders_nobody_and_is_left_alone(folder, machine, owner):
    lock = foreign(folder, STALE_MS // 1_000 + 60, owner=owner)
    with take(folder, machine) as held:
        assert held
    assert lock.is_dir()


def test_an_owner_that_is_alive_keeps_its_old_folder(folder, machine):
    lock = foreign(folder, 600)
    os.utime(lock / "owner")
    with take(folder, machine) as held:
        assert not held


def test_a_foreign_lock_that_is_released_in_time_is_waited_for(folder, machine):
    lock = foreign(folder, 1, owner=False)
    with session_lock(folder, SESSION, _Releasing(machine.clock, lock), PlainDeadline(), wait_s=60) as held:
        assert held


def test_a_file_where_a_foreign_lock_would_be_locks_nothing(folder, machine):
    (Path(folder.root) / f"{SESSION}.lock").write_text("")
    with take(folder, machine) as held:
        assert held


@pytest.mark.parametrize("session", ["", "-begins-with-a-dash", "会话", "x" * 5_000, "a/b/../c", "😀"])
def test_every_session_id_has_a_lock(folder, machine, session):
    with session_lock(folder, session, machine.clock, PlainDeadline(), wait_s=0) as held:
        assert held


def test_there_are_no_more_lock_files_than_256(folder):
    assert len({lock_name(f"session-{number}") for number in range(3_000)}) <= 256


class _Releasing:
    """A clock whose third reading finds that the foreign owner is gone."""

    def __init__(self, clock, lock):
        self._clock, self._lock, self._readings = clock, lock, 0

    def now_ms(self):
        self._readings += 1
        if self._readings == 3:
            self._lock.rmdir()
        return self._clock.now_ms()
