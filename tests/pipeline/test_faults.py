"""Full disks, killed processes and racing runs: nothing is lost, nothing doubled, and the failure can be seen."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

TURNS = (("user", "Always run make lint before a commit in this repository."), ("assistant", "I will."))


@pytest.fixture
def command(tmp_path, codex_home):
    """Start ``codexmem`` itself, in a process of its own."""
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(codex_home.root),
        "CODEXMEM_HOME": str(tmp_path / "home"), "CODEXMEM_CONFIG": str(tmp_path / "none.toml"),
        "CODEXMEM_DISABLE": "memory-v2",
    }  # fmt: skip

    def start(*arguments, before=None, program="from codexmem_core.cli import main; main()"):
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            env=environ,
            preexec_fn=before,  # noqa: PLW1509 - no thread runs in these tests
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def finish(process):
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def run_all(command, **given):
    return finish(command("--json", "run", "--all", "--idle-hours", "0", **given))


def notes(tmp_path):
    with sqlite3.connect(tmp_path / "home" / "memory.db") as database:
        found = database.execute("SELECT count(*), count(DISTINCT session_id) FROM memory_stage1_outputs").fetchone()
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    return found


def test_a_full_disk_leaves_the_memory_as_it_was_and_the_next_run_finishes(command, codex_home, tmp_path):
    codex_home(*TURNS)
    assert run_all(command)[0] == 0
    handbook = tmp_path / "home" / "memories" / "MEMORY.md"
    before = handbook.read_bytes()
    for number in range(30):
        codex_home(("user", f"Add a retry number {number} to the uploader. " + "x " * 2000), ("assistant", "Done."))

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (96 * 1024, resource.RLIM_INFINITY))

    status, output, errors = run_all(command, before=small_files)
    assert status == 1, (output, errors)
    assert handbook.read_bytes() == before
    told = output + errors
    assert "disk" in told or "File too large" in told
    status, output, _ = run_all(command)
    assert status == 0, output
    assert notes(tmp_path) == (31, 31)


def test_a_run_killed_in_the_middle_of_extraction_is_taken_up_again(command, codex_home, tmp_path):
    for _ in range(12):
        codex_home(*TURNS)
    program = """
import os, signal, sys
seen = 0
def hook(event, arguments):
    global seen
    if event == "codexmem.instant" and arguments[0] == "commit:extraction:before":
        seen += 1
        if seen == 4:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from codexmem_core.cli import main
main()
"""
    assert run_all(command, program=program)[0] == -signal.SIGKILL
    assert notes(tmp_path) == (3, 3)
    status, output, _ = run_all(command)
    assert status == 0
    assert json.loads(output)["memories"]["v1"]["extracted"] == 9
    assert notes(tmp_path) == (12, 12)


def test_runs_at_the_same_time_share_the_work_and_double_nothing(command, codex_home, tmp_path):
    for _ in range(40):
        codex_home(*TURNS)
    ended = [finish(process) for process in [command("--json", "run", "--all", "--idle-hours", "0") for _ in range(4)]]
    assert all(status == 0 for status, _, _ in ended), ended
    reports = [json.loads(output) for _, output, _ in ended]
    assert sum(report["memories"]["v1"]["extracted"] for report in reports) == 40
    assert notes(tmp_path) == (40, 40)


def test_a_run_that_is_interrupted_gives_its_claims_back(command, codex_home, tmp_path):
    for _ in range(3):
        codex_home(*TURNS)
    program = """
import sys, time
def hook(event, arguments):
    if event == "codexmem.instant" and arguments[0] == "commit:claim:after":
        print("claimed", file=sys.stderr, flush=True)
        time.sleep(30)
sys.addaudithook(hook)
from codexmem_core.cli import main
main()
"""
    process = command("run", "--all", "--idle-hours", "0", program=program)
    assert process.stderr.readline() == "claimed\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    status, output, _ = run_all(command)
    assert status == 0
    assert json.loads(output)["memories"]["v1"]["extracted"] == 3
