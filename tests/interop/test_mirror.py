"""The one sync: an extension folder becomes what the mirror says, and nothing else is touched."""

import os
import signal
import subprocess
import sys

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.interop import Mirror
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.interop.mirror import MirrorResult, apply_mirror
from codexmem_core.safety.files import GuardedFolder

BASE = "extensions/codex_import"


def mirror(files, *, instructions="how to read this\n", keep=(), extension="codex_import"):
    return Mirror(extension=extension, instructions=instructions, files=files, keep=keep)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "memories"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(root):
    return GuardedFolder(str(root), write=True)


def content_of(root):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_the_first_sync_writes_everything(folder, root):
    result = apply_mirror(folder, mirror({"codex/MEMORY.md": b"handbook\n", "codex/memory_summary.md": b"v1\n"}))
    assert content_of(root) == {
        f"{BASE}/instructions.md": b"how to read this\n",
        f"{BASE}/resources/codex/MEMORY.md": b"handbook\n",
        f"{BASE}/resources/codex/memory_summary.md": b"v1\n",
    }
    assert result.changed
    assert result.written == tuple(content_of(root))
    assert result.removed == ()


def test_the_same_again_writes_nothing(folder, root):
    wanted = mirror({"a.md": b"a", "empty.md": b""})
    apply_mirror(folder, wanted)
    before = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in sorted(root.rglob("*"))]
    assert apply_mirror(folder, wanted) == MirrorResult()
    assert not apply_mirror(folder, wanted).changed
    assert before == [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in sorted(root.rglob("*"))]


def test_changed_files_are_replaced_and_others_removed(folder, root):
    apply_mirror(folder, mirror({"same.md": b"s", "edited.md": b"aaa", "gone/deep.md": b"g"}))
    result = apply_mirror(folder, mirror({"same.md": b"s", "edited.md": b"bbb"}, instructions="new words\n"))
    assert result.written == (f"{BASE}/instructions.md", f"{BASE}/resources/edited.md")
    assert result.removed == (f"{BASE}/resources/gone/deep.md",)
    assert content_of(root)[f"{BASE}/resources/edited.md"] == b"bbb"
    assert not (root / BASE / "resources/gone").exists()


def test_a_mirror_without_files_empties_resources_and_keeps_the_instructions(folder, root):
    assert apply_mirror(folder, mirror({})) == MirrorResult()
    assert content_of(root) == {}
    apply_mirror(folder, mirror({"a.md": b"a"}))
    result = apply_mirror(folder, mirror({}, instructions="never written\n"))
    assert result.removed == (f"{BASE}/resources/a.md",)
    assert content_of(root) == {f"{BASE}/instructions.md": b"how to read this\n"}
    assert not (root / BASE / "resources").exists()


def test_kept_prefixes_survive_and_name_whole_components(folder, root):
    apply_mirror(folder, mirror({"shop/a.md": b"1", "shop-2/a.md": b"2", "web/b.md": b"3", "one.md": b"4"}))
    result = apply_mirror(folder, mirror({"new.md": b"n"}, keep=("shop/", "one.md")))
    assert result.removed == (f"{BASE}/resources/shop-2/a.md", f"{BASE}/resources/web/b.md")
    assert (root / BASE / "resources/shop/a.md").read_bytes() == b"1"
    assert (root / BASE / "resources/one.md").read_bytes() == b"4"


