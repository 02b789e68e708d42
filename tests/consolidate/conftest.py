"""A memory root in a home of its own, a clock that tests set, and the git program as an independent witness."""

import os
import subprocess

import pytest
from codexmem_hookspecs.values.consolidate import Memory

from codexmem_core.consolidate.baseline import Baseline


class SetClock:
    def __init__(self, now_ms):
        self.now = now_ms

    def now_ms(self):
        return self.now


class Git:
    """Runs the real program in a root, without anybody's configuration."""

    def __init__(self, root, home):
        self._root = root
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "someone",
            "GIT_AUTHOR_EMAIL": "someone@example.org",
            "GIT_COMMITTER_NAME": "someone",
            "GIT_COMMITTER_EMAIL": "someone@example.org",
            "LC_ALL": "C",
        }

    def __call__(self, *arguments, stdin=None):
        done = subprocess.run(
            ["git", *arguments], cwd=self._root, env=self._environ, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "replace")

    def check(self):
        """The repository is whole, and fsck has nothing to say about it."""
        done = subprocess.run(
            ["git", "fsck", "--strict", "--full"], cwd=self._root, env=self._environ, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        told = (done.stdout + done.stderr).decode()
        assert "error" not in told
        assert "missing" not in told


@pytest.fixture
def clock():
    return SetClock(1_780_000_000_000)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "home" / "memories"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def git(root, tmp_path):
    return Git(root, tmp_path)


@pytest.fixture
def baseline(root, clock):
    """Not yet made: call ``ensure``."""
    return Baseline(str(root), clock, patience_s=5.0)


@pytest.fixture
def put(root):
    """Write files of the root: path and text or bytes."""

    def write(files):
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


@pytest.fixture
def memory():
    return Memory(
        name="v1",
        folder="memories",
        database="memory.db",
        generated=("raw_memories.md",),
        agent_writes=("MEMORY.md", "memory_summary.md", "skills/**"),
    )


def changes_of(diff):
    return [(change.status, change.path) for change in diff.changes]


@pytest.fixture
def changes():
    return changes_of
