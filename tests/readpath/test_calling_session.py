"""Which session calls a tool: as its host tells it, else by its process, else by its folder, else nobody."""

from __future__ import annotations

import json
import os

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Event, Presence, Session
from codexmem_hookspecs.values.read import Caller
from codexmem_host_codex.plugin import plugin as codex

from codexmem_core.store.workers import process_started

FOLDER = "/home/dev/harbor"


@pytest.fixture
def now(clock):
    return clock.now_ms()


@pytest.fixture
def calls(engine, now):
    """The session that a call from Codex comes from; the tools have been served for an hour."""

    def called(**more):
        given = {"host": "codex", "cwd": FOLDER, "started_ms": now - 3_600_000, **more}
        return engine.services_for("mcp").sessions.caller(Caller(**given))

    return called


@pytest.fixture
def seen(engine, now):
    """A session that the catalogue knows, active so many minutes ago."""

    def record(session_id, *, minutes, cwd=FOLDER, host="codex", **more):
        at_ms = now - minutes * 60_000
        times = {"updated_at_ms": at_ms, "touched_at_ms": at_ms, "stamp": str(at_ms)}
        session = Session(host=host, id=session_id, locator=f"/x/{session_id}", cwd=cwd, **times, **more)
        engine.catalogue.record_sessions([session])
        return session

    return record


def codex_with(name, caller):
    """The Codex host under another name, with another way to tell who calls."""

    class Other(type(codex)):
        @hookimpl
        def codexmem_capture_host(self):
            (host,) = super().codexmem_capture_host()
            host.name, host.caller = name, caller
            return [host]

    return name, Other()


def test_what_the_host_tells_counts(calls, seen):
    seen("newest", minutes=1)
    told = seen("told", minutes=30)
    assert calls(meta={"sessionId": "told"}) == told
    assert calls(meta={"sessionId": "not seen yet"}) == Session(host="codex", id="not seen yet", cwd=FOLDER)


def test_else_the_newest_active_session_of_that_host_and_folder(calls, seen):
    seen("older", minutes=20)
    newest = seen("newest", minutes=10)
    seen("elsewhere", minutes=1, cwd="/home/dev/other")
    seen("another host's", minutes=1, host="claude")
    seen("a helper", minutes=1, kind="subagent")
    assert calls() == newest


def test_before_that_the_one_that_was_last_seen_in_the_process_of_the_caller(calls, seen, engine, now):
    """A session that has only just begun is known from its hooks alone."""
    pid = os.getpid()
    seen("newest", minutes=1)
    for number, name in enumerate(("older", "here", "ended")):
        engine.catalogue.seen_in("codex", name, pid, process_started(pid), now + number)
    engine.catalogue.seen_in("codex", "elsewhere", pid + 1, process_started(pid), now + 9)
    engine.catalogue.mark_ended("codex", "ended", now + 9)
    assert calls(parent=pid) == Session(host="codex", id="here", cwd=FOLDER)
    assert calls(parent=pid, meta={"sessionId": "told"}).id == "told"
    known = seen("here", minutes=5, cwd="/home/dev/other")
    assert calls(parent=pid) == known


def test_another_process_of_that_number_is_none(calls, engine, now):
    engine.catalogue.seen_in("codex", "here", os.getpid(), "1.1", now)
    assert calls(parent=os.getpid()) == Session(host="codex", id="", cwd=FOLDER)


def test_a_prompt_makes_a_session_the_newest(calls, seen, engine, now):
    resumed = seen("resumed", minutes=20)
    seen("other", minutes=10)
    event = Event(id="1", host="codex", kind="prompt", session=resumed, at_ms=now - 60_000)
    engine.deliveries.record(event, "{}", [])
    assert calls().id == "resumed"


def test_what_ended_went_or_was_not_active_since_is_nobody(calls, seen, engine, now):
    seen("ended", minutes=5)
    engine.catalogue.mark_ended("codex", "ended", now)
    seen("gone", minutes=5)
    engine.catalogue.set_presence("codex", {"gone": Presence.gone})
    seen("of yesterday", minutes=24 * 60)
    assert calls() == Session(host="codex", id="", cwd=FOLDER)


def test_a_linked_folder_is_the_same_folder(calls, seen, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    seen("here", minutes=5, cwd=str((tmp_path / "real").resolve()))
    assert calls(cwd=str(tmp_path / "link")).id == "here"


def test_a_host_that_is_not_installed_has_no_sessions(calls, seen):
    seen("x", minutes=1, host="elsewhere")
    assert calls(host="elsewhere") == calls(host="") == Session(host="", id="", cwd=FOLDER)


def test_a_host_that_fails_at_it_costs_nobody_an_answer(engine_with):
    engine = engine_with(codex_with("failing", lambda *_: json.loads("{")))
    caller = Caller(host="failing", cwd="/")
    assert engine.services_for("mcp").sessions.caller(caller) == Session(host="failing", id="", cwd="/")
    assert "calling session not told" in engine.notices[0]


def test_a_file_of_the_host_is_read_whole_or_not_at_all(engine_with, tmp_path):
    (tmp_path / "small").write_bytes(b"7")
    (tmp_path / "huge").write_bytes(b"7" * 2_000_000)
    (tmp_path / "folder").mkdir()
    found = {}

    def look(_caller, _environ, read):
        found.update({name: read(str(tmp_path / name)) for name in ("small", "huge", "none", "folder", "none/none")})
        return ""

    engine = engine_with(codex_with("reading", look))
    engine.services_for("mcp").sessions.caller(Caller(host="reading", cwd="/"))
    assert found == {"small": b"7", "huge": None, "none": None, "folder": None, "none/none": None}
