"""contrib/dev.py: its commands, and when it installs anew."""

import importlib.util
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def checkout(tmp_path, root):
    """A checkout of nothing but the files that the script looks at."""
    for path in (root / "pyproject.toml", root / "contrib" / "dev.py", *root.glob("*/pyproject.toml")):
        copy = tmp_path / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return tmp_path


def script(checkout):
    """The checkout's dev.py as a module."""
    spec = importlib.util.spec_from_file_location("checkout_dev", checkout / "contrib" / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(checkout, *arguments):
    return subprocess.run(
        [sys.executable, str(checkout / "contrib" / "dev.py"), *arguments], capture_output=True, text=True, check=False
    )


def test_without_a_command_it_lists_the_commands_and_says_wrong_use(checkout):
    done = call(checkout)
    assert done.returncode == 2
    for command in ("demo", "test", "lint", "docs", "wheels", "bench", "quality", "chaos", "drift"):
        assert f"\n  {command} " in done.stdout


def test_help_is_no_error(checkout):
    assert call(checkout, "--help").returncode == 0


def test_it_needs_nothing_beside_the_standard_library(checkout):
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(checkout / "contrib" / "dev.py"), "--help"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_environment_of_somebody_else_is_left_alone(checkout):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "precious").touch()
    done = call(checkout, "demo")
    assert done.returncode == 1
    assert "remove it" in done.stderr
    assert (checkout / ".venv" / "precious").exists()


def test_the_environment_is_made_anew_when_a_distribution_changes(checkout):
    before = script(checkout).key()
    assert script(checkout).key() == before
    with (checkout / "hookspecs" / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert script(checkout).key() != before


def test_the_environment_is_made_anew_when_a_distribution_is_added(checkout):
    before = script(checkout).key()
    (checkout / "plugins" / "another").mkdir(parents=True)
    (checkout / "plugins" / "another" / "pyproject.toml").write_text("[project]\nname = 'codexmem-another'\n")
    assert script(checkout).key() != before


def test_settings_of_the_users_own_codexmem_stay_out(checkout, monkeypatch):
    monkeypatch.setenv("CODEXMEM_HOME", "/somewhere/else")
    status = script(checkout).run(
        sys.executable, "-c", "import os, sys; sys.exit('CODEXMEM_HOME' in os.environ)", cwd=checkout
    )
    assert status == 0


def test_a_failing_installation_shows_what_it_printed(checkout, capsys):
    with pytest.raises(SystemExit) as ended:
        script(checkout).quietly(
            "Installing", sys.executable, "-c", "print('no such package'); raise SystemExit(3)", cwd=checkout
        )
    assert "Installing failed (exit status 3)" in str(ended.value)
    assert "no such package" in capsys.readouterr().err


REPORT = """<testsuites><testsuite>
<testcase classname="a" name="ran"/>
<testcase classname="a" name="known"><skipped type="pytest.xfail" message="known"/></testcase>
{more}
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("more", "status"),
    [("", 0), ('<testcase classname="a" name="left"><skipped type="pytest.skip" message="why"/></testcase>', 1)],
)
def test_a_skipped_test_fails_the_check(root, tmp_path, more, status):
    (tmp_path / "report.xml").write_text(REPORT.format(more=more))
    done = subprocess.run(
        [sys.executable, str(root / "contrib" / "no_skips.py"), str(tmp_path / "report.xml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert ("a::left: why" in done.stdout) == bool(status)
