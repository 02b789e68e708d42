from __future__ import annotations

import os
import sqlite3

import pytest

from codexmem_core.readpath.arguments import Search
from codexmem_core.readpath.errors import ToolError
from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output

TOKEN = "heronmarker"


def fill(jobs):
    claim = jobs.claim_extractions(
        [Candidate(host="codex", id="1", watermark_ms=5)], worker="w", limit=1, running_cap=9
    ).claims[0]
    jobs.finish_extraction(claim, Output(rollout_summary=TOKEN, raw_memory=TOKEN * 500))


@pytest.fixture
def filled(engine, put, tmp_path, clock):
    """Notes and files of Memory V1, and of a memory whose plugin is gone."""
    put({"MEMORY.md": TOKEN, ".git/objects/aa/bb": TOKEN, "extensions/x/resources/y.md": TOKEN})
    home = tmp_path / "home"
    with engine.jobs("memory-v1") as jobs:
        fill(jobs)
    with open_memory(str(home / "memory_v2.db"), backups=str(home / "backups"), clock=clock) as database:
        fill(Jobs(database, clock))
    for path in ("memories_v2/MEMORY.md", "memories_v2/.git/HEAD", "read/codex-SessionStart", "backups/memory.db.old"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(TOKEN)
    engine.catalogue.set_mode("codex", "1", "disabled")
    engine.catalogue.freeze_memory("codex", "1", "v2")
    return home


def holding(home):
    return [path for path in home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def outputs(path):
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT count(*) FROM memory_stage1_outputs").fetchone()
        jobs = database.execute("SELECT kind, status FROM memory_jobs").fetchall()
    database.close()
    return rows[0], jobs


def test_everything_remembered_goes_in_every_memory_on_disk_and_choices_stay(engine, filled, root):
    assert engine.memory_tools.search("memory-v1", Search(queries=[TOKEN])).total == 2
    plan = engine.memory_tools.reset(lambda _plan: True)
    assert holding(filled) == []
    assert (list(root.iterdir()), list((filled / "memories_v2").iterdir())) == ([], [])
    for name in ("memory.db", "memory_v2.db"):
        assert outputs(filled / name) == (0, [("memory_consolidate_global", "done")])
    assert [os.path.basename(path) for path in plan.databases] == ["memory.db", "memory_v2.db"]
    assert engine.catalogue.mode_of("codex", "1") == "disabled"
    assert engine.catalogue.memory_of("codex", "1") == "v2"
    assert engine.memory_tools.search("memory-v1", Search(queries=[TOKEN])).total == 0


def test_a_cooldown_follows_for_models_that_cost(engine, filled):
    engine.memory_tools.reset(lambda _plan: True)
    with engine.jobs("memory-v1") as jobs:
        assert jobs.claim_consolidation(worker="w", cooldown_s=3600) == "skipped_cooldown"


def test_the_user_is_asked_with_what_goes_and_may_say_no(engine, filled):
    asked = []
    with pytest.raises(ToolError, match="not confirmed"):
        engine.memory_tools.reset(lambda plan: asked.append(plan.text()))
    assert "memories_v2" in asked[0]
    assert len(holding(filled)) >= 6


def test_a_consolidation_in_flight_refuses_before_anybody_is_asked(engine, filled):
    from codexmem_core.store.workers import worker_identity

    with engine.jobs("memory-v1") as jobs:
        claim = jobs.claim_consolidation(worker=worker_identity())
        with pytest.raises(ToolError, match="in flight"):
            engine.memory_tools.reset(lambda _plan: pytest.fail("asked"))
        assert jobs.heartbeat(claim.token)
    assert len(holding(filled)) >= 6


def test_a_consolidation_that_begins_while_the_user_thinks_refuses_too(engine, filled):
    def starts_meanwhile(_plan):
        with engine.jobs("memory-v1") as jobs:
            jobs.claim_consolidation(worker="pid:1@elsewhere:x", at_once=True)
        return True

    with pytest.raises(ToolError, match="in flight"):
        engine.memory_tools.reset(starts_meanwhile)
    assert len(holding(filled)) >= 6


@pytest.mark.parametrize("name", ["memories", "memories_v2"])
def test_a_linked_root_refuses_everything(engine, filled, name, tmp_path):
    (filled / name).rename(tmp_path / "real")
    (filled / name).symlink_to(tmp_path / "real")
    with pytest.raises(ToolError, match="symbolic link"):
        engine.memory_tools.reset(lambda _plan: True)
    assert (tmp_path / "real" / "MEMORY.md").exists()
    assert outputs(filled / "memory.db")[0] == 1


def test_links_inside_are_removed_and_not_followed(engine, filled, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.md").write_text("x")
    (root / "folder").symlink_to(outside)
    (root / "file.md").symlink_to(outside / "kept.md")
    engine.memory_tools.reset(lambda _plan: True)
    assert list(root.iterdir()) == []
    assert (outside / "kept.md").read_text() == "x"


def test_what_cannot_be_removed_is_said_and_the_rest_is_gone(engine, filled, root, monkeypatch):
    real = os.unlink

    def refusing(path, *args, **kwargs):
        if os.fspath(path).endswith("MEMORY.md") and "memories_v2" not in os.fspath(path):
            raise PermissionError(1, "not permitted", path)
        real(path, *args, **kwargs)

    monkeypatch.setattr(os, "unlink", refusing)
    with pytest.raises(ToolError, match=r"not everything could be removed: .*MEMORY\.md: not permitted"):
        engine.memory_tools.reset(lambda _plan: True)
    monkeypatch.undo()
    assert [path.name for path in root.iterdir()] == ["MEMORY.md"]
    assert outputs(filled / "memory.db")[0] == 0
