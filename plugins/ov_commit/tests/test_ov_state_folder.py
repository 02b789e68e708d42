"""A state folder that cannot be read or written: what, where, and what to do about it, from every command."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from codexmem_ov_commit import plugin
from codexmem_ov_commit.pending import FOLDER_FIX

NOBODY = 65_534


@contextmanager
def bound_by_permissions():
    """Root may read and write everything."""
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(NOBODY)
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def folder(machine):
    """The state folder, where everybody can reach it as well as the plugin's own, with a session that waits."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        machine.services.home = f"{place}/own"
        machine.set(CODEX_STATE_DIR=f"{place}/states")
        machine.conversation().user("Run make check before every commit.").stop()
        yield Path(place, "states")
        Path(place, "states").chmod(stat.S_IRWXU)


@pytest.fixture
def ov(machine):
    """Run a command; how it ended, and all that it says."""
    (command,) = plugin.codexmem_commands()
    load = command.load()

    def run(*words):
        done = CliRunner().invoke(load, words, obj=machine.services)
        error = "" if done.exception is None or isinstance(done.exception, SystemExit) else str(done.exception)
        return done.exit_code, done.output + error

    return run


@pytest.mark.parametrize("command", ["status", "commit", "doctor"])
def test_one_that_cannot_be_read_is_named_with_its_fix(folder, ov, command):
    folder.chmod(0)
    with bound_by_permissions():
        code, text = ov(command)
    assert code == 1
    assert str(folder) in text
    assert FOLDER_FIX in text


@pytest.mark.parametrize("command", ["status", "commit", "doctor"])
def test_a_link_in_its_place_is_named_with_its_fix(folder, ov, command):
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(folder.with_name("moved"))
    code, text = ov(command)
    folder.unlink()
    folder.with_name("moved").rename(folder)
    assert code == 1
    assert "links are not followed" in text
    assert FOLDER_FIX in text


def test_one_that_cannot_be_written_is_found_by_the_doctor_and_a_commit_leads_there(machine, folder, ov):
    folder.chmod(0o555)
    for file in folder.iterdir():
        file.chmod(0o444)
    with bound_by_permissions():
        code, text = ov("doctor")
        assert code == 1
        assert str(folder) in text
        assert FOLDER_FIX in text
        assert "server 0.5.2 answers" in text, "and it looks at all the rest"
        code, text = ov("commit")
    assert code == 1
    assert "codexmem ov doctor says what to do" in text
    assert machine.server.asked("/commit") == []


def test_one_that_is_not_there_yet_is_no_fault_and_is_not_made(machine, ov, tmp_path):
    machine.set(CODEX_STATE_DIR=tmp_path / "states")
    assert ov("doctor")[0] == 0
    assert not (tmp_path / "states").exists()
