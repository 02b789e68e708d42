"""Locks that git programs left or hold, and two processes at once."""

import os
import subprocess
import sys
import threading
import time

import pytest
from filelock import FileLock

from codexmem_core.consolidate.baseline import Baseline
from codexmem_core.consolidate.repository import Damaged

HOUR_S = 3600
LOCKS = ["index.lock", "config.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"]

COMMIT_MANY = """
import sys, time
from codexmem_core.consolidate.baseline import Baseline
root, name = sys.argv[1:]
class Clock:
    def now_ms(self): return int(time.time() * 1000)
baseline = Baseline(root, Clock())
for number in range(6):
    with open(f"{root}/{name}-{number}.md", "w") as file:
        file.write(f"{name} {number}")
    baseline.ensure()
    baseline.commit(f"{name} {number}")
"""


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_left_by_a_dead_git_is_removed(baseline, put, root, git, name):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    lock = root / ".git" / name
    lock.touch()
    os.utime(lock, (time.time() - HOUR_S, time.time() - HOUR_S))

    baseline.commit("first")

    assert not lock.exists()
    assert baseline.history()[0].message == "first"
    git.check()


def test_a_live_lock_is_waited_for(baseline, put, root):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    lock = root / ".git/index.lock"
    lock.touch()
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()
    baseline.commit("first")
    assert not timer.is_alive()
    assert baseline.history()[0].message == "first"


def test_a_live_lock_that_stays_is_named_and_left_alone(put, root, clock):
    baseline = Baseline(str(root), clock, patience_s=0.2)
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    lock = root / ".git/index.lock"
    lock.touch()

    with pytest.raises(TimeoutError, match=r"index\.lock is held"):
        baseline.commit("first")

    assert lock.exists()
    assert [change.path for change in baseline.diff().changes] == ["MEMORY.md"]


def test_our_own_lock_is_held_while_writing_and_its_holder_is_waited_for(root, clock, tmp_path):
    baseline = Baseline(str(root), clock, locks=str(tmp_path / "locks"), patience_s=0.2)
    baseline.ensure()
    with FileLock(str(tmp_path / "locks/memories.baseline.lock")), pytest.raises(TimeoutError):
        baseline.squash("forgotten")
    baseline.squash("forgotten")


def test_leftovers_of_a_killed_writer_do_not_block_the_next(baseline, put, root, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    packs = root / ".git/objects/pack"
    (packs / "tmpabc123.pack").write_bytes(b"PACK")
    (packs / ("pack-" + "1" * 40 + ".idx.lock")).write_bytes(b"")
    (root / ".git.new").mkdir()
    (root / ".git.new/HEAD").write_text("half")
    baseline.commit("first")
    assert not list(packs.glob("tmp*"))
    assert not list(packs.glob("*.lock"))
    git.check()


def test_a_lock_behind_a_link_is_not_ours_to_remove(baseline, root, tmp_path):
    baseline.ensure()
    theirs = tmp_path / "theirs"
    (theirs / "heads").mkdir(parents=True)
    for name in ("heads/main.lock", "tmpabc.pack", "pack-1.idx.lock"):
        (theirs / name).touch()
        os.utime(theirs / name, (1, 1))
    for part in ("refs", "objects/pack"):
        moved = tmp_path / part.replace("/", "-")
        (root / ".git" / part).rename(moved)
        (root / ".git" / part).symlink_to(theirs)
        with pytest.raises(Damaged, match="leads elsewhere"):
            baseline.commit("first")
        assert baseline.ensure() == "replaced"
    assert sorted(path.name for path in theirs.rglob("*") if path.is_file()) == [
        "main.lock",
        "pack-1.idx.lock",
        "tmpabc.pack",
    ]


def test_processes_that_commit_at_once_lose_nothing(root, git):
    children = [subprocess.Popen([sys.executable, "-c", COMMIT_MANY, str(root), name]) for name in ("left", "right")]
    assert [child.wait(60) for child in children] == [0, 0]

    files = git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert files == sorted(f"{name}-{number}.md" for name in ("left", "right") for number in range(6))
    git.check()
    # One line of history: nobody overwrote the other's commit.
    messages = git("log", "--format=%s").splitlines()
    assert len(messages) == len(set(messages))
    assert messages[-1] == "memory baseline: empty"
