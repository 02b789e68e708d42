"""One worker at a time, whatever happens to it; nothing that hooks recorded is lost, and no program outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from codexmem_core.host import alone, shim

RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "ok"))
PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")


def in_parallel(calls, workers=8):
    waiting, lock = list(calls), threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                call = waiting.pop()
            call()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def taken_in(hooks):
    """How many events the worker says that it took in."""
    return sum(line["count"] for line in hooks.log() if line["event"] == "events")


def test_a_storm_of_two_hundred_calls_starts_few_workers_and_loses_nothing(hooks, eventually):
    hooks.say("s1", *RULE)
    killed = []

    def call(number):
        hooks.call("Stop", hooks.payload("Stop", f"s{number % 5}", turn_id=str(number)))
        if number in (60, 120) and (owner := hooks.worker()) is not None:
            owner.kill(signal.SIGKILL)
            killed.append(owner.pid)

    in_parallel([lambda number=number: call(number) for number in range(200)])
    hooks.call("SessionEnd", hooks.payload("SessionEnd", "s1"))
    hooks.worker_soon()
    eventually(hooks.is_quiet, "an empty spool")
    assert len(hooks.starts()) <= shim.STARTS_AN_HOUR
    events = hooks.catalogue("SELECT count(*) FROM events")
    assert events == 201
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


def test_two_hosts_at_once_share_one_worker(hooks, eventually):
    hooks.say("s1", *RULE)
    calls = []
    for number in range(10):
        calls += [
            lambda n=number: hooks.call("Stop", hooks.payload("Stop", f"c{n}")),
            lambda n=number: hooks.call("Stop", hooks.payload("Stop", f"d{n}"), host="claude"),
        ]
    in_parallel(calls)
    hooks.worker_soon()
    eventually(hooks.is_quiet)
    assert hooks.catalogue("SELECT count(DISTINCT host) FROM events") == 2
    assert hooks.catalogue("SELECT count(*) FROM events") == 20
    assert len(hooks.starts()) == 1


def test_hooks_start_no_other_worker_before_the_one_that_comes_can_hear_them(hooks, eventually):
    """Finding its plugins takes a while, the more of them there are."""
    go_on = hooks.folder / "go_on"
    hooks.environ["GO_ON"] = str(go_on)
    slow = [sys.executable, os.path.join(PROGRAMS, "slow_worker.py"), hooks.home, hooks.config]
    hooks.children.append(subprocess.Popen(slow, env=hooks.environ, stdin=subprocess.DEVNULL))
    started = f"{time.time_ns() // 1_000_000} {hooks.children[0].pid}\n"
    (hooks.home / "locks").mkdir(exist_ok=True)
    (hooks.home / "locks" / "worker.starts").write_text(started)
    eventually((hooks.folder / "go_on.waiting").exists, "the lock")
    for _ in range(3):
        hooks.call("Stop", hooks.payload("Stop"))
    go_on.touch()
    assert hooks.worker_soon().pid == hooks.children[0].pid
    eventually(hooks.is_quiet)
    assert len(hooks.starts()) == 1


def test_a_hook_that_missed_a_worker_by_a_moment_starts_no_other(hooks):
    """It rang before the worker heard the bell, and has the right to start one only now."""
    os.mkfifo(hooks.home / shim.FIFO)
    bell = os.open(hooks.home / shim.FIFO, os.O_RDONLY | os.O_NONBLOCK)
    program = "import sys; from codexmem_core.host.shim import start; start(*sys.argv[1:], 1, stays=False)"
    start = [sys.executable, "-I", "-c", program, str(hooks.home), str(hooks.config)]
    subprocess.run(start, env=hooks.environ, check=True)
    assert hooks.starts() == []
    assert os.read(bell, 2) == b".", "it is rung all the same"
    os.close(bell)


def test_a_second_worker_leaves_at_once(hooks):
    hooks.call("Stop", hooks.payload("Stop"))
    owner = hooks.worker_soon()
    second = subprocess.run(
        [sys.executable, "-I", "-m", "codexmem_core.host.worker", hooks.home, hooks.config],
        env=hooks.environ, timeout=60, check=False,
    )  # fmt: skip
    assert second.returncode == 0
    assert hooks.worker() == owner
    said = hooks.cli("worker")
    assert said.returncode == 1
    assert "runs already" in said.stderr


def test_a_worker_that_was_killed_is_replaced_by_the_next_hook(hooks, eventually):
    hooks.call("Stop", hooks.payload("Stop"))
    first = hooks.worker_soon()
    eventually(hooks.is_quiet)
    first.kill(signal.SIGKILL)
    eventually(lambda: hooks.worker() is None)
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: (owner := hooks.worker()) is not None and owner.pid != first.pid, "another one")
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


def test_a_worker_that_hangs_delays_no_hook_and_is_replaced(hooks, eventually, is_running):
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")
    wedged = hooks.worker_soon()
    wedged.kill(signal.SIGSTOP)
    long_ago = time.time() - 2 * shim.WEDGED_S
    os.utime(hooks.home / shim.BEAT, (long_ago, long_ago))
    assert "gives no sign of life" in hooks.cli("status").stdout
    assert hooks.call("SessionStart-resume", hooks.payload("SessionStart", source="resume")) == b""
    eventually(lambda: not is_running(wedged.pid), "the end of the one that hangs")
    eventually(lambda: (owner := hooks.worker()) is not None and owner.pid != wedged.pid, "its successor")
    eventually(hooks.is_quiet)


def test_a_worker_that_only_slept_is_left_alone(hooks, eventually):
    """After a laptop wakes, the last sign of life is old; the next one comes at once."""
    hooks.call("Stop", hooks.payload("Stop"))
    owner = hooks.worker_soon()
    eventually(hooks.is_quiet)
    long_ago = time.time() - 2 * shim.WEDGED_S
    os.utime(hooks.home / shim.BEAT, (long_ago, long_ago))
    second = subprocess.run(
        [sys.executable, "-I", "-m", "codexmem_core.host.worker", hooks.home, hooks.config],
        env=hooks.environ, timeout=60, check=False,
    )  # fmt: skip
    assert second.returncode == 0
    assert hooks.worker() == owner


def test_workers_that_end_at_once_are_started_twelve_times_an_hour_at_most(hooks, eventually, is_running):
    (hooks.home / "catalog.db").mkdir()  # no database, no lock, no worker
    (hooks.home / "locks").mkdir()
    (hooks.home / "locks" / "worker").mkdir()
    for _ in range(16):
        hooks.call("Stop", hooks.payload("Stop"))
        eventually(lambda: not any(is_running(int(line.split()[1])) for line in hooks.starts()))
    assert len(hooks.starts()) == shim.STARTS_AN_HOUR
    assert len(hooks.spooled()) == 16
    for name in ("catalog.db", "locks/worker"):
        (hooks.home / name).rmdir()
    assert "12 were started within an hour" in hooks.cli("status").stdout
    doctor = hooks.cli("doctor").stdout
    assert "12 workers were started within an hour" in doctor


def test_somebody_elses_number_in_the_lock_is_nobodys_death(hooks, eventually):
    """A lock file that was edited, or a number that was used again: the process that has it now is not killed."""
    innocent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (hooks.home / "locks").mkdir()
    (hooks.home / "locks" / "worker").write_text(f"{innocent.pid} 1.2 1796000000000\n")
    assert hooks.worker() is None
    hooks.call("Stop", hooks.payload("Stop"))
    owner = hooks.worker_soon()
    eventually(hooks.is_quiet)
    (hooks.home / "locks" / "worker").write_text(f"{innocent.pid} 1.2 1796000000000\n")
    assert hooks.cli("status").returncode == 0
    alone.Owner(pid=innocent.pid, started="1.2", since_ms=0).kill(signal.SIGKILL)
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()
    os.kill(owner.pid, signal.SIGKILL)


def test_a_worker_ends_when_its_home_goes(hooks, eventually, is_running):
    hooks.call("Stop", hooks.payload("Stop"))
    owner = hooks.worker_soon()
    eventually(hooks.is_quiet)
    os.rename(hooks.home, hooks.folder / "moved")
    eventually(lambda: not is_running(owner.pid), "its end")


# --- a model that hangs


@pytest.fixture
def asking(hooks, eventually):
    """A worker with one memory, whose model, a program with a child, never answers."""
    note = hooks.folder / "pids"
    program = [sys.executable, os.path.join(PROGRAMS, "hanging_model.py"), str(note)]
    model = f'[models]\nbackend = "command"\ncosts = false\ncommand = {json.dumps(program)}'
    hooks.settings(f'[plugins]\ndisabled = ["memory-v2"]\n{model}')
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(note.exists, "a question to the model")
    hooks.programs = [int(pid) for pid in note.read_text().split()]
    return hooks


def job(hooks):
    """Status, wait, retries left and why, of the session in the memory that asked."""
    return hooks.rows(
        "memory.db",
        "SELECT status, retry_at, retry_remaining, failure FROM memory_jobs WHERE job_key = 'codex:s1'",
    )


@pytest.mark.parametrize("how", ["command", "SIGTERM", "SIGINT"])
def test_stopping_gives_claims_back_untouched_and_ends_programs_at_once(asking, eventually, how, is_running):
    owner = asking.worker()
    if how == "command":
        assert asking.cli("worker", "--stop").stdout == "stopped\n"
    else:
        owner.kill(getattr(signal, how))
        eventually(lambda: not is_running(owner.pid), "its end")
    assert asking.worker() is None
    eventually(lambda: not any(is_running(pid) for pid in asking.programs), "the end of the programs")
    ((status, retry_at, retries, failure),) = job(asking)
    assert (status, retry_at, retries, failure) == ("pending", None, 3, "released")
    assert asking.log()[-1]["why"] == "told to stop"


def test_killing_leaves_no_program_and_no_job_that_seems_to_run(asking, eventually, is_running):
    asking.worker().kill(signal.SIGKILL)
    eventually(lambda: not any(is_running(pid) for pid in asking.programs), "the end of the programs")
    shown = asking.cli("status").stdout
    assert "0 running" in shown
    assert "1 interrupted" in shown
    asking.settings("")
    asking.call("Stop", asking.payload("Stop"))
    eventually(lambda: b"linter" in asking.ready("SessionStart-startup"), "a memory")


def test_learning_that_is_switched_off_ends_with_the_job_that_runs(hooks, eventually):
    """OpenCode memory and Codex alike: the switch is looked at before every job, not once a pass."""
    program = [sys.executable, os.path.join(PROGRAMS, "switching_model.py"), str(hooks.config)]
    model = f'[models]\nbackend = "command"\ncosts = false\ncommand = {json.dumps(program)}'
    hooks.settings(f"{model}\n[memories]\ngenerate_memories = true")
    for number in range(5):
        hooks.say(f"s{number}", *RULE)
    hooks.no_worker()  # the first pass is to find them all
    for number in range(4):
        hooks.call("SessionEnd", hooks.payload("SessionEnd", f"s{number}"))
    (hooks.home / shim.STARTS).unlink()
    hooks.call("SessionEnd", hooks.payload("SessionEnd", "s4"))
    eventually(hooks.passes, "a pass")
    jobs = hooks.rows("memory.db", "SELECT status, failure FROM memory_jobs WHERE kind = 'memory_stage1'")
    assert sorted(jobs, key=str) == [("done", None), *[("pending", "released")] * 4]
