"""Traces outside of the memories, and what the command says."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Reaction
from codexmem_hookspecs.values.records import Forgotten

from codexmem_core.host.spool import Spool
from codexmem_core.readpath.arguments import Note
from codexmem_core.readpath.errors import ToolError

TOKEN = "OSPREY-55201"
PARTS = ("osprey", "55201")
TURNS = (
    ("user", f"Always tag the release {TOKEN} before you deploy."),
    ("assistant", "I will."),
    ("user", "Always write the changelog entry first in this repository."),
    ("assistant", "Understood."),
)


class Keeper:
    """A plugin with a store of its own, which may refuse to forget."""

    name = "keeper"

    def __init__(self):
        self.asked = []
        self.trouble = None

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="prompt"), Reaction(kind="stop")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        return None

    @hookimpl
    def codexmem_forget(self, selector, services):
        self.asked.append((tuple(session.id for session in selector.sessions), selector.text))
        if self.trouble is not None:
            raise self.trouble
        return Forgotten(store="archive", removed=2, left=("a copy on a tape",))


def prompt(home, session_id, text, at_ms=1_796_000_000_000):
    payload = {"session_id": session_id, "hook_event_name": "UserPromptSubmit", "prompt": text, "cwd": "/home/dev"}
    Spool(str(home / "spool")).write("codex", "UserPromptSubmit", json.dumps(payload).encode(), at_ms=at_ms)


@pytest.fixture
def traces(codex_home, learn, home, engine_of, clock):
    """A session that left traces everywhere; returns its id."""
    session = codex_home(*TURNS)
    prompt(home, session, f"what about {TOKEN}?")
    learn(Keeper())
    with engine_of() as engine:
        engine.log("somebody").info("looked at", place=f"{TOKEN} of {session}")
        engine.catalogue.note("somebody", f"{TOKEN} of {session}")
    (home / "backups").mkdir(exist_ok=True)
    with (
        closing(sqlite3.connect(home / "memory.db")) as source,
        closing(sqlite3.connect(home / "backups" / "memory.db.0001.x")) as copy,
    ):
        source.backup(copy)
    (home / "backups" / "unreadable").write_bytes(b"no database " + f"{TOKEN} {session}".encode())
    (home / "memory.db.corrupt-20261101T000000Z").write_bytes(b"\0" * 100 + f"{TOKEN} {session}".encode())
    (home / "spool" / "bad").mkdir(exist_ok=True)
    (home / "spool" / "bad" / "1.x.codex.Stop").write_text(f"no header {TOKEN} {session}")
    prompt(home, session, f"again {TOKEN}")
    prompt(home, "another-session", f"{TOKEN} and lint", at_ms=1_796_000_000_001)
    (home / "memories" / "extensions" / "ad_hoc" / "notes").mkdir(parents=True, exist_ok=True)
    skill = home / "memories" / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"# Release\n\nTag {TOKEN}.\n\nThen push.\n")
    return session


@pytest.fixture(autouse=True)
def engine_as_context(monkeypatch):
    """``with engine_of() as engine`` closes it."""
    from codexmem_core.engine import Engine

    monkeypatch.setattr(Engine, "__enter__", lambda self: self, raising=False)
    monkeypatch.setattr(Engine, "__exit__", lambda self, *_: self.close(), raising=False)


def test_a_text_leaves_no_trace_and_everything_else_of_the_traces_stays(traces, command, learn, home, places_of):
    status, told = command("forget", TOKEN)
    assert status == 0, told
    assert places_of(*PARTS) == []
    assert (home / "memories" / "skills" / "release" / "SKILL.md").read_text() == "# Release\n\n\nThen push.\n"
    with closing(sqlite3.connect(home / "backups" / "memory.db.0001.x")) as copy:
        (summary,) = copy.execute("SELECT rollout_summary FROM memory_stage1_outputs").fetchone()
    assert "changelog" in summary
    waiting = [path.read_text() for path in (home / "spool").iterdir() if path.is_file()]
    assert len(waiting) == 2
    assert all(json.loads(one.partition("\n")[2])["hook_event_name"] == "UserPromptSubmit" for one in waiting)
    for told_of in ("unreadable", "corrupt-", "bad/1.x", "logs/", "catalog.db: "):
        assert told_of in told
    learn(Keeper())
    assert places_of(*PARTS) == []


def test_a_session_leaves_no_trace_but_its_name(traces, command, learn, home, places_of):
    skill = home / "memories" / "skills" / "release" / "SKILL.md"
    skill.unlink()
    for path in (home / "spool").iterdir():
        if path.is_file() and "another-session" in path.read_text():
            path.unlink()
    status, told = command("forget", f"codex:{traces}")
    assert status == 0, told
    assert places_of(*PARTS) == []
    assert places_of(traces) == ["catalog.db"]
    learn(Keeper())
    assert places_of(*PARTS) == []


def test_json_says_what_was_removed_from_which_store(traces, command):
    status, told = command("forget", traces, "--json", plugins=[Keeper()])
    value = json.loads(told)
    assert status == 0
    assert value["kind"] == "session"
    removed = {(one["store"], one["what"]): one["count"] for one in value["removed"]}
    assert removed["memory.db", "memory_stage1_outputs rows"] == 1
    assert removed["memories/MEMORY.md", "rewritten"] == 1
    assert removed["keeper: archive", "removed"] == 2
    assert "keeper: archive: a copy on a tape" in value["left"]
    assert value["pending"] == []


@pytest.mark.parametrize("what", ["nothing-like-this-was-said", "codex:unknown", "rollout_summaries/none.md"])
def test_nothing_that_matched_is_a_failure_and_changes_nothing(traces, what, command, home, engine_of):
    kind = {"codex:unknown": ["--session"], "rollout_summaries/none.md": ["--file"]}.get(what, [])
    before = (home / "memories" / "MEMORY.md").read_bytes()
    status, told = command("forget", *kind, what)
    assert status == 1
    assert "nothing matched" in told or "no such" in told
    assert (home / "memories" / "MEMORY.md").read_bytes() == before
    with engine_of() as engine:
        assert engine.catalogue.forgotten_texts() == []
        assert engine.catalogue.forgettings() == []


def test_forgetting_twice_says_that_nothing_was_left(traces, command):
    assert command("forget", traces)[0] == 0
    status, told = command("forget", traces)
    assert status == 1
    assert "nothing matched" in told


@pytest.mark.parametrize("text", ["", " .,!", "ab"])
def test_a_text_that_says_nothing_is_refused(text, command, home):
    status, told = command("forget", "--text", text)
    assert status == 1
    assert "at least 3" in told


@pytest.mark.parametrize("path", ["MEMORY.md", "memory_summary.md", "raw_memories.md"])
def test_a_file_of_many_sessions_is_refused(traces, path, command, home):
    before = (home / "memories" / path).read_bytes()
    status, told = command("forget", path)
    assert status == 1
    assert "many sessions" in told
    assert (home / "memories" / path).read_bytes() == before


def test_an_id_of_two_hosts_must_be_told_apart(traces, command, engine_of):
    from codexmem_hookspecs.values.capture import Session

    with engine_of() as engine:
        engine.catalogue.record_sessions([Session(host="claude", id=traces, locator="/x")])
    status, told = command("forget", traces)
    assert status == 1
    assert f"claude:{traces} or codex:{traces}" in told


def test_while_a_consolidation_runs_nothing_is_forgotten(traces, command, engine_of, home, places_of):
    from codexmem_core.store.workers import worker_identity

    with engine_of() as engine, engine.jobs("memory-v1") as jobs:
        claim = jobs.claim_consolidation(worker=worker_identity())
        before = places_of(*PARTS)
        status, told = command("forget", traces)
        assert status == 1
        assert "in flight" in told
        assert places_of(*PARTS) == before
        assert engine.catalogue.forgotten_sessions() == frozenset()
        jobs.release_consolidation(claim, "over")
    assert command("forget", traces)[0] == 0


def test_the_consolidation_job_is_afterwards_as_it_was(traces, command, engine_of):
    def job():
        with engine_of() as engine, engine.jobs("memory-v1") as jobs:
            return jobs.consolidation_snapshot()

    before = job()
    assert before.status == "done"
    assert command("forget", TOKEN)[0] == 0
    assert job() == before


def test_a_plugin_that_fails_is_asked_again_by_later_passes(traces, command, learn, engine_of, places_of):
    keeper = Keeper()
    keeper.trouble = OSError("the archive is offline")
    status, told = command("forget", traces, plugins=[keeper])
    assert status == 0
    assert "to be tried again: keeper: keeper: codexmem_forget: OSError: the archive is offline" in told
    learn(keeper)
    with engine_of(keeper) as engine:
        (still,) = engine.catalogue.forgettings()
        assert still.attempts == 2
    keeper.trouble = None
    learn(keeper)
    assert [sessions for sessions, _ in keeper.asked] == [(traces,)] * 3
    with engine_of(keeper) as engine:
        assert engine.catalogue.forgettings() == []


def test_what_a_plugin_could_not_forget_yet_is_kept_only_until_it_has(traces, command, learn, places_of):
    keeper = Keeper()
    keeper.trouble = OSError("offline")
    command("forget", TOKEN, plugins=[keeper])
    assert set(places_of(*PARTS)) <= {"catalog.db", "catalog.db-wal"}
    keeper.trouble = None
    learn(keeper)
    assert places_of(*PARTS) == []


def test_lifting_lets_it_be_learned_again(traces, command, learn, codex_home, places_of):
    assert command("forget", traces)[0] == 0
    assert command("forget", "--lift", traces)[0] == 0
    learn()
    assert "memories/MEMORY.md" in places_of(*PARTS)
    status, told = command("forget", "--lift", traces)
    assert status == 1
    assert "not forgotten" in told


def test_a_text_can_be_lifted_too(traces, command, learn, codex_home, places_of):
    assert command("forget", TOKEN)[0] == 0
    assert command("forget", "--text", "--lift", TOKEN)[0] == 0
    codex_home(("user", "Always lint before you push."), session_id=traces)
    learn()
    assert "memories/MEMORY.md" in places_of(*PARTS)


def test_a_note_cannot_bring_back_what_was_forgotten(traces, command, engine_of):
    assert command("forget", TOKEN)[0] == 0
    with engine_of() as engine, pytest.raises(ToolError, match="had forgotten"):
        engine.memory_tools.note("memory-v1", Note(note=f"remember {TOKEN}"))


def test_a_forgotten_note_goes_with_what_was_made_of_it(traces, command, learn, home, engine_of, places_of):
    with engine_of() as engine:
        added = engine.memory_tools.note("memory-v1", Note(note="The staging cluster is called KINGFISHER-9.\n"))
        engine.memory_tools.note("memory-v1", Note(note="The printer stands on the third floor."))
    learn()
    assert "memories/MEMORY.md" in places_of("kingfisher")
    assert command("forget", added.path)[0] == 0
    assert places_of("kingfisher") == []
    learn()
    assert places_of("kingfisher") == []
    assert "third floor" in (home / "memories" / "MEMORY.md").read_text()


def test_a_note_named_after_a_forgotten_text_goes(traces, command, engine_of, home, places_of):
    with engine_of() as engine:
        engine.memory_tools.note("memory-v1", Note(title=f"About {TOKEN}", note="It is a tag.\n"))
    assert command("forget", TOKEN)[0] == 0
    assert places_of(*PARTS) == []


def test_a_note_that_was_written_in_the_session_stays_and_is_named(traces, command, engine_of):
    from codexmem_hookspecs.values.capture import Session

    with engine_of() as engine:
        engine.memory_tools.note(
            "memory-v1", Note(note="The printer stands on the third floor."), Session(host="codex", id=traces)
        )
    status, told = command("forget", traces)
    assert status == 0
    assert "is a note of its own: codexmem forget" in told


def test_a_linked_memory_is_refused_before_anything_is_changed(traces, command, home, engine_of, tmp_path):
    shutil.move(home / "memories", tmp_path / "elsewhere")
    (home / "memories").symlink_to(tmp_path / "elsewhere")
    status, told = command("forget", traces)
    assert status == 1
    assert "symbolic link" in told
    with engine_of() as engine:
        assert engine.catalogue.forgotten_sessions() == frozenset()
        assert engine.catalogue.forgettings() == []


def test_free_pages_that_another_process_keeps_are_written_anew_by_a_later_pass(
    traces, command, learn, home, places_of, monkeypatch, engine_of
):
    from codexmem_core.store import on_disk

    monkeypatch.setattr(on_disk, "_WAIT_S", 0.1)
    reader = sqlite3.connect(home / "memory.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory_stage1_outputs").fetchone()
    status, told = command("forget", TOKEN)
    assert status == 0
    assert "other processes use it" in told
    assert set(places_of(*PARTS)) <= {"memory.db", "memory.db-wal"}
    assert places_of(*PARTS)
    learn(Keeper())
    assert places_of(*PARTS)
    reader.close()
    learn(Keeper())
    assert places_of(*PARTS) == []
    engine = engine_of()
    assert engine.catalogue.forgettings() == []
    engine.close()


def test_a_place_that_holds_the_text_is_named_and_left_alone(codex_home, learn, command, tmp_path, home):
    session = codex_home(*TURNS, session_id="0198aaaa-0000-7000-8000-00000quail77")
    learn()
    status, told = command("forget", "--text", "00000quail77")
    assert status == 0
    assert f"{codex_home.path(session)}: the agent's own transcript is called so" in told
    assert codex_home.path(session).exists()
