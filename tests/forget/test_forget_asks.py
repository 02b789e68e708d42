"""A common word stands everywhere: how much would go is told before it goes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

SENTENCES = [f"Always give release number {number} of the harbor a name like crane{number}." for number in range(7)]


@pytest.fixture
def learned(codex_home, learn):
    for sentence in SENTENCES:
        codex_home(("user", sentence), ("assistant", "I will."))
    learn()


@pytest.fixture
def handbook(home):
    return lambda: Path(home, "memories", "MEMORY.md").read_text()


def test_where_nobody_can_be_asked_a_common_word_is_refused_with_the_numbers(learned, command, handbook, home):
    before = handbook()
    status, told = command("forget", "harbor")
    assert status == 2
    assert re.search(r"notes of 7 of 7 sessions and in \d\d+ lines of \d+ memory files", told)
    assert "nothing was changed: say --yes" in told
    assert handbook() == before
    assert not Path(home, "forget.key").exists()
    status, told = command("forget", "harbor", "--json")
    assert status == 2
    assert command("run", "--idle-hours", "0", "--all")[0] == 0
    assert "crane3" in handbook()


def test_with_yes_it_is_done(learned, command, handbook):
    assert command("forget", "--yes", "harbor")[0] == 0
    assert "harbor" not in handbook().replace("/home/dev/harbor", "")


def test_what_stands_in_one_session_goes_without_being_asked_for(learned, command, handbook):
    assert command("forget", "crane3")[0] == 0
    assert "crane3" not in handbook()
    assert "crane4" in handbook()


def test_most_of_a_small_memory_is_much(codex_home, learn, command):
    for number in range(2):
        codex_home(("user", f"Always call the crane by number {number}."), ("assistant", "I will."))
    learn()
    assert "2 of 2 sessions" in command("forget", "crane")[1]


def test_what_stands_nowhere_is_still_an_error_of_its_own(learned, command):
    assert "nothing matched" in command("forget", "--text", "zeppelin")[1]


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 1)])
@pytest.mark.parametrize("text", ["harbor", "crane3"])
def test_at_a_terminal_everything_that_stands_somewhere_is_asked_for(answer, status, text, learned, handbook, home):
    before = handbook()
    ours, theirs = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    words = [sys.executable, "-m", "codexmem_core.cli", "--home", home, "--config", home / "config.toml"]
    with subprocess.Popen(
        [*words, "forget", text], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True
    ) as asking:
        os.write(ours, f"{answer}\n".encode())
        out, err = asking.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert asking.returncode == status, (out, err)
    assert "The text stands in the notes of" in err
    assert (handbook() == before) == (answer == "n")
