"""Where things are: below the one home, under names that do not depend on a project."""

from __future__ import annotations

import os

import pytest


def test_a_memory_has_its_folder_and_its_database_in_the_home(engine_of, tmp_path, monkeypatch):
    home = tmp_path / "home"
    for project in (tmp_path, home):
        os.makedirs(project, exist_ok=True)
        monkeypatch.chdir(project)
        engine = engine_of()
        assert engine.memory_root("memory-v1") == str(home / "memories")
        assert engine.home.catalogue == str(home / "catalog.db")
        with engine.jobs("memory-v1"):
            assert (home / "memory.db").is_file()


def test_a_pass_writes_the_summary_in_the_memorys_folder(run_once, codex_home, tmp_path):
    codex_home(("user", "Always run make lint before a commit."), ("assistant", "I will."))
    run_once()
    for name in ("memory_summary.md", "MEMORY.md", "raw_memories.md"):
        assert (tmp_path / "home" / "memories" / name).is_file()


def test_sessions_of_every_project_are_learned_wherever_the_command_runs(run_once, codex_home, tmp_path, monkeypatch):
    projects = [tmp_path / name for name in ("harbor", "bridge")]
    for project in projects:
        project.mkdir()
        codex_home(
            ("user", f"Always run make {project.name} before a commit."), ("assistant", "Yes."), cwd=str(project)
        )
    monkeypatch.chdir(projects[0])
    assert run_once().sessions["extracted"] == 2
    handbook = (tmp_path / "home" / "memories" / "MEMORY.md").read_text()
    assert all(f"make {project.name}" in handbook and str(project) in handbook for project in projects)


@pytest.mark.parametrize("linked", ["memories", "home"])
def test_a_home_may_be_a_link_and_a_memory_root_may_not(run_once, codex_home, tmp_path, linked):
    codex_home(("user", "Always run make lint before a commit."), ("assistant", "I will."))
    (tmp_path / "elsewhere").mkdir()
    if linked == "home":
        (tmp_path / "home").symlink_to(tmp_path / "elsewhere")
        assert not run_once().failed
        assert (tmp_path / "elsewhere" / "memories" / "MEMORY.md").is_file()
    else:
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "memories").symlink_to(tmp_path / "elsewhere")
        assert run_once().failed
        assert os.listdir(tmp_path / "elsewhere") == []
