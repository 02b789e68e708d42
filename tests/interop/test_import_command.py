"""What ``codexmem import`` prints for people."""

from __future__ import annotations

from .other_homes import OPENCODE, database, write


def test_help_names_both_sources(command):
    status, text = command("import", "--help")
    assert status == 0
    assert "opencode-codex-memory" in text
    assert "codex" in text
    assert "import " in command("--help")[1]


def test_what_comes_is_listed_before_and_after(command, user):
    home = user.home / "older"
    home.mkdir()
    database(home / "memory.db", OPENCODE)
    write(home / "memories", **{"extensions/ad_hoc/notes/2026-11-01T00-00-00-pier.md": "The pier is called amber.\n"})
    status, shown = command("import", "opencode-codex-memory", str(home), "--dry-run")
    assert status == 0
    assert shown.startswith(f"would take over from {home}:\n  v1: 0 notes")
    assert "extensions/ad_hoc/notes/2026-11-01T00-00-00-pier.md" in shown
    status, done = command("import", "opencode-codex-memory", str(home))
    assert (status, done.splitlines()[0]) == (0, f"taken over from {home}:")
    assert "codexmem run brings the memory's files up to date" in done
    status, again = command("import", "opencode-codex-memory", str(home))
    assert (status, again) == (0, f"nothing new in {home}\n")


def test_wrong_use_and_nothing_to_take_over_have_their_own_exit_status(command, user):
    assert command("import", "opencode-codex-memory", "/no/such/folder")[0] == 2
    assert command("import", "codex", str(user.home / "none"))[0] == 1
    assert command("import")[0] == 2
