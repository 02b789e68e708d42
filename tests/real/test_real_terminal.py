"""Codex in a terminal: its sessions live in a process that outlasts the terminal."""

import pytest

FACT = "the harbor service is released with the lighthouse script"
UNLOADED_S = 90.0
"""Codex gives a thread up a minute after its last user went, and ends the session then."""


@pytest.fixture
def daemon(machine):
    """Codex's own process behind all terminals; it stays, so a test ends it."""
    yield
    machine.end_processes("app-server-daemon")


def test_what_was_said_in_a_terminal_is_remembered_soon_after_it_was_left(machine, codex, daemon):
    asked = codex.asked_from_now()
    with codex.terminal() as terminal:
        terminal.until_shown("for shortcuts")
        terminal.enter(f"Remember for all my projects: {FACT}, never by hand.", asked)
        terminal.until_shown("Worked for")
        terminal.enter("/quit", terminal.ended)
    machine.until_known(FACT, codex, within_s=UNLOADED_S)
