"""Locks of a guarded folder: between processes and threads, free when their holder dies."""

import subprocess
import sys

import pytest
from codexmem_hookspecs.errors import Refused

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
