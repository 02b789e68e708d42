"""The commands over the memory's files, as processes: text, JSON, exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "contrib" / "samples"


@pytest.fixture(scope="module")
def filled_home(tmp_path_factory):
    """A home with a few files and a known session, made once."""
    home = tmp_path_factory.mktemp("tools")
    (home / "memories" / "rollout_summaries").mkdir(parents=True)
    (home / "memories" / "MEMORY.md").write_text("# Handbook\n\n- deploy with make 设备\n- Friday: never deploy\n")
    (home / "memories" / "rollout_summaries" / "2026-11-03T10-00-00-abcd.md").write_text(
        "session_id: 1\nhost: codex\n\nretry was added\n"
    )
    return home


@pytest.fixture
def codexmem(filled_home, tmp_path):
    """Run a command; returns exit status, what it printed, and what it complained of."""

    def run(*arguments, home=filled_home, stdin=""):
        environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CODEXMEM_CONFIG": str(tmp_path / "config.toml")}
        done = subprocess.run(
            [sys.executable, "-m", "codexmem_core.cli", "--home", str(home), *arguments],
            capture_output=True, text=True, input=stdin, env=environ, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


def test_search_takes_a_question_as_it_is_and_gives_json_before_or_after(codexmem):
    status, text, _ = codexmem("search", "when", "may", "I", "deploy?")
    assert status == 0
    assert "never deploy" in text
    before = json.loads(codexmem("--json", "search", "设", "--path", "MEMORY.md")[1])
    assert before == json.loads(codexmem("search", "设", "--path", "MEMORY.md", "--json")[1])
    assert [(match["path"], match["match_line_number"]) for match in before["matches"]] == [("MEMORY.md", 3)]
    assert (before["truncated"], before["next_cursor"]) == (False, "")


def test_search_has_the_modes_and_filters_of_the_tool(codexmem):
    options = ("--mode", "all_within_lines", "--line-count", "2", "--context", "1", "--max-results", "1", "--json")
    found = json.loads(codexmem("search", "make", "FRIDAY", *options)[1])
    assert [match["content_start_line_number"] for match in found["matches"]] == [2]
    assert codexmem("search", "FRIDAY", "--mode", "any", "--case-sensitive")[1] == "No matches.\n"
    assert "retry was added" in codexmem("search", "--since", "2026-11-03", "--until", "2026-11-03")[1]
    assert codexmem("search", "--mode", "any", "--normalized", "-f-R-i-d-a-y")[0] == 2
    assert "MEMORY.md:4" in codexmem("search", "--mode", "any", "--normalized", "--", "-f-R-i-d-a-y")[1]


def test_wrong_use_is_2_and_what_is_not_there_is_1_with_one_line(codexmem):
    assert codexmem("search")[0] == 2
    assert codexmem("search", "x", "--mode", "regex")[0] == 2
    for arguments, why in (
        (("read", "nope.md"), "Not found: nope.md"),
        (("list", "../.."), "escapes"),
        (("search", "x", "--since", "soon"), "YYYY-MM-DD"),
        (("search", "x", "--memory", "v9"), "no memory called v9"),
        (("mode", "unknown-id"), "no host knows"),
        (("note", " "), "empty"),
    ):
        status, text, complaint = codexmem(*arguments)
        assert (status, text) == (1, ""), arguments
        assert why in complaint
        assert complaint.count("\n") == 1


def test_read_and_list_page_through_the_files(codexmem):
    assert codexmem("read", "MEMORY.md", "--offset", "3", "--lines", "1")[1].splitlines() == [
        "[MEMORY.md, lines 3-3 of 4]", "- deploy with make 设备", "[1 more lines: read on with line_offset 4]",
    ]  # fmt: skip
    assert json.loads(codexmem("read", "MEMORY.md", "--json")[1])["total"] == 4
    assert "d rollout_summaries" in codexmem("list")[1].splitlines()
    entries = json.loads(codexmem("--json", "list", "rollout_summaries")[1])["entries"]
    assert entries == [{"path": "rollout_summaries/2026-11-03T10-00-00-abcd.md", "entry_type": "file"}]


def test_a_note_is_found_at_once(codexmem, filled_home):
    added = json.loads(codexmem("note", "the osprey nests in rack 7", "--title", "Osprey", "--json")[1])
    assert added["path"].endswith("-osprey.md")
    assert "- session: command line\n" in (filled_home / "memories" / added["path"]).read_text()
    assert "osprey nests" in codexmem("search", "osprey")[1]
    assert codexmem("note", "-", stdin="from a pipe\n")[0] == 0


def test_a_mode_is_shown_and_set(codexmem):
    assert codexmem("mode", "codex:77")[1] == "codex:77 is enabled\n"
    assert json.loads(codexmem("mode", "codex:77", "polluted", "--json")[1])["before"] == "enabled"
    assert codexmem("mode", "codex:77", "enabled")[1] == "codex:77: polluted → enabled\n"
    assert codexmem("mode", "codex:77", "forgotten")[0] == 2


def test_inspect_gives_text_and_json(codexmem):
    assert "v1.outputs: 0" in codexmem("inspect")[1]
    assert json.loads(codexmem("inspect", "--json")[1])["memories"]["v1"]["outputs"] == 0


def test_the_two_halves_of_a_run_are_commands(codexmem, tmp_path):
    home = tmp_path / "home"
    report = json.loads(codexmem("extract", "--sessions", str(SAMPLES), "--json", home=home)[1])
    assert report["memories"]["v1"]["status"] == "extracted"
    assert not (home / "memories" / "MEMORY.md").exists()
    report = json.loads(codexmem("--json", "consolidate", home=home)[1])
    assert report["memories"]["v1"]["status"] == "succeeded"
    assert report["sessions"]["discovered"] == 0
    assert (home / "memories" / "MEMORY.md").exists()
    assert "v1: up to date" in codexmem("consolidate", "--now", "--memory", "v1", home=home)[1]
    assert codexmem("consolidate", "--memory", "v9", home=home)[0] == 1


def test_reset_asks_somebody_or_needs_yes(codexmem, tmp_path):
    home = tmp_path / "home"
    codexmem("run", "--sessions", str(SAMPLES), "--now", home=home)
    assert codexmem("reset", home=home)[0] == 2
    assert os.listdir(home / "memories")
    assert codexmem("reset", "--yes", home=home)[0] == 0
    assert os.listdir(home / "memories") == []
    assert codexmem("context", home=home)[1] == ""
    assert codexmem("search", "deploy", home=home)[1] == "No passages.\n"


def test_doctor_names_the_place_of_a_secret_and_never_the_secret(codexmem, tmp_path):
    home, token = tmp_path / "home", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (home / "memories" / "skills").mkdir(parents=True)
    (home / "memories" / "skills" / "deploy.md").write_text(f"first\nexport TOKEN={token}\n")
    status, text, complaint = codexmem("doctor", home=home)
    assert status == 1
    assert f"{home / 'memories' / 'skills' / 'deploy.md'}:2" in text
    assert token not in text + complaint
    (home / "memories" / "skills" / "deploy.md").write_text("clean\n")
    assert "secrets: v1: none" in codexmem("doctor", home=home)[1]
