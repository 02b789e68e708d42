"""Memories as people install them: wheels, chosen by extras, in an environment of their own."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import sysconfig
import venv

import pytest

FILES = {"v1": ("memories", "memory.db"), "v2": ("memories_v2", "memory_v2.db")}


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Everything that is installed here but our own, so that nothing is fetched from anywhere."""
    folder = tmp_path_factory.mktemp("others")
    for path in sorted(map(folder.__class__, (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))):
        for entry in path.iterdir():
            ours = "codexmem" in entry.name.lower() or entry.suffix == ".pth"
            if not ours and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture(scope="module")
def installed(dist, others, tmp_path_factory):
    """An environment with a requirement in it, made from the wheels."""

    def make(requirement):
        place = tmp_path_factory.mktemp("environment")
        venv.create(place, symlinks=True)
        site = next(place.glob("lib/python*/site-packages"))
        (site / "others.pth").write_text(f"{others}\n")
        environment = Environment(place, dist)
        environment.pip("install", requirement)
        return environment

    return make


class Environment:
    """Somebody's installation, with a home of its own."""

    def __init__(self, place, dist):
        self.python = place / "bin" / "python"
        self.home = place / "codexmem-home"
        self.dist = dist
        self.environ = {"HOME": str(place), "PATH": "/usr/bin:/bin", "CODEXMEM_CONFIG": str(place / "config.toml")}

    def pip(self, command, *arguments):
        found = ["--no-index", "--find-links", str(self.dist)] if command == "install" else ["--yes"]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check", command, *found,
             *arguments],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def codexmem(self, *arguments, status=0):
        program = self.python.parent / "codexmem"
        done = subprocess.run(
            [str(program), "--home", str(self.home), *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=120, env=self.environ,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def learn(self, samples):
        return json.loads(self.codexmem("--json", "run", "--sessions", samples, "--now"))

    def rows(self, database, table):
        with sqlite3.connect(self.home / database) as opened:
            assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            found = opened.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
        opened.close()
        return found

    def files(self, folder):
        return {path: path.read_bytes() for path in sorted((self.home / folder).rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def samples(root):
    return root / "contrib" / "samples" / "claude"


@pytest.fixture(scope="module")
def both(installed, samples):
    environment = installed("codexmem[v1,v2,claude]==1.0.0")
    environment.learn(samples)
    return environment


@pytest.mark.parametrize("extras", ["v1,claude", "v2,claude", "v1,v2,claude"])
def test_the_same_sessions_are_remembered_whichever_memories_are_chosen(installed, samples, extras):
    environment = installed(f"codexmem[{extras}]==1.0.0")
    memories = [extra for extra in extras.split(",") if extra in FILES]
    report = environment.learn(samples)
    assert {name: memory["status"] for name, memory in report["memories"].items()} == dict.fromkeys(
        memories, "succeeded"
    )
    assert [memory["extracted"] for memory in report["memories"].values()] == [7] * len(memories)
    assert not environment.learn(samples)["sessions"]["claimed"]
    for memory, (folder, database) in FILES.items():
        assert (environment.home / folder).exists() == (memory in memories)
        assert (environment.home / database).exists() == (memory in memories)
    for memory in memories:
        for host in ((), ("--host", "claude")):
            assert "pnpm" in environment.codexmem("context", "--memory", memory, *host)
        assert "pnpm" in environment.codexmem("search", "--memory", memory, "pnpm")
    assert json.loads(environment.codexmem("--json", "memories"))["reads"] == memories[0]
    assert json.loads(environment.codexmem("--json", "plugins"))
    assert json.loads(environment.codexmem("--json", "doctor"))["ok"]


def test_a_memory_alone_starts_and_says_that_no_host_is_installed(installed, samples):
    environment = installed("codexmem[v2]==1.0.0")
    assert "no host is installed" in environment.codexmem("status")
    assert environment.learn(samples)["memories"]["v2"]["extracted"] == 0
    assert "v2 (new sessions read it)" in environment.codexmem("memories")


@pytest.mark.parametrize(("gone", "kept"), [("v1", "v2"), ("v2", "v1")])
def test_uninstalling_one_memory_leaves_its_data_the_other_and_the_catalogue(both, samples, gone, kept):
    folder, database = FILES[gone]
    before = both.files(folder), both.rows(database, "memory_stage1_outputs"), both.rows("catalog.db", "sessions")
    assert len(before[1]) == 7
    both.pip("uninstall", f"codexmem-memory-{gone}")
    try:
        report = both.learn(samples)
        assert list(report["memories"]) == [kept]
        assert not report["sessions"]["claimed"]
        assert "pnpm" in both.codexmem("context")
        assert f"no memory called {gone} is installed" in _complaint(both, "context", "--memory", gone)
        assert json.loads(both.codexmem("--json", "memories"))["reads"] == kept
        assert before == (
            both.files(folder),
            both.rows(database, "memory_stage1_outputs"),
            both.rows("catalog.db", "sessions"),
        )
    finally:
        both.pip("install", f"codexmem-memory-{gone}==1.0.0")
    assert not both.learn(samples)["sessions"]["claimed"]
    assert "pnpm" in both.codexmem("context", "--memory", gone)


def _complaint(environment, *arguments):
    done = subprocess.run(
        [str(environment.python.parent / "codexmem"), "--home", str(environment.home), *arguments],
        capture_output=True, text=True, check=False, timeout=120, env=environment.environ,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stderr
