"""The programs that tests/real runs: each pinned in one place, installed once, and never collected unasked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from realhosts import programs

SCRIPT = ("tests", "real", "realhosts", "programs.py")


def install(root, names, **environ):
    command = [sys.executable, "-I", "-S", str(root.joinpath(*SCRIPT)), names]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_every_version_is_exact(root):
    pinned = json.loads((root / "tests" / "real" / "package.json").read_text())["dependencies"]
    lines = (root / "tests" / "real" / "requirements.txt").read_text().splitlines()
    pinned |= dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(pinned) == {package.package for package in programs.PACKAGES.values()}
    for version in pinned.values():
        assert all(part.isdigit() for part in version.split(".")), version


def test_no_version_is_repeated_outside_of_those_files(root):
    sources = [*root.glob("tests/real/**/*.py"), root / "contrib" / "dev.py", root / ".ci" / "run"]
    for package in programs.PACKAGES.values():
        assert [path for path in sources if f'"{package.version}"' in path.read_text(encoding="utf-8")] == []


def test_another_version_lies_in_another_folder_below_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path in programs.folder("codex").parents
    for name, package in programs.PACKAGES.items():
        assert package.version in programs.folder(name).name


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


@pytest.fixture
def stand_in(tmp_path):
    """Python that makes environments in which pip does what a test says, in place of 200 packages."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()

    def make(pip):
        script = '#!/bin/sh\nmkdir -p "$3/bin"\ncat >"$3/bin/python" <<END\n#!/bin/sh\n' + pip + "\nEND\n"
        python.write_text(script + 'chmod +x "$3/bin/python"\n')
        python.chmod(0o755)
        program = (
            f"import sys; sys.executable = {str(python)!r}; from realhosts import programs; programs.install('ov')"
        )
        environ = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-c", program, str(python)]
        cwd = Path(programs.__file__).parents[1]
        return subprocess.run(command, env=environ, cwd=cwd, capture_output=True, text=True, check=False)

    make.programs = tmp_path / "cache" / "codexmem-dev" / "programs"
    return make


def test_a_server_gets_an_environment_of_its_own_and_what_was_half_made_before_goes(stand_in):
    half_made = stand_in.programs / ".ov-killed"
    half_made.joinpath("lib").mkdir(parents=True)
    done = stand_in(f"echo Version: {programs.PACKAGES['ov'].version}")
    assert done.returncode == 0, done.stderr
    (made,) = stand_in.programs.iterdir()
    assert made.name.startswith("ov-")
    assert (made / "bin" / "python").exists()


def test_an_environment_that_cannot_be_filled_says_why_and_leaves_nothing(stand_in):
    done = stand_in("echo no such version; exit 4")
    assert done.returncode == 1
    assert "no such version" in done.stderr
    assert list(stand_in.programs.iterdir()) == []


def test_a_server_is_tested_with_an_agent_that_talks_to_it():
    assert programs.needed("ov") == ("ov", "codex")
    assert programs.needed("claude,ov,codex") == ("claude", "ov", "codex")
    assert programs.needed("claude") == ("claude",)


@pytest.mark.parametrize("names", ["", "vi", "codex,vi"])
def test_another_program_is_refused_and_the_known_ones_are_named(root, names):
    done = install(root, names, PATH="")
    assert done.returncode == 1
    assert "codex,claude,opencode,ov" in done.stderr


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
    assert [line for line in done.stdout.splitlines() if line.startswith("tests/real")] == []


def test_asked_for_without_their_programs_they_are_an_error_and_no_skips(root, tmp_path):
    done = collected(root, "tests/real", "--real=codex", PATH="", HOME=str(tmp_path))
    assert done.returncode == 4
    assert "run `python3 contrib/dev.py test --real=codex`" in done.stderr
