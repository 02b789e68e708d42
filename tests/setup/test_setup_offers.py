"""Setting up a host offers what its plugins could do besides, and only while there is something."""

from __future__ import annotations

import pytest


@pytest.fixture
def remembered(machine):
    """Claude Code has a memory of its own of one project."""
    (machine.home / "shop").mkdir()
    machine.write(".claude/projects/-shop/session.jsonl", {"cwd": f"{machine.home}/shop"})
    transcript = machine.path(".claude/projects/-shop/session.jsonl")
    transcript.write_text(transcript.read_text().replace("\n", " ") + "\n")
    machine.write(".claude/projects/-shop/memory/tabs.md", "Use tabs.\n")


def test_whoever_says_yes_has_claude_codes_own_memories_imported(machine, remembered, terminal_of):
    terminal = terminal_of("setup", "claude")
    terminal.until("[y/N]")
    terminal.type("y\n")
    asked = terminal.until("[y/N]")
    assert "Claude Code has memories of its own (1 file of 1 project)." in asked
    terminal.type("y\n")
    assert terminal.end() == 0
    assert "Done: Claude Code with codexmem" in terminal.seen
    assert machine.config.read_text() == "[claude-import]\nenabled = true\n"
    again = terminal_of("setup", "claude")
    assert again.end() == 0
    assert "[y/N]" not in again.seen


def test_whoever_says_no_is_told_how_to_do_it_later_only_when_not_asked(machine, remembered, terminal_of):
    declined = terminal_of("setup", "claude")
    declined.until("[y/N]")
    declined.type("n\n")
    assert declined.end() == 0
    assert "memories of its own" not in declined.seen
    terminal = terminal_of("setup", "claude")
    for answer in ("y\n", "n\n"):
        terminal.until("[y/N]")
        terminal.type(answer)
    assert terminal.end() == 0
    assert not machine.config.exists()
    printed = machine.set_up("claude")
    assert f"Not now; later: enabled = true in [claude-import] of {machine.config}" in printed
    assert not machine.config.exists()


def test_nothing_is_offered_where_there_is_nothing_or_for_another_host(machine, terminal_of):
    assert "[claude-import]" not in machine.set_up("claude")
    machine.write(".claude/projects/-shop/memory/tabs.md", "Use tabs.\n")
    assert "[claude-import]" not in machine.set_up("claude")  # nobody knows where it belongs
    assert "[claude-import]" not in machine.set_up("codex")
    assert "[claude-import]" not in machine.run("setup", "claude", "--dry-run")[1]


def test_without_a_terminal_the_offer_is_told_and_no_question(machine, remembered):
    machine.set_up("claude")
    status, printed = machine.run("setup", "claude")
    assert status == 0, printed
    assert "Not now; later: enabled = true in [claude-import]" in printed
