"""What others wrote into a memory's folder, or into a folder that only looks like one, is not ours to lose."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest

CODEX_RECAP = """thread_id: 01a22d0b-def6-7ef3-8f55-6a802404d7e7
updated_at: 2026-11-29T14:21:22+00:00
rollout_path: /home/user/.codex/sessions/2026/11/30/rollout.jsonl
cwd: /home/user/proj

# Build
The user said the build is `make fast`.
"""


def test_recaps_and_text_that_codex_wrote_are_continued_and_not_lost(tmp_path, codex_home, engine_of):
    root = tmp_path / "home" / "memories"
    (root / "rollout_summaries").mkdir(parents=True)
    recap = root / "rollout_summaries" / "2026-11-30T15-21-22-TziT-build_make_fast.md"
    recap.write_text(CODEX_RECAP)
    (root / "MEMORY.md").write_text("# Task Group: proj\n- tabs\n")
    (root / "memory_summary.md").write_text(
        "v1\n## User Profile\nWorks in proj.\n\n## General Tips\n- build with make fast\n"
    )
    codex_home(("user", "Always run make lint before a commit in this repository."), ("assistant", "I will."))
    report = run(engine_of(), RunRequest(idle_hours=0))
    assert report.memories["v1"].status == "succeeded"
    assert recap.read_text() == CODEX_RECAP
    handbook, summary = (root / "MEMORY.md").read_text(), (root / "memory_summary.md").read_text()
    assert "# Task Group: proj\n- tabs\n" in handbook
    assert "make lint" in handbook
    assert "- build with make fast" in summary
    assert "Works in proj." in summary
    assert len(list((root / "rollout_summaries").iterdir())) == 2


@pytest.fixture
def reset():
    def command(home):
        state = State()
        result = CliRunner().invoke(codexmem, ["--home", str(home), "reset", "--yes"], obj=state)
        state.close()
        return result

    return command


def test_a_folder_that_only_looks_like_a_memory_is_not_reset(tmp_path, reset):
    foreign = tmp_path / "memories" / "holiday.txt"
    foreign.parent.mkdir()
    foreign.write_text("not yours")
    result = reset(tmp_path)
    assert result.exit_code != 0
    assert foreign.read_text() == "not yours"


def test_resetting_an_empty_home_says_that_there_is_nothing(tmp_path, reset):
    assert reset(tmp_path / "nothing").exit_code != 0
