"""Claude Code's own memories, through whole runs: in before the diff, told to new sessions, gone with their files."""

from __future__ import annotations

import pytest

ON = "[claude-import]\nenabled = true\n"
TABS = "---\nname: tabs\ndescription: tabs, not spaces\nmetadata:\n  type: feedback\n---\n\nUse tabs in Makefiles.\n"
PORT = "---\nname: port\ndescription: where it listens\ntype: project\n---\n\nThe gannet port is 4100.\n"
IMPORTS = "extensions/external_agent_import/resources"


@pytest.fixture(autouse=True)
def shop(user):
    user.session()
    user.claude_memory("MEMORY.md", "- [Tabs](tabs.md) - tabs\n- [Port](port.md) - port\n")
    user.claude_memory("tabs.md", TABS)
    user.claude_memory("port.md", PORT)
    user.settings(ON)
    return user


def context(user, memory):
    return user.codexmem("context", "--memory", memory)["context"]


def test_an_imported_memory_is_told_to_new_sessions_of_every_memory(user):
    user.run()
    for memory in ("v1", "v2"):
        told = context(user, memory)
        assert f"#### {user.home}/shop" in told
        assert "tabs: tabs, not spaces" in told
        assert "[from claude]" in told
    assert "The gannet port is 4100." in (user.memory / "memories/MEMORY.md").read_text()


def test_the_first_copies_are_additions_in_the_diff(user):
    """The baseline is there before anything is copied, so that the same run takes them in."""
    user.settings("")
    user.run()
    user.settings(ON)
    user.run()
    for memory in ("v1", "v2"):
        (newest, *_) = user.codexmem("history", "--memory", memory)["history"]
        shown = user.codexmem("diff", newest["id"], "--memory", memory)
        added = {change["path"] for change in shown["changes"] if change["status"] == "A"}
        assert f"{IMPORTS}/{user.project().name}/tabs.md" in added


def test_a_memory_is_forgotten_after_its_file_is_deleted(user):
    user.run()
    (user.project() / "memory/port.md").unlink()
    user.run()
    everything = b"".join(user.files("codexmem").values()).decode("utf-8", "replace")
    assert "gannet" not in everything
    assert "Use tabs in Makefiles." in everything


def test_a_pass_with_nothing_new_changes_nothing(user):
    user.run()
    before = user.files("codexmem/memories"), user.files("codexmem/memories_v2")
    report = user.run()
    assert {memory["status"] for memory in report["memories"].values()} == {"up_to_date"}
    assert (user.files("codexmem/memories"), user.files("codexmem/memories_v2")) == before


def test_nothing_of_claude_codes_is_changed(user):
    before = [(path, path.stat().st_mtime_ns) for path in sorted(user.claude.rglob("*"))]
    user.run()
    assert [(path, path.stat().st_mtime_ns) for path in sorted(user.claude.rglob("*"))] == before


def test_memories_outlive_the_seven_days_of_an_extensions_resources(user):
    """Nested and without a time in their names, even when a project's own folder names one."""
    user.claude_memory("2020-01-01T00-00-00-old.md", "- the old heron\n")
    user.run()
    user.run()
    assert f"{IMPORTS}/{user.project().name}/2020-01-01T00-00-00-old.md" in user.files("codexmem/memories")


def test_what_was_forgotten_does_not_come_back_from_claude_code(user):
    user.run()
    user.codexmem("forget", "--text", "The gannet port is 4100.")
    user.run()
    everything = b"".join(user.files("codexmem").values()).decode("utf-8", "replace")
    assert "gannet" not in everything
    assert "gannet" in (user.project() / "memory/port.md").read_text()


def test_status_tells_what_is_imported(user):
    (line,) = [line for line in user.codexmem("status")["plugins"] if line["check"] == "claude-import"]
    assert line["message"] == f"imports 3 files of 1 project in {user.claude}"
    user.settings("")
    (line,) = [line for line in user.codexmem("status")["plugins"] if line["check"] == "claude-import"]
    assert line["message"].startswith("off")
    assert "[claude-import]" in line["fix"]


NEW = TABS.replace("Makefiles", "Makefiles and Go")
MAST = PORT.replace("port", "mast")


def test_a_kill_at_any_instant_of_an_import_leaves_whole_files_and_the_next_run_finishes(user):
    one_memory = {"CODEXMEM_DISABLE": "memory-v2"}
    user.run(**one_memory)
    user.claude_memory("tabs.md", NEW)
    user.claude_memory("mast.md", MAST)
    (user.project() / "memory/port.md").unlink()
    source = user.files("user")
    user.keep()
    log = user.place.with_name("instants")
    user.run(instants=log, **one_memory)
    names = log.read_text().split()
    wanted = user.files("codexmem/memories")
    copies = {f"{IMPORTS}/{user.project().name}/{name}.md" for name in ("tabs", "mast", "port")}
    inside = [number for number, name in enumerate(names, 1) if name.startswith("rename:extensions")]
    assert len(inside) >= 4
    # Of all others a few, spread over the run.
    for number in user.killed_at_each(sorted({*inside, *range(1, len(names) + 1, 7)}), **one_memory):
        present = user.files("codexmem/memories")
        for path in copies & set(present):
            assert present[path] in {text.encode() for text in (TABS, NEW, PORT, MAST)}, (names[number - 1], path)
        user.run(**one_memory)
        assert user.files("codexmem/memories") == wanted, names[number - 1]
        assert user.files("user") == source
