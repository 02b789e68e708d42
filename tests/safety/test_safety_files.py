"""The path guard: nothing leaves its folder, no link is followed."""

import os
import socket
import subprocess
import sys
import time

import pytest
from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codexmem_core.safety.files import GuardedFolder


def test_files_are_read_by_relative_path(memory):
    assert memory.read("MEMORY.md") == b"old"
    assert memory.read("notes/./deep//two.jsonl") == b"two\n"
    assert memory.read("notes\\one.md") == b"one"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.md", "notes/../../outside.md", "..", "notes\\..\\..\\x", "\\x"]
)
def test_paths_that_leave_are_refused(memory, store, path):
    for folder in (memory, store):
        for use in (folder.read, folder.stat, lambda p, folder=folder: list(folder.lines(p)), folder.tail):
            with pytest.raises(Refused, match="escapes"):
                use(path)
        with pytest.raises(Refused, match="escapes"):
            list(folder.scan(path))
    for use in (lambda p: memory.write(p, b"x"), memory.remove):
        with pytest.raises(Refused, match="escapes"):
            use(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "a", "/", "\\", "\0", "notes", "link", "", ".git", "~"])).map("/".join))
@example("link/secret")
def test_no_path_reaches_a_file_outside(tmp_path, memory, path):
    outside = tmp_path / "beside"
    outside.mkdir(exist_ok=True)
    (outside / "secret").write_bytes(b"secret")
    if not (tmp_path / "root" / "link").is_symlink():
        (tmp_path / "root" / "link").symlink_to(outside)
    for use in (memory.read, lambda p: memory.write(p, b"x"), memory.remove):
        try:
            assert use(path) != b"secret"
        except (Refused, OSError):
            pass
        except ValueError:
            pytest.fail("not a refusal")
    assert (outside / "secret").read_bytes() == b"secret"
    assert sorted(entry.name for entry in outside.iterdir()) == ["secret"]


def test_dotfiles_are_not_there(memory, root):
    for use in (memory.read, memory.stat, lambda path: memory.write(path, b"x"), memory.remove):
        with pytest.raises(FileNotFoundError) as caught:
            use(".git/HEAD")
        assert isinstance(caught.value, Refused)
    assert GuardedFolder(str(root), dotfiles=True).read(".git/HEAD") == b"ref"


def test_links_are_refused_wherever_they_stand_in_the_path(memory, root, tmp_path):
    (root / "file").symlink_to(tmp_path / "outside.md")
    (root / "inside").symlink_to(root / "MEMORY.md")
    (root / "folder").symlink_to(root / "notes")
    for path in ("file", "inside", "folder/one.md"):
        with pytest.raises(Refused, match="link"):
            memory.read(path)
        with pytest.raises(Refused, match=r"link|regular"):
            memory.write(path, b"x")
    assert (tmp_path / "outside.md").read_bytes() == b"outside"


