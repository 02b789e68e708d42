"""``codexmem config``: what holds and why, and writing one setting."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NOTES = "# mine\n[memories]\nuse_memories = true  # keep\n"


@pytest.fixture
def config(tmp_path):
    """Run the command over a file of the test's own; exit status, output, complaints."""
    path = tmp_path / "config.toml"
    path.write_text(NOTES)

    def run(*words, command="config", **environ):
        codexmem = [sys.executable, "-m", "codexmem_core.cli", "--home", tmp_path / "home", "--config", path]
        environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **environ}
        done = subprocess.run([*codexmem, command, *words], env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    run.path = path
    return run


@pytest.mark.parametrize(
    ("name", "given", "written"),
    [
        ("memories.use_memories", "false", "use_memories = false  # keep"),
        ("memories.max_unused_days", "12", "max_unused_days = 12"),
        ("models.timeout_s", "2.5", "timeout_s = 2.5"),
        ("models.model", 'a "b"', 'model = "a \\"b\\""'),
        ("plugins.disabled", "memory-v2, mcp", 'disabled = ["memory-v2", "mcp"]'),
        ("memories.version", "v1", 'read = "v1"'),
        ("claude-import.enabled", "true", "enabled = true"),
    ],
)
def test_a_setting_is_written_and_the_rest_of_the_file_stays(config, name, given, written):
    status, said, complaint = config("set", name, given)
    assert (status, complaint) == (0, "")
    assert said.startswith(f"{config.path}: ")
    lines = config.path.read_text().splitlines()
    assert written in lines
    assert {"# mine", "[memories]"} < set(lines)
    table, _, key = name.partition(".")
    shown = json.loads(config("--json")[1])["tables"][table][{"version": "read"}.get(key, key)]
    assert shown["origin"] == str(config.path)


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        (
            "memories.use_memorys",
            "true",
            "there is no setting memories.use_memorys; did you mean memories.use_memories?",
        ),
        ("nonsense", "1", "there is no setting nonsense"),
        ("memories.use_memories", "perhaps", "memories.use_memories must be true or false"),
        ("memories.max_unused_days", "999", "memories.max_unused_days is 999, outside 0..365"),
        ("models.wire", "telex", "models.wire must be one of responses, chat"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(config, name, given, complaint):
    status, said, complained = config("set", name, given)
    assert (status, said) == (1, "")
    assert complained == f"codexmem: {complaint}\n"
    assert config.path.read_text() == NOTES


def test_a_variable_that_comes_first_is_told(config):
    status, _, complaint = config("set", "memories.max_unused_days", "12", CODEXMEM_MEMORIES_MAX_UNUSED_DAYS="20")
    assert status == 0
    assert complaint == "warning: environment CODEXMEM_MEMORIES_MAX_UNUSED_DAYS comes before the file and says 20\n"
    assert "max_unused_days = 12" in config.path.read_text()


def test_a_file_that_cannot_be_understood_is_left_alone(config):
    config.path.write_text("[memories\n")
    status, _, complaint = config("set", "memories.use_memories", "false")
    assert status == 1
    assert "write it yourself: below [memories], use_memories = false" in complaint
    assert config.path.read_text() == "[memories\n"


def test_a_model_that_cannot_be_asked_is_told_here_and_in_status(config):
    status, said, complained = config("set", "models.backend", "oracle")
    assert (status, complained.count("no model backend called oracle")) == (0, 1)
    assert "backend" in said
    assert "model     no model backend called oracle (there are: " in config(command="status")[1]
    _, _, complained = config("set", "models.backend", "extractive")
    assert complained == ""
