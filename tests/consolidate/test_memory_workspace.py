"""A memory's files as hooks see them."""

import os

import pytest
from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.workspace import MemoryWorkspace


@pytest.fixture
def workspace(memory, root):
    return MemoryWorkspace(memory, str(root))


def test_files_are_read_as_text_and_listed_sorted(workspace, put):
    put({"b.md": "b\n", "a.md": b"caf\xe9\n", "d/c.md": "c\n", ".git/HEAD": "ref"})
    assert workspace.memory == "v1"
    assert workspace.read("a.md") == "caf\ufffd\n"
    assert list(workspace.walk()) == ["a.md", "b.md", "d/c.md"]
    assert list(workspace.walk("d")) == ["d/c.md"]


def test_what_is_missing_is_empty(workspace, memory, tmp_path):
    assert workspace.read("MEMORY.md") == ""
    assert not workspace.exists("MEMORY.md")
    assert list(workspace.walk("nowhere")) == []
    absent = MemoryWorkspace(memory, str(tmp_path / "absent"))
    assert (absent.read("a.md"), absent.exists("a.md"), list(absent.walk())) == ("", False, [])


def test_a_folder_a_pipe_and_a_link_are_no_files(workspace, root, put, tmp_path):
    (tmp_path / "outside.md").write_text("theirs")
    put({"folder/x.md": "x"})
    os.mkfifo(root / "pipe.md")
    (root / "MEMORY.md").symlink_to(tmp_path / "outside.md")
    for path in ("folder", "pipe.md", "MEMORY.md"):
        assert not workspace.exists(path)
        with pytest.raises(Refused):
            workspace.read(path)


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "a/../../x", ".."])
def test_nothing_outside_can_be_reached(workspace, path):
    assert not workspace.exists(path)
    with pytest.raises(Refused):
        workspace.read(path)


def test_dotfiles_are_not_there(workspace, put):
    put({".git/HEAD": "ref", "d/.hidden.md": "x"})
    for path in (".git/HEAD", "d/.hidden.md"):
        assert not workspace.exists(path)
        assert workspace.read(path) == ""
    assert list(workspace.walk()) == []


def test_a_linked_root_is_refused(memory, root, tmp_path):
    (tmp_path / "alias").symlink_to(root, target_is_directory=True)
    with pytest.raises(Refused, match="symbolic link"):
        MemoryWorkspace(memory, str(tmp_path / "alias"))


def test_it_cannot_write(workspace):
    assert not [name for name in dir(workspace) if name in {"write", "remove", "lock"}]
