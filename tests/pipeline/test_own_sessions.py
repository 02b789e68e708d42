"""Nothing that we started ourselves is ever learned: three guards, each on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from codexmem_hookspecs.values.extract import PROMPT_MARK

from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.services.models import ChosenModel

TURNS = (("user", "Always squash commits before a merge."), ("assistant", "Yes."))


def test_a_session_whose_first_words_are_our_prompt_is_ours(codex_home, run_with, engine_of):
    ours = codex_home(("user", f"Read this conversation. [{PROMPT_MARK}]\n### user\nAlways use tabs."), *TURNS)
    report = run_with()
    assert report.sessions["extracted"] == 0
    assert [row.reason for row in report.skipped] == ["codexmem's own helper session"]
    assert engine_of().catalogue.is_own("codex", ours)
    assert run_with().sessions["claimed"] == 0


def test_the_prompt_that_is_sent_to_a_model_carries_the_mark(codex_home, engine_of, other_memory, monkeypatch):
    seen = []
    ask = ChosenModel.ask
    monkeypatch.setattr(
        ChosenModel, "ask", lambda self, request, *rest: seen.append(request) or ask(self, request, *rest)
    )
    codex_home(*TURNS)
    run(engine_of(other_memory()), RunRequest(idle_hours=0))
    assert len(seen) == 2
    assert all(PROMPT_MARK in request.instructions for request in seen)


def test_a_session_inside_a_memory_folder_is_not_captured(codex_home, run_with, tmp_path):
    codex_home(*TURNS, cwd=str(tmp_path / "home" / "memories"))
    codex_home(*TURNS, cwd=f"{codex_home.root}/memories_v2")
    assert {row.reason for row in run_with().skipped} == {"works inside a memory folder"}


def test_a_run_inside_our_own_child_learns_nothing(codex_home, engine_of):
    codex_home(*TURNS)
    report = run(engine_of(CODEXMEM_CHILD="1"), RunRequest(idle_hours=0))
    assert report.failed
    assert report.sessions["discovered"] == 0
    assert "CODEXMEM_CHILD" in report.errors[0]


def test_two_hundred_events_in_a_minute_start_no_process_and_one_pass_takes_them_in(engine_of, clock, monkeypatch):
    started = []
    sys.addaudithook(lambda event, _: started.append(event) if event in ("subprocess.Popen", "os.fork") else None)
    engine = engine_of()
    for number in range(200):
        payload = {"session_id": f"s{number % 3}", "cwd": "/w", "hook_event_name": "Stop", "transcript_path": "/x"}
        engine.spool.write("codex", "Stop", json.dumps(payload).encode(), at_ms=clock.now_ms() + number)
    run(engine, RunRequest(idle_hours=0))
    assert engine.spool.names() == []
    assert engine.catalogue.last_fired()[("codex", "Stop")] == clock.now_ms() + 199
    assert started == []


def test_emoji_and_cjk_survive_a_locale_that_knows_neither(tmp_path, codex_home):
    codex_home(("user", "Always answer in 日本語 and end with 🎉 in this repository."), ("assistant", "はい🎉"))
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(codex_home.root), "LC_ALL": "C",
        "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "CODEXMEM_HOME": str(tmp_path / "home"),
    }  # fmt: skip
    command = [sys.executable, "-m", "codexmem_core.cli"]
    done = subprocess.run(
        [*command, "run", "--idle-hours", "0", "--all"], env=environ, capture_output=True, check=False
    )
    assert done.returncode == 0, done
    shown = subprocess.run([*command, "context"], env=environ, capture_output=True, check=True).stdout.decode("utf-8")
    assert "日本語" in shown
    assert "🎉" in shown
