"""The agents' programs that tests/real runs: pinned in one file, installed once, and never collected unasked."""

import json
import subprocess
import sys

import pytest
from realhosts import programs

SCRIPT = ("tests", "real", "realhosts", "programs.py")


def install(root, names, **environ):
    command = [sys.executable, "-I", "-S", str(root.joinpath(*SCRIPT)), names]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_every_version_is_exact(root):
    pins = json.loads((root / "tests" / "real" / "package.json").read_text())["dependencies"]
    assert set(pins) == set(programs.PACKAGES.values())
    for version in pins.values():
        assert all(part.isdigit() for part in version.split(".")), version


def test_no_version_is_repeated_outside_of_that_file(root):
    sources = [*root.glob("tests/real/**/*.py"), root / "contrib" / "dev.py", root / ".ci" / "run"]
    for name in programs.PACKAGES:
        assert [path for path in sources if programs.pinned(name) in path.read_text(encoding="utf-8")] == []


def test_another_version_lies_in_another_folder_below_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path in programs.folder("codex").parents
    assert programs.pinned("codex") in programs.folder("codex").name


def test_what_is_there_is_not_installed_again(root, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    programs.folder("codex").mkdir(parents=True)
    done = install(root, "codex", XDG_CACHE_HOME=str(tmp_path), PATH="")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_npm_it_says_what_is_needed_and_leaves_nothing(root, tmp_path):
    done = install(root, "codex,claude", XDG_CACHE_HOME=str(tmp_path / "cache"), PATH="")
    assert done.returncode == 1
    assert "npm (Node.js 20 or newer) is needed" in done.stderr
    assert not (tmp_path / "cache").exists()


def test_an_installation_that_fails_shows_why_and_leaves_nothing_half_done(root, tmp_path):
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho the registry is away\nexit 4\n")
    npm.chmod(0o755)
    done = install(root, "claude", XDG_CACHE_HOME=str(tmp_path / "cache"), PATH=f"{npm.parent}:/usr/bin:/bin")
    assert done.returncode == 1
    assert "the registry is away" in done.stderr
    assert list((tmp_path / "cache" / "codexmem-dev" / "programs").iterdir()) == []


@pytest.mark.parametrize("names", ["", "vi", "codex,vi"])
def test_another_program_is_refused_and_the_known_ones_are_named(root, names):
    done = install(root, names, PATH="")
    assert done.returncode == 1
    assert "codex,claude,opencode" in done.stderr


def test_a_program_that_is_not_installed_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"run `python3 contrib/dev\.py test --real=opencode`"):
        programs.program("opencode")


def collected(root, *arguments, **environ):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    return subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)


def test_tests_with_real_programs_are_not_collected_unasked(root, tmp_path):
    done = collected(root, "tests", "--ignore=tests/store", PATH="", HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "tests/real" not in done.stdout


def test_asked_for_without_their_programs_they_are_an_error_and_no_skips(root, tmp_path):
    done = collected(root, "tests/real", "--real=codex", PATH="", HOME=str(tmp_path))
    assert done.returncode == 4
    assert "run `python3 contrib/dev.py test --real=codex`" in done.stderr
