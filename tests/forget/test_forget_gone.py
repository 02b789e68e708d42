"""What a pass forgets by itself, and what it must not: deleted sessions, and transcripts that only vanished."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import ClassVar

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Event, Presence, Session

from codexmem_core.readpath.forgetting import pending

TOKEN = "LAPWING-30817"
PARTS = ("lapwing", "30817")
TURNS = (
    ("user", f"Always tag the release {TOKEN} before you deploy."),
    ("assistant", "I will."),
)


@pytest.fixture
def learned(codex_home, learn):
    session = codex_home(*TURNS)
    codex_home(("user", "Please always run make lint before a commit."), ("assistant", "Yes."))
    learn()
    return session


class DeletingHost:
    """A host that tells of deleted sessions, and whether sessions are still there."""

    name = "deleting"

    def __init__(self, presence=None):
        self.presence = presence or {}
        self.asked = []

    @property
    def host(self):
        return self

    title = "Deleting"
    answers: ClassVar = {}
    kinds: ClassVar = {}
    limit_bytes = 0

    def homes(self, environ):
        return []

    def own_memories(self, environ):
        return []

    def decode(self, event, payload, at_ms):
        session = Session(host=payload["host"], id=payload["session"])
        return [Event(id="", host=payload["host"], kind="deleted", session=session, at_ms=at_ms)]

    def encode(self, event, answer):
        return b""

    def own_text(self, item):
        return False

    def own_agent(self, session):
        return False

    @hookimpl
    def codexmem_capture_host(self):
        return [self]

    @hookimpl
    def codexmem_capture_sessions(self, query):
        return []

    @hookimpl
    def codexmem_capture_transcript(self, session, after):
        return iter(())

    @hookimpl
    def codexmem_capture_presence(self, sessions):
        self.asked.append([session.id for session in sessions])
        if isinstance(self.presence, Exception):
            raise self.presence
        return self.presence


def test_a_delete_event_forgets_the_session_for_good(learned, learn, engine_of, home, places_of):
    with_host = DeletingHost()
    engine = engine_of(with_host)
    engine.spool.write("deleting", "deleted", f'{{"host": "codex", "session": "{learned}"}}'.encode(), at_ms=1)
    engine.close()
    learn(with_host)
    assert places_of(*PARTS) == []
    assert "make lint" in (home / "memories" / "MEMORY.md").read_text()
    learn()
    assert places_of(*PARTS) == []


def test_a_delete_event_waits_for_a_consolidation_that_runs(learned, learn, engine_of, places_of):
    from codexmem_core.store.workers import worker_identity

    with_host = DeletingHost()
    engine = engine_of(with_host)
    with engine.jobs("memory-v1") as jobs:
        claim = jobs.claim_consolidation(worker=worker_identity())
        engine.spool.write("deleting", "deleted", f'{{"host": "codex", "session": "{learned}"}}'.encode(), at_ms=1)
        learn(with_host, now=False)  # who asks for it at once would stay until the other is done
        assert "memories/MEMORY.md" in places_of(*PARTS)
        jobs.release_consolidation(claim, "over")
    engine.close()
    learn(with_host)
    assert places_of(*PARTS) == []


def test_a_vanished_transcript_is_not_forgetting(learned, codex_home, learn, clock, home):
    os.unlink(codex_home.path(learned))
    clock.turn(hours=25)
    learn()
    assert TOKEN in (home / "memories" / "MEMORY.md").read_text()


@pytest.fixture
def row_of_the_host(learned, engine_of, home):
    """The memory holds a session that is the other host's."""

    def move():
        engine = engine_of()
        engine.catalogue.record_sessions([Session(host="deleting", id=learned, locator="x", updated_at_ms=1)])
        engine.close()
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(home / "memory.db")) as database:
            for table in ("memory_stage1_outputs", "memory_findings"):
                database.execute(f"UPDATE {table} SET host = 'deleting' WHERE session_id = ?", (learned,))
            database.commit()
        return learned

    return move


@pytest.mark.parametrize(
    ("presence", "forgets"), [(Presence.gone, True), (Presence.unknown, False), (Presence.present, False)]
)
def test_only_a_confirmed_gone_forgets(presence, forgets, row_of_the_host, clock, learn, places_of, codex_home):
    session = row_of_the_host()
    os.unlink(codex_home.path(session))
    host = DeletingHost({session: presence})
    learn(host)
    assert host.asked == [[session]]
    assert (places_of(*PARTS) == []) is forgets
    learn(host)
    assert len(host.asked) == 1, "asked again although a day has not passed"
    clock.turn(hours=25)
    learn(host)
    assert len(host.asked) == (1 if forgets else 2)


def test_a_host_that_cannot_answer_makes_nobody_forget(row_of_the_host, learn, places_of, codex_home):
    session = row_of_the_host()
    os.unlink(codex_home.path(session))
    learn(DeletingHost(OSError("not now")))
    assert "memory.db" in places_of(*PARTS)


DYING = """
import os, sys
seen = 0
def hook(event, arguments):
    global seen
    if event == "codexmem.instant":
        seen += (bool(seen) and not "{only}") or arguments[0] == "commit:forgetting:after"
        if seen == {at}:
            os._exit(9)
sys.addaudithook(hook)
from codexmem_core.services.clock import SystemClock
SystemClock.now_ms = lambda self: {now}
from codexmem_core.cli import main
main()
"""


@pytest.fixture
def dying(tmp_path, home, codex_home):
    return lambda at, *arguments, only="": _dying(tmp_path, home, codex_home, (at, only), *arguments)


def _dying(tmp_path, home, codex_home, where, *arguments):
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(codex_home.root),
        "CODEXMEM_HOME": str(home), "CODEXMEM_CONFIG": str(tmp_path / "none.toml"),
    }  # fmt: skip
    program = DYING.format(at=where[0], only=where[1], now=1_796_040_000_000)
    return subprocess.run([sys.executable, "-c", program, *arguments], env=environ, capture_output=True, check=False)


@pytest.mark.parametrize("kind", ["session", "text"])
@pytest.mark.parametrize("at", [1, 9, 20, 32])
def test_a_crash_in_the_middle_is_finished_by_the_next_pass(kind, at, learned, dying, home, learn, places_of):
    what = learned if kind == "session" else TOKEN
    ended = dying(at, "forget", what)
    assert ended.returncode == 9, ended.stderr
    learn()
    learn()
    assert places_of(*PARTS) == []
    assert "make lint" in (home / "memories" / "MEMORY.md").read_text()


def test_a_crash_before_the_last_step_leaves_nothing_in_free_pages(learned, dying, learn, places_of):
    """When all is deleted and only the databases are still to be written anew."""
    assert dying(3, "forget", TOKEN, only="forgetting").returncode == 9
    assert "catalog.db" in places_of(*PARTS) or "catalog.db-wal" in places_of(*PARTS)
    learn()
    assert places_of(*PARTS) == []


def test_what_is_pending_says_what_and_nothing_more():
    session = Session(host="codex", id="s1", cwd="/home/dev/secret-project", locator="/x")
    assert pending.decoded(pending.of_sessions([session])).sessions == (Session(host="codex", id="s1"),)
    assert "secret" not in pending.of_sessions([session])
