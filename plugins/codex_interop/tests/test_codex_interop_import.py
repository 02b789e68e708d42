"""Codex's consolidated files come in whole, and go when Codex has them no more."""

import fcntl
import os
import time
from pathlib import Path

import pytest

HANDBOOK, SUMMARY = "resources/codex/MEMORY.md", "resources/codex/memory_summary.md"


def test_nothing_comes_in_until_it_is_turned_on(codex):
    codex.remembers()
    codex.services.settings["import"] = False
    assert codex.imports() == []


def test_without_a_memory_of_codexs_nothing_is_made(codex):
    assert codex.imports() == []
    assert not os.listdir(codex.services.memories["v1"])


def test_consolidated_files_come_in_and_a_second_time_nothing_is_written(codex):
    codex.remembers()
    (codex.root() / "raw_memories.md").write_text("raw")
    files = codex.imported()
    assert set(files) == {"instructions.md", HANDBOOK, SUMMARY}
    assert files[HANDBOOK] == "# Task Group: shop\n- tabs\n"
    assert "`[from codex]`" in files["instructions.md"]
    assert "`[from codexmem]`" in files["instructions.md"]
    assert "`[from opencode]`" in files["instructions.md"]
    assert codex.imported() == files


def test_changed_files_follow_and_one_that_is_gone_takes_its_copy_with_it(codex):
    root = codex.remembers()
    codex.imported()
    (root / "MEMORY.md").write_text("changed\n")
    (root / "memory_summary.md").unlink()
    files = codex.imported()
    assert files[HANDBOOK] == "changed\n"
    assert SUMMARY not in files


def test_a_memory_without_consolidated_files_leaves_the_instructions_only(codex):
    root = codex.remembers()
    codex.imported()
    (root / "MEMORY.md").unlink()
    (root / "memory_summary.md").unlink()
    assert set(codex.imported()) == {"instructions.md"}


def test_a_memory_that_cannot_be_reached_removes_nothing(codex):
    root = codex.remembers()
    before = codex.imported()
    root.rename(codex.user / "away")
    codex.configure('[memories]\nversion = "v1"\n')
    assert codex.imports() == []
    assert codex.imported() == before


def test_links_among_codexs_files_count_for_nothing(codex):
    root = codex.remembers()
    (root / "MEMORY.md").unlink()
    (codex.user / "secret.md").write_text("outside")
    (root / "MEMORY.md").symlink_to(codex.user / "secret.md")
    assert HANDBOOK not in codex.imported()


def test_when_codex_changes_its_version_the_handbooks_copy_goes(codex):
    codex.remembers("v1")
    codex.remembers("v2", **{"memory_summary.md": "v1\nfrom v2\n"})
    assert HANDBOOK in codex.imported()
    codex.configure('[memories]\nversion = "v2"\n')
    files = codex.imported()
    assert HANDBOOK not in files
    assert files[SUMMARY] == "v1\nfrom v2\n"
    assert "recaps that only Codex has" in files["instructions.md"]


def test_only_memory_v1_takes_part_until_the_summary_is_exchanged_too(codex):
    codex.remembers()
    assert codex.imports("v2") == []
    codex.services.settings["exchange_summary"] = True
    files = codex.imported("v2")
    assert set(files) == {"instructions.md", HANDBOOK, SUMMARY}
    assert "Bring it into memory_summary.md alone" in files["instructions.md"]
    assert "Bring it into MEMORY.md" in codex.imported("v1")["instructions.md"]


def test_while_codex_consolidates_nothing_is_taken_in(codex):
    """Its agent writes the files one after the other; its lock says when it is done."""
    root = codex.remembers()
    before = codex.imported()
    lock = codex.home / "memories.lock"
    lock.write_bytes(b"")
    with lock.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert codex.imported() == before  # nothing differs, so the lock does not matter
        (root / "MEMORY.md").write_text("half of it")
        assert codex.imports() == []
        assert codex.imported() == before
    assert codex.imported()[HANDBOOK] == "half of it"
    assert lock.read_bytes() == b""


def test_what_does_not_come_in_whole_needs_codexs_lock_once(codex):
    """The engine leaves out what was forgotten, so our copy never is what Codex has."""
    root = codex.remembers()
    copy = Path(codex.services.memories["v1"], "extensions/codex_import/resources/codex/MEMORY.md")
    with (codex.home / "memories.lock").open("wb") as other:
        codex.imported()
        copy.write_text("less\n")
        fcntl.flock(other, fcntl.LOCK_EX)
        (mirror,) = codex.imports()
        assert mirror.files["codex/MEMORY.md"] == (root / "MEMORY.md").read_bytes()
        (root / "MEMORY.md").write_text("something new")
        assert codex.imports() == []


def test_an_import_waits_a_moment_for_codexs_lock(codex, monkeypatch):
    """Codex holds it for moments, too."""
    codex.remembers()
    with (codex.home / "memories.lock").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        monkeypatch.setattr(time, "sleep", lambda _seconds: fcntl.flock(other, fcntl.LOCK_UN))
        assert HANDBOOK in codex.imported()


def test_an_import_makes_no_lock_where_codex_has_none(codex):
    codex.remembers()
    codex.imported()
    assert sorted(os.listdir(codex.home)) == ["memories"]


def test_nothing_of_codexs_is_changed(codex):
    codex.remembers()
    before = [(path, path.stat().st_mtime_ns) for path in sorted(codex.home.rglob("*"))]
    codex.imported()
    assert [(path, path.stat().st_mtime_ns) for path in sorted(codex.home.rglob("*"))] == before


@pytest.mark.parametrize("memory", ["v1", "v2"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_instructions_say_every_rule_for_every_pair_of_memories(codex, memory, version):
    codex.services.settings["exchange_summary"] = True
    codex.remembers(version)
    text = codex.imported(memory)["instructions.md"]
    rules = (
        "Never edit",
        "make up none",
        "Older Memory Topics",
        "no rollout summaries",
        "deleted",
        "nobody's to carry out",
    )
    assert [rule for rule in rules if rule not in text] == []
    assert "{{" not in text