def test_a_users_own_files_beside_resources_and_in_other_extensions_stay(folder, root):
    for path in ("extensions/ad_hoc/notes/n.md", f"{BASE}/readme.md", "MEMORY.md", f"{BASE}/resources/.keep"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("mine")
    apply_mirror(folder, mirror({"a.md": b"a"}))
    apply_mirror(folder, mirror({}))
    assert [path for path, content in content_of(root).items() if content == b"mine"] == [
        "MEMORY.md",
        "extensions/ad_hoc/notes/n.md",
        f"{BASE}/readme.md",
        f"{BASE}/resources/.keep",
    ]


def test_what_is_in_the_way_is_replaced_and_never_written_through(folder, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("theirs")
    resources = root / BASE / "resources"
    (resources / "folder.md").mkdir(parents=True)
    (resources / "folder.md/x.md").write_text("x")
    (resources / "link.md").symlink_to(outside / "file.md")
    (resources / "linked").symlink_to(outside, target_is_directory=True)
    (resources / "stale-link.md").symlink_to(outside / "file.md")
    (resources / "file").write_text("a file where a folder belongs")
    os.mkfifo(resources / "pipe.md")
    wanted = {
        "folder.md": b"1",
        "link.md": b"2",
        "linked/file.md": b"3",
        "file/a.md": b"4",
        "pipe.md": b"5",
    }

    apply_mirror(folder, mirror(wanted))

    assert (outside / "file.md").read_text() == "theirs"
    assert [path.name for path in outside.iterdir()] == ["file.md"]
    assert not [path for path in root.rglob("*") if path.is_symlink()]
    assert content_of(root / BASE / "resources") == {path: wanted[path] for path in sorted(wanted)}
    assert not apply_mirror(folder, mirror(wanted)).changed


@pytest.mark.parametrize("linked", ["extensions", BASE])
def test_a_linked_extension_folder_is_refused(folder, root, tmp_path, linked):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "resources").mkdir()
    (outside / "resources/theirs.md").write_text("theirs")
    (root / linked).parent.mkdir(exist_ok=True)
    (root / linked).symlink_to(outside, target_is_directory=True)
    for files in ({"a.md": b"a"}, {}):
        with pytest.raises(Refused):
            apply_mirror(folder, mirror(files))
    assert content_of(outside) == {"resources/theirs.md": b"theirs"}


def test_a_linked_resources_folder_is_replaced(folder, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.md").write_text("theirs")
    (root / BASE).mkdir(parents=True)
    (root / BASE / "resources").symlink_to(outside, target_is_directory=True)
    apply_mirror(folder, mirror({}))
    assert content_of(outside) == {"theirs.md": b"theirs"}
    apply_mirror(folder, mirror({"a.md": b"a"}))
    assert content_of(outside) == {"theirs.md": b"theirs"}
    assert (root / BASE / "resources/a.md").read_bytes() == b"a"


@pytest.mark.parametrize(
    "name",
    [
        "../x.md",
        "a/../../x.md",
        "/etc/x",
        "",
        "a//b",
        "a/",
        ".hidden",
        "a/.git/x",
        ".",
        "a\\b",
        "a\0b",
        "a\nb",
        "\ud83d",
    ],
)
def test_unsafe_names_are_refused_before_anything_is_written(folder, root, name):
    with pytest.raises(Refused):
        apply_mirror(folder, mirror({"good.md": b"g", name: b"x"}))
    with pytest.raises(Refused):
        apply_mirror(folder, mirror({"good.md": b"g"}, extension=name))
    assert content_of(root) == {}


def test_a_name_cannot_be_file_and_folder(folder, root):
    with pytest.raises(Refused, match="file and a folder"):
        apply_mirror(folder, mirror({"a": b"1", "a/b.md": b"2"}))
    with pytest.raises(Refused):
        apply_mirror(folder, mirror({"a.md": b"1"}, extension="one/two"))
    assert content_of(root) == {}


def test_a_root_that_does_not_exist_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        apply_mirror(GuardedFolder(str(tmp_path / "absent"), write=True), mirror({"a.md": b"a"}))
    assert not (tmp_path / "absent").exists()


_PATHS = st.lists(st.sampled_from(["a", "b", "c.md", "ü"]), min_size=1, max_size=3).map("/".join)
_FILES = st.dictionaries(_PATHS, st.binary(max_size=8), max_size=6).map(
    lambda files: {path: text for path, text in files.items() if not any(one.startswith(path + "/") for one in files)}
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=_FILES, after=_FILES)
def test_from_any_state_one_sync_reaches_the_wanted_one_and_a_second_does_nothing(before, after, tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    folder = GuardedFolder(str(root), write=True)
    apply_mirror(folder, mirror(before))
    result = apply_mirror(folder, mirror(after))
    assert content_of(root / BASE / "resources") == {path: after[path] for path in sorted(after)}
    assert result.changed == (before != after)
    assert apply_mirror(folder, mirror(after)) == MirrorResult()


KILLED = """
import os, signal, sys
when = int(sys.argv[2])
reached = 0
def hook(event, args):
    global reached
    if event == "codexmem.instant":
        reached += 1
        if reached == when:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from codexmem_core.interop.mirror import apply_mirror
from codexmem_core.safety.files import GuardedFolder
from codexmem_hookspecs.values.interop import Mirror
files = {"a.md": b"new a", "b.md": b"new b"}
apply_mirror(GuardedFolder(sys.argv[1], write=True), Mirror(extension="codex_import", instructions="new", files=files))
"""


def test_a_sync_that_is_killed_is_completed_by_the_next(folder, root):
    for when in range(1, 8):
        apply_mirror(folder, mirror({"a.md": b"old a", "c.md": b"old c"}, instructions="old"))
        child = subprocess.run([sys.executable, "-c", KILLED, str(root), str(when)], check=False)
        assert child.returncode == (-signal.SIGKILL if when <= 6 else 0)
        for path, content in content_of(root).items():
            assert content in {b"old", b"new", b"old a", b"new a", b"new b", b"old c"} or "/." in path
        apply_mirror(folder, mirror({"a.md": b"new a", "b.md": b"new b"}, instructions="new"))
        visible = {path: content for path, content in content_of(root).items() if "/." not in path}
        assert visible == {
            f"{BASE}/instructions.md": b"new",
            f"{BASE}/resources/a.md": b"new a",
            f"{BASE}/resources/b.md": b"new b",
        }
