"""A child never outlives its time, and is marked as ours."""

from __future__ import annotations

import os
import sys
import time

import pytest

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.processes import ChildProcesses


def children(seconds=30):
    return ChildProcesses(os.environ, WorkDeadline(seconds))


def test_output_errors_and_status_come_back():
    program = "import sys; print(sys.stdin.read()); print('e', file=sys.stderr); sys.exit(3)"
    assert children().run([sys.executable, "-c", program], stdin=b"in", timeout_s=20) == (3, b"in\n", b"e\n")


def test_children_carry_the_mark_that_silences_hooks():
    program = "import os; print(os.environ['CODEXMEM_CHILD'])"
    assert children().run([sys.executable, "-c", program], timeout_s=20)[1] == b"1\n"


def test_a_child_that_does_not_end_is_killed_with_its_whole_group(tmp_path):
    note = tmp_path / "pid"
    program = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(TimeoutError, match="killed"):
        children().run([sys.executable, "-c", program], timeout_s=3)
    grandchild = int(note.read_text())
    for _ in range(100):
        try:
            with open(f"/proc/{grandchild}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    break
        except FileNotFoundError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the grandchild still runs")


def test_the_deadline_of_the_call_cuts_the_timeout():
    with pytest.raises(TimeoutError):
        children(0.5).run([sys.executable, "-c", "import time; time.sleep(30)"], timeout_s=30)
