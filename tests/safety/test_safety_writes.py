"""Writing and removing behind the path guard: whole or not at all, and never through a link."""

import errno
import os
import random
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from codexmem_hookspecs.errors import Refused

from codexmem_core.safety import instants
from codexmem_core.safety.files import GuardedFolder, atomic_write


def test_a_write_replaces_or_creates_and_makes_folders(memory, root):
    memory.write("MEMORY.md", b"new")
    memory.write("a/b/c.md", b"c")
    assert memory.read("MEMORY.md") == b"new"
    assert (root / "a" / "b" / "c.md").read_bytes() == b"c"
    assert (root / "a" / "b" / "c.md").stat().st_mode & 0o777 == 0o600
    assert not [name for name in os.listdir(root) if name.endswith(".tmp")]


def test_a_write_makes_the_root_and_keeps_permissions(tmp_path):
    folder = GuardedFolder(str(tmp_path / "newer" / "new" / "root"), write=True)
    folder.write("y", b"1")
    made = (tmp_path / "newer", tmp_path / "newer" / "new", tmp_path / "newer" / "new" / "root")
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3
    folder = GuardedFolder(str(tmp_path / "new" / "root"), write=True)
    folder.write("x", b"1")
    os.chmod(tmp_path / "new" / "root" / "x", 0o644)
    folder.write("x", b"2")
    assert (tmp_path / "new" / "root" / "x").stat().st_mode & 0o777 == 0o644


def test_an_exclusive_write_never_replaces(memory, root):
    memory.write("note.md", b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        memory.write("note.md", b"second", exclusive=True)
    (root / "dangling").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        memory.write("dangling", b"x", exclusive=True)
    assert memory.read("note.md") == b"first"


def test_of_many_exclusive_writers_one_wins(memory):
    won = []

    def attempt(number):
        try:
            memory.write("race.md", b"%d" % number, exclusive=True)
            won.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert memory.read("race.md") == b"%d" % won[0]


def test_another_name_of_the_same_file_keeps_its_content(memory, root, tmp_path):
    os.link(root / "MEMORY.md", tmp_path / "other name")
    memory.write("MEMORY.md", b"new")
    assert (tmp_path / "other name").read_bytes() == b"old"
    assert memory.read("MEMORY.md") == b"new"


def test_a_folder_opened_for_reading_refuses_to_write(store, root):
    for use in (lambda: store.write("x", b"x"), lambda: store.remove("MEMORY.md"), lambda: store.lock("x")):
        with pytest.raises(Refused, match="reading only"):
            use()
    assert (root / "MEMORY.md").exists()


def test_remove_takes_files_and_links_but_not_what_they_lead_to(memory, root, tmp_path):
    (root / "link").symlink_to(tmp_path / "outside.md")
    (root / "folder").symlink_to(tmp_path)
    assert memory.remove("MEMORY.md")
    assert not memory.remove("MEMORY.md")
    assert not memory.remove("none/none.md")
    assert memory.remove("link")
    assert memory.remove("folder")
    with pytest.raises(Refused, match="is a folder"):
        memory.remove("notes")
    assert (tmp_path / "outside.md").read_bytes() == b"outside"
    assert (root / "notes" / "one.md").exists()


LISTENER = """
import os, sys
from codexmem_core.safety.files import GuardedFolder, atomic_write
from codexmem_core.safety.instants import EVENT
def listen(event, arguments):
    if event == EVENT:
        print(arguments[0], open(sys.argv[1] + "/MEMORY.md").read(), flush=True)
        if sys.argv[2] == arguments[0]:
            os._exit(9)
sys.addaudithook(listen)
GuardedFolder(sys.argv[1], write=True).write("MEMORY.md", b"new")
atomic_write(sys.argv[1] + "/notes/one.md", b"other", "one")
"""


def run_with_listener(root, stop_at=""):
    return subprocess.run(
        [sys.executable, "-c", LISTENER, str(root), stop_at], capture_output=True, text=True, check=False
    )


def test_each_rename_announces_itself_before_and_after(root):
    assert instants.EVENT == "codexmem.instant"
    assert run_with_listener(root).stdout.splitlines() == [
        "rename:MEMORY.md:before old",
        "rename:MEMORY.md:after new",
        "rename:one:before new",
        "rename:one:after new",
    ]


def test_a_writer_killed_at_its_rename_leaves_the_old_or_the_new_content(root):  # spec case 44
    assert run_with_listener(root, "rename:MEMORY.md:before").returncode == 9
    assert (root / "MEMORY.md").read_bytes() == b"old"
    assert [stat.path for stat in GuardedFolder(str(root)).scan() if ".tmp" in stat.path] == []
    assert run_with_listener(root, "rename:MEMORY.md:after").returncode == 9
    assert (root / "MEMORY.md").read_bytes() == b"new"


LIMITED = """
import resource, signal, sys
from codexmem_core.safety.files import GuardedFolder, atomic_write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for write in (
    lambda: atomic_write(sys.argv[1] + "/MEMORY.md", b"x" * 200_000, "MEMORY.md"),
    lambda: GuardedFolder(sys.argv[1], write=True).write("MEMORY.md", b"x" * 200_000),
):
    try:
        write()
    except OSError as error:
        print(error.errno)
"""


def test_a_write_that_the_disk_refuses_leaves_everything_as_it_was(root):  # spec case 45
    done = subprocess.run([sys.executable, "-c", LIMITED, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(errno.EFBIG)] * 2
    assert (root / "MEMORY.md").read_bytes() == b"old"
    assert sorted(os.listdir(root)) == [".git", "MEMORY.md", "notes"]


def test_a_full_disk_leaves_everything_as_it_was(tmp_path):  # spec case 45
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a small file system here")
    try:
        folder = GuardedFolder(str(small), write=True)
        folder.write("MEMORY.md", b"old" * 1000)
        for write in (folder.write, lambda path, content: atomic_write(str(small / path), content, "MEMORY.md")):
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as raised:
                write("MEMORY.md", b"x" * 2_000_000)
            assert raised.value.filename == "MEMORY.md"
            assert folder.read("MEMORY.md") == b"old" * 1000
            assert os.listdir(small) == ["MEMORY.md"]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_reader_never_sees_half_a_file(memory):
    contents = {bytes((65 + number,)) * 300_000 for number in range(4)}
    memory.write("MEMORY.md", b"A" * 300_000)
    seen = []
    stop = threading.Event()

    def write():
        while not stop.is_set():
            memory.write("MEMORY.md", random.choice(sorted(contents)))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(60):
            with suppress(Refused):  # replaced between opening and checking
                seen.append(memory.read("MEMORY.md"))
    finally:
        stop.set()
        writer.join()
    assert seen
    assert contents.issuperset(seen)


def test_atomic_write_refuses_a_linked_folder_and_a_linked_file(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    with pytest.raises(OSError, match=r"directory|symbolic"):
        atomic_write(str(tmp_path / "alias" / "x"), b"x", "x")
    (root / "link").symlink_to(tmp_path / "outside.md")
    with pytest.raises(Refused):
        atomic_write(str(root / "link"), b"x", "link")
    assert (tmp_path / "outside.md").read_bytes() == b"outside"


# locks
