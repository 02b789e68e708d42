"""Memory is one for all projects: where a session runs neither splits nor merges what is remembered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codexmem_core.readpath.session_start import session_start_context


@pytest.fixture
def places(tmp_path):
    """Folders that tools which go by a project's name mix up or tear apart."""
    repository = tmp_path / "main"
    (repository / "packages" / "web").mkdir(parents=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (
        ["init", "-q"],
        [*identity, "commit", "-q", "--allow-empty", "-m", "begin"],
        ["worktree", "add", "-q", "../wt"],
        ["worktree", "add", "-q", ".worktrees/inner"],
        ["clone", "-q", "--bare", ".", "../bare.git"],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True)
    subprocess.run(
        ["git", "worktree", "add", "-q", "../of-bare"], cwd=tmp_path / "bare.git", check=True, capture_output=True
    )
    for folder in ("a/web", "b/web"):
        (tmp_path / folder).mkdir(parents=True)
    names = ("main", "main/packages/web", "wt", "main/.worktrees/inner", "of-bare", "a/web", "b/web", "deleted/web")
    return [str(tmp_path / name) for name in names]


def test_every_folder_is_learned_from_and_given_the_same(places, codex_home, run_with, engine_of):
    words = ("otter", "heron", "lynx", "stork", "finch", "gull", "wren", "egret")
    for word, folder in zip(words, places, strict=True):
        codex_home(
            ("user", f"Always name the {word} branch when you write release notes for {word}."),
            ("assistant", "Certainly."),
            cwd=folder,
        )
    run_with()
    engine = engine_of()
    handbook = Path(engine.memory_root("memory-v1"), "MEMORY.md").read_text(encoding="utf-8")
    for word, folder in zip(words, places, strict=True):
        line = next(line for line in handbook.splitlines() if f"{word} branch" in line)
        assert folder in line  # in whole, never by its last name
    contexts = {session_start_context(engine, host="codex", cwd=folder) for folder in places}
    assert len(contexts) == 1
    assert "otter" in contexts.pop()
