"""Codex is compared with what codexmem took from it: a checkout of a made-up Codex, and the command as users run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAP = """
codex_ref = "rust-v1"
codex_ref_date = 2026-11-30
watch_paths = ["memories", "state.rs"]

[[mappings]]
ours = ["ours/pipeline.py"]
theirs = ["memories/start.rs"]
note = "the order of a pass"

[[mappings]]
ours = ["ours/jobs.py", "ours/pipeline.py"]
theirs = ["state.rs"]
note = "jobs"
"""
PROGRAM = "".join(f'fn step_{number}() {{ println!("{number}"); }}\n' for number in range(30))


class Checkout:
    """A clone of Codex, and our own tree with the command and its map beside it."""

    def __init__(self, folder):
        self.place = folder / "codex"
        self.tree = folder / "tree"
        shutil.copytree(ROOT / "contrib" / "drift", self.tree / "contrib" / "drift")
        self.map(MAP)
        (self.tree / "ours").mkdir()
        for name in ("pipeline.py", "jobs.py"):
            (self.tree / "ours" / name).touch()
        self.place.mkdir()
        self.git("init", "-q")
        for path in ("memories/start.rs", "memories/phase1.rs", "state.rs", "tui/main.rs"):
            self.write(path, f"// {path}\n{PROGRAM}")
        self.commit()
        self.git("tag", "rust-v1")

    def map(self, text):
        (self.tree / "contrib" / "drift" / "codex_map.toml").write_text(text)

    def write(self, path, text):
        (self.place / path).parent.mkdir(parents=True, exist_ok=True)
        (self.place / path).write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit", "-qm", "change")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.place, check=True, capture_output=True)

    def drift(self, *words, **environ):
        """Status, output, errors."""
        done = subprocess.run(
            [sys.executable, self.tree / "contrib" / "drift", *words],
            env={"PATH": os.environ["PATH"], **environ}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def codex(tmp_path):
    return Checkout(tmp_path)


def test_nothing_that_is_watched_has_changed(codex):
    codex.write("tui/main.rs", "other\n")
    codex.commit()
    for status, said, complaint in (codex.drift(codex.place), codex.drift(CODEX_REPO=str(codex.place))):
        assert (status, complaint) == (0, "")
        assert said == "aligned: nothing that we watch has changed in Codex since rust-v1 (compared 2026-11-30)\n"


def test_any_folder_of_the_checkout_will_do_and_from_within_a_hook_of_gits(codex, tmp_path):
    codex.write("state.rs", f"// state.rs\n{PROGRAM}fn more() {{}}\n")
    codex.commit()
    codex.git("config", "diff.relative", "true")
    subprocess.run(["git", "init", "-q", tmp_path / "hooked"], check=True, capture_output=True)
    told = codex.drift(codex.place / "memories", GIT_DIR=str(tmp_path / "hooked" / ".git"))
    assert told[1].splitlines()[1:] == ["  state.rs: changed  (ours: ours/jobs.py, ours/pipeline.py)"]


def test_what_changed_is_told_with_what_of_ours_it_concerns(codex):
    codex.write("state.rs", f"// state.rs\n{PROGRAM}fn more() {{}}\n")
    codex.write("memories/new.rs", "fn unlike_anything() {}\n")
    (codex.place / "memories" / "phase1.rs").unlink()
    codex.commit()
    status, said, _ = codex.drift(codex.place)
    assert status == 1
    assert said.splitlines() == [
        "3 differences in Codex since rust-v1 (compared 2026-11-30):",
        "  memories/new.rs: new",
        "  memories/phase1.rs: gone",
        "  state.rs: changed  (ours: ours/jobs.py, ours/pipeline.py)",
    ]


@pytest.mark.parametrize("place", ["memories/write/start.rs", "elsewhere/start.rs"])
def test_a_file_that_moved_is_told_with_its_new_place(codex, place):
    """Also out of what is watched, and whatever else was changed in it."""
    (codex.place / place).parent.mkdir(parents=True)
    (codex.place / "memories" / "start.rs").rename(codex.place / place)
    codex.write(place, f"// memories/start.rs\n{PROGRAM}// and more\n")
    codex.commit()
    status, said, _ = codex.drift(codex.place)
    assert (status, said.splitlines()[1:]) == (1, [f"  memories/start.rs: moved to {place}  (ours: ours/pipeline.py)"])


def test_a_path_that_never_was_there_is_a_fault_of_the_map(codex):
    codex.map(MAP.replace("memories/start.rs", "memories/begin.rs"))
    status, said, _ = codex.drift(codex.place)
    assert (status, said.splitlines()[1:]) == (
        1,
        ["  memories/begin.rs: never there at rust-v1  (ours: ours/pipeline.py)"],
    )


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (("rust-v1", "rust-v2"), "fetch --tags"),
        (("ours/jobs.py", "ours/gone.py"), "no longer here: ours/gone.py"),
        (('note = "jobs"', ""), "KeyError: 'note'"),
        (("codex_ref =", "codex_ref"), "TOMLDecodeError"),
    ],
)
def test_a_map_that_does_not_fit_is_told(codex, broken, complaint):
    codex.map(MAP.replace(*broken))
    status, said, complained = codex.drift(codex.place)
    assert (status, said) == (2, "")
    assert complaint in complained


def test_without_a_checkout_nothing_can_be_told(codex, tmp_path):
    assert "CODEX_REPO" in codex.drift()[2]
    assert "no checkout of Codex" in codex.drift(tmp_path / "nowhere")[2]
    assert "git is needed" in codex.drift(codex.place, PATH=str(tmp_path))[2]
    assert {codex.drift()[0], codex.drift(tmp_path)[0], codex.drift("a", "b")[0]} == {2}
    assert codex.drift("--help")[0] == 0


def test_our_own_map_names_what_is_here_and_watches_what_it_names(codex):
    """Against an empty Codex every mapped path is told, and nothing else is wrong with it."""
    codex.map((ROOT / "contrib" / "drift" / "codex_map.toml").read_text())
    for folder in ("codexmem_core", "hookspecs", "plugins"):
        (codex.tree / folder).symlink_to(ROOT / folder)
    codex.git("tag", "rust-v0.171.0")
    status, said, complaint = codex.drift(codex.place)
    assert (status, complaint) == (1, "")
    assert all("never there at" in line and "(ours: " in line for line in said.splitlines()[1:])
    found = tomllib.loads((ROOT / "contrib" / "drift" / "codex_map.toml").read_text())
    named = {path for mapping in found["mappings"] for path in mapping["theirs"]}
    watched = tuple(found["watch_paths"])
    assert not [path for path in named if path not in watched and not path.startswith(tuple(f"{w}/" for w in watched))]