def test_a_memory_root_that_is_a_link_is_refused(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    linked = GuardedFolder(str(tmp_path / "alias"), write=True)
    for use in (lambda: linked.read("MEMORY.md"), lambda: linked.write("x", b"x"), lambda: list(linked.scan())):
        with pytest.raises(Refused, match="link"):
            use()
    with pytest.raises(Refused, match="a file"):
        GuardedFolder(str(root / "MEMORY.md"), write=True).read("x")


def test_a_hosts_root_may_be_a_link_and_hold_links(root, tmp_path):  # spec case 69
    (tmp_path / "alias").symlink_to(root)
    (root / "folder").symlink_to(root / "notes")
    assert GuardedFolder(str(tmp_path / "alias")).read("MEMORY.md") == b"old"
    with pytest.raises(Refused):
        GuardedFolder(str(tmp_path / "alias")).read("folder/one.md")
    assert GuardedFolder(str(tmp_path / "alias"), links=True).read("folder/one.md") == b"one"
    with pytest.raises(Refused):
        GuardedFolder(str(root), links=True, write=True).read("folder/one.md")


def test_anything_but_a_regular_file_is_refused_without_hanging(memory, store, root, monkeypatch):
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for folder in (memory, store):
            for path in ("pipe", "socket", "notes"):
                for use in (folder.read, folder.stat, lambda p, folder=folder: list(folder.lines(p))):
                    with pytest.raises(Refused):
                        use(path)
        for path in ("pipe", "socket", "notes"):
            with pytest.raises(Refused):
                memory.write(path, b"x")


def test_missing_and_oversized_files_say_so(memory):
    with pytest.raises(FileNotFoundError):
        memory.read("none.md")
    with pytest.raises(FileNotFoundError):
        memory.stat("none/none.md")
    with pytest.raises(Refused, match="larger than 2 bytes"):
        memory.read("MEMORY.md", limit_bytes=2)
    assert memory.read("MEMORY.md", limit_bytes=3) == b"old"


def test_a_folders_stat_is_told_apart_from_a_files(memory, root, tmp_path):
    (root / "notes").mkdir(exist_ok=True)
    (root / "linked").symlink_to(tmp_path)
    real = (root / "notes").stat()
    assert memory.stat_folder("notes")[2:] == (real.st_mtime_ns, real.st_ino)
    for path in ("MEMORY.md", "linked"):
        with pytest.raises(Refused):
            memory.stat_folder(path)
    with pytest.raises(FileNotFoundError):
        memory.stat_folder("none")


def test_only_a_regular_file_that_may_be_read_is_one(memory, root, tmp_path):
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    assert memory.is_file("MEMORY.md")
    for path in ("none.md", "none/none.md", "MEMORY.md/below", "notes", "link.md", "../outside.md", ".git/HEAD"):
        assert not memory.is_file(path)


def test_lines_and_tail_go_through_the_guard(memory, store, root):
    for folder in (memory, store):
        assert list(folder.lines("notes/deep/two.jsonl")) == [(1, 4, b"two", "")]
        assert folder.tail("notes/deep/two.jsonl", 2) == (b"o\n", 4)
        with pytest.raises(Unreadable, match=r"none\.jsonl"):
            list(folder.lines("none.jsonl"))
        with pytest.raises(Rewritten):
            list(folder.lines("notes/deep/two.jsonl", 9))
    (root / "bad.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd broken")
    with pytest.raises(Unreadable, match=r"bad\.jsonl\.zst"):
        store.tail("bad.jsonl.zst")


SWAPPER = """
import os, sys
root = sys.argv[1]
os.rename(f"{root}/notes", f"{root}/real")
os.symlink(f"{root}/real", f"{root}/inside"); os.symlink(sys.argv[2], f"{root}/evil")
print("ready", flush=True)
count = 0
while True:
    for name in ("real", "evil"):
        try:
            os.rename(f"{root}/{name}", f"{root}/notes")
        except OSError:  # the writer made the folder in the meantime
            count += 1
            os.rename(f"{root}/notes", f"{root}/trash{count}")
        else:
            os.rename(f"{root}/notes", f"{root}/{name}")
"""


def test_a_folder_swapped_for_a_link_between_check_and_use_leads_nowhere(memory, root, tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "one.md").write_bytes(b"SECRET")
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(root), str(outside)], stdout=subprocess.PIPE)
    seen = set()
    try:
        swapper.stdout.readline()
        end = time.monotonic() + 20
        while time.monotonic() < end and not ({b"one", "refused"} <= seen and len(seen) >= 2):
            for _ in range(200):
                try:
                    seen.add(memory.read("notes/one.md"))
                except FileNotFoundError:
                    seen.add("missing")
                except Refused:
                    seen.add("refused")
                try:
                    memory.write("notes/new.md", b"x")
                except (FileExistsError, FileNotFoundError, Refused):
                    seen.add("not written")
    finally:
        swapper.kill()
        swapper.communicate()
    assert b"SECRET" not in seen
    assert {b"one", "refused"} <= seen
    assert [entry.name for entry in outside.iterdir()] == ["one.md"]
