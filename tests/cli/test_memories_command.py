"""``codexmem memories``: both sides, what is missing, and switching what new sessions read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "contrib" / "samples"


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A home in which the sample sessions are learned by both memories, made once."""
    place = tmp_path_factory.mktemp("memories")
    status, text, complaint = started(place, place / "home", "run", "--sessions", str(SAMPLES), "--now")
    assert status == 0, text + complaint
    return place / "home"


def started(place, home, *arguments, **environ):
    done = subprocess.run(
        [sys.executable, "-m", "codexmem_core.cli", "--home", str(home), *arguments],
        capture_output=True, text=True, check=False,
        env={"HOME": str(place), "PATH": "/usr/bin:/bin", "CODEXMEM_CONFIG": str(place / "config.toml"), **environ},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def codexmem(learned, tmp_path):
    """Run a command with settings of the test's own; exit status, what it printed, what it complained of."""
    return lambda *arguments, **environ: started(tmp_path, learned, *arguments, **environ)


def test_both_sides_are_shown_with_what_is_missing(codexmem, learned):
    status, text, _ = codexmem("memories")
    assert status == 0
    v1, v2 = text.split("\nv2\n")
    assert v1.startswith("v1 (new sessions read it)\n")
    for side, folder in ((v1, "memories"), (v2, "memories_v2")):
        assert f"files     {learned / folder}, summary " in side
        assert "14 in " in side
        assert "not ready to be read, missing: one consolidation of 20 sessions (the largest had 14)" in side
    assert text.endswith("switch new sessions with: codexmem memories use v2\n")
    status, text, _ = codexmem("status")
    assert text.count("not ready to be read, missing: one consolidation of 20 sessions") == 2


def test_a_lower_threshold_makes_them_ready(codexmem, tmp_path):
    (tmp_path / "config.toml").write_text("[memories]\nready_sessions = 14\n")
    value = json.loads(codexmem("--json", "memories")[1])
    for memory in value["memories"].values():
        assert memory["readiness"] == {"ready": True, "sessions": 14, "needed": 14, "missing": []}
    (tmp_path / "config.toml").write_text("[memories]\nready_sessions = 5000\n")
    assert "ready_sessions is 5000, outside 1..4096; 4096 is used" in codexmem("status")[1]


def printed(home):
    """Names of the memories whose words hooks print."""
    return {path.read_bytes().split(b" ")[0].decode() for path in (home / "read").iterdir() if not path.suffix}


def test_use_writes_the_users_file_and_hooks_print_the_other_memory_from_then_on(codexmem, learned, tmp_path):
    (tmp_path / "config.toml").write_text('# mine\n[models]\nbackend = "extractive"\n')
    status, text, complaint = codexmem("memories", "use", "v2")
    assert status == 0
    assert f"{tmp_path / 'config.toml'}: new sessions read v2; those that were given another memory keep it" in text
    assert "warning: v2 is not ready, sessions are given what there is; missing: one consolidation" in complaint
    assert (tmp_path / "config.toml").read_text() == (
        '# mine\n[models]\nbackend = "extractive"\n\n[memories]\nread = "v2"\n'
    )
    assert printed(learned) == {"v2"}
    assert "codexmem memory v2" in codexmem("context")[1]
    assert json.loads(codexmem("--json", "memories")[1])["reads"] == "v2"
    codexmem("memories", "use", "v1")
    assert 'read = "v1"\n' in (tmp_path / "config.toml").read_text()
    assert printed(learned) == {"v1"}


def test_a_memory_that_is_not_there_cannot_be_used(codexmem, tmp_path):
    status, text, complaint = codexmem("memories", "use", "v7")
    assert (status, text) == (1, "")
    assert complaint == "codexmem: no memory called v7 is installed (installed: v1, v2)\n"
    assert not (tmp_path / "config.toml").exists()
    assert codexmem("memories", "use")[0] == 2


def test_a_chosen_memory_that_is_not_there_is_told_with_what_is_read_instead(codexmem, tmp_path):
    (tmp_path / "config.toml").write_text('[memories]\nread = "v7"\n')
    warning = "memories.read is v7, which is not installed (v1, v2); v1 is used"
    assert codexmem("memories")[1].endswith(f"\nwarning: {warning}\n")
    assert json.loads(codexmem("--json", "memories")[1])["warnings"] == [warning]


def test_what_a_memory_that_is_not_installed_left_is_told(codexmem, learned, tmp_path):
    (tmp_path / "config.toml").write_text('[plugins]\ndisabled = ["memory-v2"]\n')
    left = f"memory    {learned / 'memory_v2.db'} is kept for a memory that is not installed\n"
    for command in ("memories", "status"):
        assert left in codexmem(command)[1]
    assert json.loads(codexmem("--json", "memories")[1])["on_disk"] == [str(learned / "memory_v2.db")]
    (tmp_path / "config.toml").write_text("")
    assert left not in codexmem("memories")[1]


def test_a_variable_that_comes_first_is_told(codexmem):
    status, _, complaint = codexmem("memories", "use", "v2", CODEXMEM_MEMORIES_READ="v1")
    assert status == 0
    assert "warning: new sessions still read v1: environment CODEXMEM_MEMORIES_READ comes before the file" in complaint


def test_a_file_that_is_left_to_the_user_is_not_touched(codexmem, tmp_path):
    (tmp_path / "config.toml").write_text('memories = { read = "v1" }\n')
    status, _, complaint = codexmem("memories", "use", "v2")
    assert status == 1
    assert 'write it yourself: below [memories], read = "v2"' in complaint
    assert complaint.count("\n") == 1


def test_one_memory_alone_needs_no_readiness(codexmem):
    text = codexmem("status", CODEXMEM_DISABLE="memory-v2")[1]
    assert "ready" not in text
    assert "switch" not in codexmem("memories", CODEXMEM_DISABLE="memory-v2")[1]
    assert "no memory is installed" in codexmem("memories", CODEXMEM_DISABLE="memory-v1,memory-v2")[1]
