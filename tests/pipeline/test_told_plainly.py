"""What a user is told when something is named wrongly, stopped, damaged or left out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from codexmem_core.doctor import examine
from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest

TURNS = (("user", "Always run make lint before a commit in this repository."), ("assistant", "I will."))
HOLDS = """
import sys, time
def hook(event, arguments):
    if event == "codexmem.instant" and arguments[0] == "commit:claim:after":
        print("claimed", file=sys.stderr, flush=True)
        time.sleep(30)
sys.addaudithook(hook)
from codexmem_core.cli import main
main()
"""


def reasons(report):
    return {row.reason for row in report.skipped}


def test_a_memory_to_read_that_is_not_installed_is_a_warning_and_the_installed_one_is_used(codex_home, engine_of):
    codex_home(*TURNS)
    engine = engine_of(config='[memories]\nread = "v7"\n')
    report = run(engine, RunRequest(idle_hours=0))
    assert report.memories["v1"].extracted == 1
    assert any("memories.read is v7, which is not installed" in warning for warning in report.warnings)
    assert any("v7" in finding.message for _, finding in examine(engine))


def test_a_name_to_disable_that_nobody_has_is_a_warning(codex_home, engine_of):
    report = run(engine_of(CODEXMEM_DISABLE="memory-v9"), RunRequest(idle_hours=0))
    assert "no plugin called memory-v9 is installed; nothing to disable" in report.warnings


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_gives_its_claims_back_at_once(codex_home, tmp_path, engine_of, sent, status):
    codex_home(*TURNS)
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(codex_home.root),
        "CODEXMEM_HOME": str(tmp_path / "home"), "CODEXMEM_CONFIG": str(tmp_path / "none.toml"),
    }  # fmt: skip
    command = [sys.executable, "-c", HOLDS, "run", "--all", "--idle-hours", "0"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == "claimed\n"
        process.send_signal(sent)
        process.communicate(timeout=60)
    assert process.returncode == status
    with engine_of().jobs("memory-v1") as jobs:
        assert [job.status for job in jobs.unfinished()] == ["pending"]


def test_doctor_tells_of_a_database_that_it_had_to_set_aside(codex_home, run_with, engine_of, tmp_path):
    codex_home(*TURNS)
    run_with()
    (tmp_path / "home" / "memory.db").write_bytes(b"\xff" * 9_000)
    found = [finding for check, finding in examine(engine_of()) if check == "databases"]
    assert any(finding.level == "warn" and "memory.db" in finding.message for finding in found)


def test_doctor_goes_on_when_the_home_is_a_file(engine_of, tmp_path):
    (tmp_path / "file").write_text("")
    found = dict(examine(engine_of(home=tmp_path / "file")))
    assert found["interpreter"].level == "ok"
    assert found["home"].level == "fail"
    assert "--home" in found["home"].message


def test_sessions_of_a_folder_that_were_not_asked_for_say_so(codex_home, engine_of):
    wanted, other = codex_home(*TURNS), codex_home(*TURNS)
    report = run(engine_of(), RunRequest(folder=str(codex_home.root), sessions=(f"codex:{wanted}",)))
    assert report.sessions["extracted"] == 1
    assert {(row.session, row.reason) for row in report.skipped} == {(f"codex:{other}", "not asked for (--session)")}
    assert report.errors == ()


def test_with_learning_switched_off_every_session_says_so(codex_home, engine_of):
    codex_home(*TURNS)
    report = run(engine_of(config="[memories]\ngenerate_memories = false\n"), RunRequest(idle_hours=0))
    assert reasons(report) == {"learning is switched off ([memories] generate_memories)"}


def test_counts_never_contradict_each_other(codex_home, engine_of, tmp_path):
    codex_home(*TURNS)
    run(engine_of(), RunRequest(folder=str(codex_home.root), sessions=("nobody",)))
    engine = engine_of(CODEX_HOME=str(tmp_path / "elsewhere"))
    counts = run(engine, RunRequest(idle_hours=0)).sessions
    assert counts["discovered"] >= counts["eligible"]
    assert counts["skipped"] >= 0


def test_a_command_that_fails_gives_its_error_as_json_too(tmp_path):
    command = [sys.executable, "-m", "codexmem_core.cli", "--home", str(tmp_path / "h"), "--json"]
    done = subprocess.run([*command, "context", "--memory", "nope"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "nope" in json.loads(done.stdout)["error"]
