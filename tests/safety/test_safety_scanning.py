"""Scans of a folder behind the guard: which files they give, which they leave out, and what cannot stop them."""

import errno
import os
import subprocess
import tempfile
from pathlib import Path

from codexmem_hookspecs.known import Known

from codexmem_core.safety.files import GuardedFolder

NOBODY = 65_534


def paths(folder, *arguments, **options):
    return sorted(stat.path for stat in folder.scan(*arguments, **options))


def test_a_scan_gives_files_with_their_stats_and_no_dotfiles(memory, root):
    assert paths(memory) == ["MEMORY.md", "notes/deep/two.jsonl", "notes/one.md"]
    assert paths(memory, "notes") == ["notes/deep/two.jsonl", "notes/one.md"]
    assert paths(memory, suffixes=(".jsonl", ".zst")) == ["notes/deep/two.jsonl"]
    assert paths(GuardedFolder(str(root), dotfiles=True))[0] == ".git/HEAD"
    real = (root / "MEMORY.md").stat()
    (stat,) = memory.scan(suffixes=("MEMORY.md",))
    assert stat == ("MEMORY.md", real.st_size, real.st_mtime_ns, real.st_ino) == memory.stat("MEMORY.md")


def test_a_scan_of_nothing_gives_nothing(memory, store, tmp_path):
    assert paths(memory, "none") == paths(store, "none") == []
    assert paths(GuardedFolder(str(tmp_path / "none"))) == []


def test_links_are_followed_once_and_only_when_asked(store, root, tmp_path):  # spec case 69
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "three.md").write_bytes(b"3")
    (tmp_path / "far" / "loop").symlink_to(tmp_path / "far")
    for name, target in {
        "far": tmp_path / "far",
        "far again": tmp_path / "far",
        "same": root / "notes",
        "up": root,
        "top": "/",
        "file": tmp_path / "outside.md",
        "one again": root / "notes" / "one.md",
        "gone": "nowhere",
    }.items():
        (root / name).symlink_to(target)
    (root / "notes" / "back").symlink_to(root / "notes")
    here = ["MEMORY.md", "notes/deep/two.jsonl", "notes/one.md"]
    assert paths(store) == here
    found = paths(store, links=True)
    assert [path for path in found if "three" not in path] == sorted([*here, "file"])
    (far,) = [path for path in found if "three" in path]
    assert store.read(far) == b"3"
    assert store.read("file") == b"outside"


def known_of(folder, *paths):
    return Known.of((f"{folder.root}/{path}", folder.stat(path).stamp) for path in paths)


def test_a_scan_leaves_out_what_is_known_in_the_state_it_has(memory, root):
    files = ["MEMORY.md", "notes/deep/two.jsonl", "notes/one.md"]
    for count in range(4):
        known = known_of(memory, *files[:count])
        assert paths(memory, known=known) == files[count:]
        assert known.count == count
    known = known_of(memory, *files)
    (root / "notes" / "one.md").write_bytes(b"another length")
    (root / "notes" / "new.md").write_bytes(b"")
    (root / "MEMORY.md").unlink()
    assert paths(memory, known=known) == ["notes/new.md", "notes/one.md"]
    assert known.count == 1


def test_files_that_are_not_wanted_do_not_hide_that_the_rest_is_known(memory, root):
    known = known_of(memory, "notes/one.md")
    (root / "notes" / ".hidden.md").write_bytes(b"")
    (root / "notes" / "other.txt").write_bytes(b"")
    assert paths(memory, "notes", suffixes=(".md",), known=known) == []
    assert known.count == 1


def test_a_known_file_behind_a_link_is_known_by_the_path_through_it(root, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "three.md").write_bytes(b"3")
    (root / "far").symlink_to(tmp_path / "far")
    (root / "file.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "alias").symlink_to(root)
    folder = GuardedFolder(str(tmp_path / "alias"), links=True)
    known = known_of(folder, "far/three.md", "file.md")
    assert paths(folder, links=True, known=known) == ["MEMORY.md", "notes/deep/two.jsonl", "notes/one.md"]
    assert known.count == 2


def test_a_folder_that_may_not_be_read_stops_nothing():
    heard = []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o755)
        (root / "MEMORY.md").write_bytes(b"")
        (root / "notes").mkdir(mode=0)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(NOBODY)  # root may read everything
            folder = GuardedFolder(str(root), on_error=lambda path, error: heard.append((path, error.errno)))
            assert paths(folder) == ["MEMORY.md"]
        finally:
            os.seteuid(user)
    assert heard == [("notes", errno.EACCES)]


def test_a_folder_that_cannot_be_listed_stops_nothing(root):
    deep = root
    name = "d" * 250
    for _ in range(20):  # deeper than a path may be long
        descriptor = os.open(deep, os.O_RDONLY) if isinstance(deep, Path) else deep
        os.mkdir(name, dir_fd=descriptor)
        deep = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
    os.close(deep)
    heard = []
    folder = GuardedFolder(str(root), on_error=lambda path, error: heard.append(error.errno))
    assert paths(folder) == ["MEMORY.md", "notes/deep/two.jsonl", "notes/one.md"]
    assert heard == [errno.ENAMETOOLONG]
    asked = []
    assert paths(folder, on_error=lambda path, error: asked.append(error.errno)) == paths(folder)
    assert asked == [errno.ENAMETOOLONG]
    subprocess.run(["rm", "-rf", str(root / name)], check=True)
