"""Citations in transcripts count as use of the sessions they name, once, and never reach what is learned."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs.values.capture import Session
from codexmem_host_opencode import plugin as opencode_plugin

from codexmem_core.pipeline import run, take_in_events
from codexmem_core.request import RunRequest

BLOCK = (
    "<memory-citation><citation_entries>MEMORY.md:1-2|note=[x]</citation_entries>"
    "<session_ids>\n{}\n</session_ids></memory-citation>"
)


class Named(type(opencode_plugin)):
    """The plugin under a name that is not installed beside it."""

    name = "host-opencode"


opencode = Named()


@pytest.fixture
def cited(codex_home, learn):
    session = codex_home(("user", "Always write the changelog entry first."), ("assistant", "Yes."))
    learn()
    return session


@pytest.fixture
def uses(engine_of):
    def count(session, *plugins):
        engine = engine_of(*plugins)
        counts = {}
        for plugin, memory in engine.memories.items():
            with engine.jobs(plugin) as jobs:
                counts[memory.name] = jobs.output("codex", session).usage_count
        engine.close()
        return counts

    return count


def answering(session, text="Done. "):
    return ("user", "Please always lint before a commit."), ("assistant", text + BLOCK.format(session))


def test_a_citation_counts_once_however_often_the_transcript_is_read(cited, codex_home, learn, uses):
    session = codex_home(*answering(cited))
    learn()
    assert uses(cited) == {"v1": 1}
    codex_home(("user", "Also never commit on fridays."), ("assistant", "Yes."), session_id=session)
    learn()
    assert uses(cited) == {"v1": 1}
    codex_home(*answering(cited), session_id=session)
    learn()
    assert uses(cited) == {"v1": 2}


def test_codexs_own_form_counts_too_and_unknown_ids_are_passed_over(cited, codex_home, learn, uses):
    text = f"Done. <oai-mem-citation><rollout_ids>\nnobody\n{cited}\n{cited}\n</rollout_ids></oai-mem-citation>"
    codex_home(("user", "Please always lint before a commit."), ("assistant", text))
    learn()
    assert uses(cited) == {"v1": 1}


def test_what_a_user_or_a_tool_says_is_no_use(cited, codex_home, learn, uses):
    output = {"type": "function_call_output", "call_id": "c", "output": BLOCK.format(cited)}
    codex_home(("user", f"Always say {BLOCK.format(cited)}"), ("assistant", "Yes."), items=[output])
    learn()
    assert uses(cited) == {"v1": 0}


def test_markup_never_reaches_what_is_learned(cited, codex_home, learn, home, places_of):
    codex_home(*answering(cited, "I will keep the changelog, and lint. "))
    learn()
    assert places_of("memory-citation", "citation_entries") == []


def test_markup_is_in_no_transcript_that_anybody_reads(cited, codex_home, learn, engine_of):
    session = codex_home(*answering(cited, "I will lint. "))
    learn()
    engine = engine_of()
    known = engine.catalogue.session("codex", session).session
    for items in (list(engine.transcripts.open(known)), list(engine.transcripts.tail(known, 0))):
        assert [item.text for item in items if item.role == "assistant"] == ["I will lint."]
    engine.close()


def test_a_use_is_counted_in_the_memory_that_the_session_reads(codex_home, learn, uses, engine_of, other_memory):
    cited = codex_home(("user", "Always write the changelog entry first."), ("assistant", "Yes."))
    learn(other_memory)
    session = codex_home(*answering(cited))
    engine = engine_of(other_memory)
    engine.catalogue.freeze_memory("codex", session, "other")
    engine.close()
    learn(other_memory)
    assert uses(cited, other_memory) == {"other": 1, "v1": 0}


def stop(engine, codex_home, session):
    payload = {
        "session_id": session, "hook_event_name": "Stop", "cwd": "/home/dev/harbor",
        "transcript_path": str(codex_home.path(session)),
    }  # fmt: skip
    engine.spool.write("codex", "Stop", json.dumps(payload).encode(), at_ms=engine.clock.now_ms())


def test_a_stop_counts_at_once_what_is_too_young_to_be_learned(cited, codex_home, engine_of, uses):
    session = codex_home(*answering(cited))

    def stopped():
        engine = engine_of()
        stop(engine, codex_home, session)
        report = run(engine, RunRequest(idle_hours=48.0))
        engine.close()
        assert report.memories["v1"].claimed == 0

    stopped()
    assert uses(cited) == {"v1": 1}
    stopped()
    assert uses(cited) == {"v1": 1}
    engine = engine_of()
    read_to = engine.catalogue.mark(f"cited:codex:{session}")
    engine.close()
    assert int(read_to) == codex_home.path(session).stat().st_size, "only what is new is read the next time"
    codex_home(*answering(cited), session_id=session)
    stopped()
    assert uses(cited) == {"v1": 2}


def test_what_is_cited_before_a_pass_fails_is_counted_by_the_next(cited, codex_home, engine_of, uses):
    session = codex_home(*answering(cited))
    engine = engine_of()
    stop(engine, codex_home, session)
    take_in_events(engine)
    engine.close()  # as a full disk or a kill would end it
    engine = engine_of()
    run(engine, RunRequest(idle_hours=48.0))
    assert engine.catalogue.not_looked_at() == []
    engine.close()
    assert uses(cited) == {"v1": 1}


def test_an_answer_that_comes_in_during_a_pass_waits_for_the_next(cited, codex_home, engine_of):
    session = codex_home(*answering(cited))
    engine = engine_of()
    stop(engine, codex_home, session)
    take_in_events(engine)
    before = engine.catalogue.not_looked_at()
    stop(engine, codex_home, session)
    take_in_events(engine)
    engine.catalogue.looked_at(before)
    (later,) = engine.catalogue.not_looked_at()
    assert later.event_id != before[0].event_id
    engine.close()


class TakesOut:
    """OpenCode, whose plugin file takes citations out before anything is kept."""

    def __init__(self, engine):
        self.engine = engine

    def tell(self, event, **payload):
        sent = json.dumps({"session_id": "ses_1", "cwd": "/home/dev/harbor", **payload}).encode()
        self.engine.spool.write("opencode", event, sent, at_ms=self.engine.clock.now_ms())

    def cite(self, session):
        self.tell("experimental.text.complete", cited=BLOCK.format(session), part_id="prt_1")


def test_what_a_host_takes_out_of_an_answer_counts_once_for_each_answer(cited, engine_of, uses):
    engine = engine_of(opencode)
    host = TakesOut(engine)
    host.cite(cited)
    host.cite(cited)
    run(engine, RunRequest())
    run(engine, RunRequest())
    engine.close()
    assert uses(cited, opencode) == {"v1": 2}


def test_an_event_that_is_taken_in_again_after_a_crash_counts_no_second_time(cited, engine_of, uses, home):
    engine = engine_of(opencode)
    TakesOut(engine).cite(cited)
    (spooled,) = (home / "spool").glob("*.opencode.*")
    content = spooled.read_bytes()
    run(engine, RunRequest())
    spooled.write_bytes(content)
    run(engine, RunRequest())
    engine.close()
    assert uses(cited, opencode) == {"v1": 1}


def test_what_was_taken_out_of_a_session_that_is_not_remembered_counts_nothing(cited, engine_of, uses):
    engine = engine_of(opencode)
    engine.catalogue.set_mode("opencode", "ses_1", "disabled")
    TakesOut(engine).cite(cited)
    run(engine, RunRequest())
    engine.close()
    assert uses(cited, opencode) == {"v1": 0}


def test_an_idle_session_has_ended_until_it_goes_on(cited, engine_of):
    engine = engine_of(opencode)
    host = TakesOut(engine)
    host.tell("session.idle")
    take_in_events(engine)
    known = Session(host="opencode", id="ses_1", locator="opencode:/ses_1", stamp="1", revision="1")
    engine.catalogue.record_sessions([known])
    assert engine.catalogue.session("opencode", "ses_1").ended_at_ms > 0
    host.tell("chat.message", prompt="more")
    take_in_events(engine)
    assert engine.catalogue.session("opencode", "ses_1").ended_at_ms == 0
    engine.close()


def test_a_session_that_is_not_remembered_counts_nothing(cited, codex_home, engine_of, uses):
    session = codex_home(*answering(cited))
    engine = engine_of()
    engine.catalogue.set_mode("codex", session, "disabled")
    stop(engine, codex_home, session)
    run(engine, RunRequest(idle_hours=0.0))
    engine.close()
    assert uses(cited) == {"v1": 0}


def test_a_session_does_not_count_by_citing_itself(codex_home, learn, uses):
    session = codex_home(("user", "Please always lint before a commit."), ("assistant", "Yes."))
    learn()
    codex_home(("assistant", BLOCK.format(session)), session_id=session)
    learn()
    assert uses(session) == {"v1": 0}
