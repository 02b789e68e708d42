"""What lies in a memory's folder and is no part of its baseline: links, hidden files, other repositories, pipes."""

import os

import pytest
from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.baseline import Baseline


def test_a_link_in_the_root_stops_diff_and_commit_instead_of_being_read(baseline, put, root, tmp_path):
    baseline.ensure()
    put({"rollout_summaries/a.md": "a\n"})
    baseline.commit("first")
    (tmp_path / "private.txt").write_text("somebody's secret")
    (root / "rollout_summaries/b.md").symlink_to(tmp_path / "private.txt")

    with pytest.raises(Refused, match=r"b\.md is a symbolic link"):
        baseline.diff()
    with pytest.raises(Refused):
        baseline.commit("second")

    (root / "rollout_summaries/b.md").unlink()
    (root / "linked").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(Refused):
        baseline.diff()


def test_a_linked_root_is_refused(baseline, root, clock, tmp_path):
    baseline.ensure()
    (tmp_path / "alias").symlink_to(root, target_is_directory=True)
    with pytest.raises(Refused, match="symbolic link"):
        Baseline(str(tmp_path / "alias"), clock).ensure()


def test_dotfiles_and_the_diff_file_are_no_part_of_the_memory(baseline, put, git, changes):
    baseline.ensure()
    put({"a.md": "a\n", ".hidden": "x", ".cache/b.md": "b\n", "c/.tmp-1": "t", "phase2_workspace_diff.md": "# old\n"})
    put({"c/phase2_workspace_diff.md": "a user's own file of that name\n"})

    assert changes(baseline.diff()) == [("A", "a.md"), ("A", "c/phase2_workspace_diff.md")]
    baseline.commit("first")
    assert git("ls-tree", "-r", "--name-only", "HEAD").split() == ["a.md", "c/phase2_workspace_diff.md"]


def test_a_repository_inside_the_memory_that_a_user_committed_is_passed_over(baseline, put, git, changes):
    baseline.ensure()
    put({"a.md": "a\n"})
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git("add", "a.md")
    git("commit", "-q", "-m", "by hand")
    assert baseline.ensure() == "kept"
    assert changes(baseline.diff()) == []
    put({"a.md": "b\n"})
    baseline.commit("ours")
    assert baseline.fold(keep=2) == 1
    git.check()


def test_hidden_files_that_a_user_committed_are_not_shown_as_deleted(baseline, put, git, changes):
    baseline.ensure()
    put({"a.md": "a\n", ".gitignore": "*.tmp\n"})
    git("add", "-A")
    git("commit", "-q", "-m", "by hand")
    assert changes(baseline.diff()) == []


def test_pipes_and_sockets_in_the_root_are_passed_over(baseline, put, root, changes):
    baseline.ensure()
    put({"a.md": "a\n"})
    os.mkfifo(root / "pipe.md")
    assert changes(baseline.diff()) == [("A", "a.md")]
