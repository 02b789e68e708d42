"""The directory that memories are about: from transcripts, never from a folder's name."""

import json
import shutil
import subprocess

import pytest
from codexmem_claude_import.scope import fits, key_of


def scopes(claude):
    return {
        path.split("/")[0]: json.loads(text)["cwd"]
        for path, text in claude.imported().items()
        if path.endswith("/scope.json")
    }


def git(*arguments, cwd):
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(claude):
    """A repository with a commit, so that it can have worktrees."""
    root = claude.directory("shop")
    git("init", "-q", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=root)
    return root


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/home/user/proj", "-home-user-proj"),
        ("/home/user/proj/.worktrees/x_1", "-home-user-proj--worktrees-x-1"),
        ("/home/é🙂設 x_y", "-home------x-y"),
    ],
)
def test_a_key_is_made_as_claude_code_makes_it(path, key):
    assert key_of(path) == key
    assert fits(key, path)


def test_a_long_key_is_known_by_its_beginning():
    path = "/home/" + "abcdefghij" * 25
    assert fits(f"{key_of(path)[:200]}-9zqfai", path)
    assert not fits(key_of(path), path)
    assert not fits(f"{key_of(path)[:199]}-9zqfai", path)


def test_two_directories_of_one_key_are_told_apart_by_the_newest_session(claude):
    first, second = claude.directory("a/b"), claude.directory("a-b")
    assert key_of(first) == key_of(second)
    claude.memory(first)
    claude.session(first)
    assert scopes(claude) == {key_of(first): first}
    claude.session(second)
    assert scopes(claude) == {key_of(first): second}


def test_the_newest_session_counts_that_still_has_its_directory(claude):
    there, gone = claude.directory("there"), claude.directory("gone")
    claude.memory(there)
    claude.session(there)
    claude.session(gone, key=key_of(there))
    shutil.rmtree(gone)
    assert scopes(claude) == {key_of(there): there}


def test_odd_lines_of_a_transcript_are_passed_over(claude):
    there = claude.directory("there")
    claude.memory(there)
    odd = [
        '{"cwd": "broken\n',
        "[1]\n",
        {"cwd": 7},
        {"cwd": "relative/there"},
        {"cwd": "/no/such/folder"},
        {"cwd": "/with\0zero"},
        '{"cwd": "/half \\ud83d"}\n',
        {"cwd": there},
    ]
    claude.session(there, lines=odd)
    assert scopes(claude) == {key_of(there): there}


def test_a_link_on_the_way_is_resolved(claude):
    there = claude.directory("there")
    (claude.user / "link").symlink_to(there)
    claude.memory(there)
    claude.session(f"{claude.user}/link", key=key_of(there))
    assert scopes(claude) == {key_of(there): there}


def test_a_project_without_a_directory_is_not_imported_and_told(claude):
    claude.memory("/home/somebody/away")
    assert claude.imported() == {}
    assert any("says which directory it is about" in line for _, line in claude.state())


def test_a_copy_without_a_scope_goes_when_no_directory_is_known(claude):
    claude.memory("/home/somebody/away")
    leftover = claude.root / "extensions/external_agent_import/resources" / key_of("/home/somebody/away")
    leftover.mkdir(parents=True)
    (leftover / "MEMORY.md").write_text("unscoped")
    assert claude.imported() == {}


def test_an_import_survives_its_directory_and_still_follows_its_source(claude):
    there = claude.project("there", **{"a.md": "a\n", "b.md": "b\n"})
    claude.imported()
    shutil.rmtree(there)
    assert scopes(claude) == {key_of(there): there}
    (claude.home / "projects" / key_of(there) / "memory/b.md").unlink()
    assert set(claude.imported()) == {f"{key_of(there)}/a.md", f"{key_of(there)}/scope.json"}


def test_sessions_in_a_subfolder_tell_of_which_repository_the_memory_is(claude, repository):
    """The memory lies under the repository's key, the transcripts under the subfolder's (Claude Code 2.1)."""
    claude.memory(repository)
    claude.session(claude.directory("shop/src/deep"))
    assert scopes(claude) == {key_of(repository): repository}


@pytest.mark.parametrize("place", ["shop-tree", "shop/.worktrees/x"])
def test_sessions_in_a_worktree_tell_of_the_main_one(claude, repository, place):
    git("worktree", "add", "-q", str(claude.user / place), "-b", "other", cwd=repository)
    claude.memory(repository)
    claude.session(str(claude.user / place))
    assert scopes(claude) == {key_of(repository): repository}


def test_a_worktree_that_vanished_leaves_the_word_to_another(claude, repository):
    for name in ("one", "two"):
        git("worktree", "add", "-q", str(claude.user / name), "-b", name, cwd=repository)
        claude.session(str(claude.user / name))
    claude.memory(repository)
    shutil.rmtree(claude.user / "two")
    assert scopes(claude) == {key_of(repository): repository}


def test_of_a_bare_repository_the_newest_worktree_is_the_directory(claude, repository):
    git("clone", "-q", "--bare", repository, str(claude.user / "shop.git"), cwd=claude.user)
    for name in ("one", "two"):
        git("worktree", "add", "-q", str(claude.user / name), "-b", name, cwd=claude.user / "shop.git")
        claude.session(str(claude.user / name))
    bare = str(claude.user / "shop.git")
    claude.memory(bare)
    assert scopes(claude) == {key_of(bare): str(claude.user / "two")}


def test_a_repository_of_another_name_says_nothing(claude, repository):
    claude.memory(f"{repository}-other")
    claude.session(claude.directory("shop/src"))
    assert claude.imported() == {}
