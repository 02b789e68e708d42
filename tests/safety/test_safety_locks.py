"""Locks of a guarded folder: between processes and threads, free when their holder dies."""

import subprocess
import sys

import pytest
from codexmem_hookspecs.errors import Refused

from codexmem_core.safety.files import GuardedFolder

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


def test_a_link_where_the_lock_should_lie_is_not_followed(tmp_path):
    (tmp_path / "file").write_text("mine\n")
    (tmp_path / "busy.lock").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match=r"busy\.lock"), GuardedFolder(str(tmp_path), write=True).lock("busy"):
        pass
    assert (tmp_path / "file").read_text() == "mine\n"
