"""Codex in a terminal: its sessions live in a process that outlasts the terminal."""

import pytest
from realhosts.codex_cli import CodexCli
from realhosts.machine import Machine
from realhosts.programs import program

FACT = "the harbor service is released with the lighthouse script"
DAEMON = "app-server-daemon"
"""Codex's own process behind all terminals; it stays, so a test ends it."""
UNLOADED_S = 90.0
"""Codex gives a thread up a minute after its last user went, and ends the session then."""


@pytest.fixture(scope="session")
def left_codex(tmp_path_factory):
    """A machine and its Codex, in whose terminal something was said before it was closed; other tests may run now."""
    machine = Machine(tmp_path_factory.mktemp("terminal") / "machine")
    with CodexCli(machine, program("codex")) as codex:
        machine.codexmem("setup", "codex", "--yes")
        asked = codex.asked_from_now()
        with codex.terminal() as terminal:
            terminal.until_shown("for shortcuts")
            terminal.enter(f"Remember for all my projects: {FACT}, never by hand.", asked)
            terminal.until_shown("Worked for")
            terminal.enter("/quit", terminal.ended)
        yield machine, codex
        machine.end_processes(DAEMON)
    machine.shut_down()


@pytest.mark.before_others
def test_a_terminal_that_was_left_leaves_codex_running(left_codex):
    machine, _ = left_codex
    assert any(DAEMON in command for command in machine.processes().values())


@pytest.mark.after_others
def test_what_was_said_in_a_terminal_is_remembered_soon_after_it_was_left(left_codex):
    machine, codex = left_codex
    machine.until_known(FACT, codex, within_s=UNLOADED_S)
