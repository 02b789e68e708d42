"""The path guard: nothing leaves its folder, no link is followed, writes happen whole or not at all."""

import errno
import os
import random
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codexmem_core.safety import instants
from codexmem_core.safety.files import GuardedFolder, atomic_write

# reading


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


# writing


def test_a_write_replaces_or_creates_and_makes_folders(memory, root):
    memory.write("MEMORY.md", b"new")
    memory.write("a/b/c.md", b"c")
    assert memory.read("MEMORY.md") == b"new"
    assert (root / "a" / "b" / "c.md").read_bytes() == b"c"
    assert (root / "a" / "b" / "c.md").stat().st_mode & 0o777 == 0o600
    assert not [name for name in os.listdir(root) if name.endswith(".tmp")]


def test_a_write_makes_the_root_and_keeps_permissions(tmp_path):
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
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
                write("MEMORY.md", b"x" * 2_000_000)
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

HOLDER = """
import sys, time
from codexmem_core.safety.files import GuardedFolder
with GuardedFolder(sys.argv[1], write=True).lock("job") as held:
    print(held, flush=True)
    time.sleep(60)
"""


def test_a_lock_holds_against_processes_and_threads_and_a_crash_frees_it(memory, root):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(root)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "True\n"
        with memory.lock("job") as held:
            assert not held
        with memory.lock("other") as held:
            assert held
    finally:
        holder.kill()
        holder.communicate()
    with memory.lock("job", wait_s=10) as held:
        assert held
        with memory.lock("job") as again:
            assert not again
    with memory.lock("job") as held:
        assert held


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "a\0b"])
def test_a_lock_needs_a_plain_name(memory, name):
    with pytest.raises(Refused):
        memory.lock(name)
