"""Memory V1 and Memory V2 in one home: both are written, and what happens to one does not happen to the other."""

from __future__ import annotations

import collections
import threading
from dataclasses import replace

import pytest
from click.testing import CliRunner
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.models.extractive import find
from codexmem_core.pipeline import run
from codexmem_core.readpath.forget import forget
from codexmem_core.readpath.forgetting.targets import target_of
from codexmem_core.request import RunRequest
from codexmem_core.status import status_of

V2 = ("memory-v2",)
MANY = "[memories]\nmax_rollouts_per_startup = 128\n"


class Scripted:
    """A model that costs and has an answer for either memory; ``trouble`` is given each question first."""

    name = "scripted"

    def __init__(self, trouble=lambda memory: None):
        self.trouble = trouble
        self.asked = collections.Counter()
        self.inputs = []
        self._lock = threading.Lock()

    @hookimpl
    def codexmem_models(self):
        return [ModelBackend(name=self.name, summary="scripted", costs=True, ask=self.ask)]

    def ask(self, request, transcript, services):
        memory = request.schema_name.removeprefix("memory_")
        with self._lock:
            self.asked[memory] += 1
            self.inputs.append((memory, request.input))
        self.trouble(memory)
        answer = dict.fromkeys(request.schema["required"], f"# Worth keeping by {memory}")
        return Reply(data=answer, tokens_in=10, tokens_out=5)


def test_one_pass_reads_each_session_once_and_writes_both(sessions, engine_of, both):
    engine = engine_of(beside=V2)
    calls = collections.Counter()
    engine.plugins.manager.add_hookcall_monitoring(lambda name, *_: calls.update([name]), lambda *_: None)
    report = run(engine, RunRequest(idle_hours=0.0))
    assert {name: memory.extracted for name, memory in report.memories.items()} == {"v1": 4, "v2": 4}
    assert calls["codexmem_capture_transcript"] == len(sessions)
    assert both.notes("v1") == both.notes("v2") == sessions
    assert (both.folder("v1") / "MEMORY.md").exists()
    assert not (both.folder("v2") / "MEMORY.md").exists()
    assert not (both.folder("v2") / "raw_memories.md").exists()
    assert not (both.folder("v2") / "skills").exists()
    for memory in both.names:
        assert "always run the linter" in both.summary(memory)


def test_a_model_that_reads_transcripts_itself_is_asked_once_for_both(sessions, engine_of, both):
    class Reader(Scripted):
        @hookimpl
        def codexmem_models(self):
            return [ModelBackend(name=self.name, summary="", costs=False, reads_transcript=True, ask=self.find)]

        def find(self, request, transcript, services):
            self.asked[transcript.session.id] += 1
            return Reply(findings=find(transcript))

    reader = Reader()
    engine = engine_of(reader, config='[models]\nbackend = "scripted"\n', beside=V2)
    report = run(engine, RunRequest(idle_hours=0.0))
    assert {memory.extracted for memory in report.memories.values()} == {4}
    assert reader.asked == dict.fromkeys(sessions, 1)


def test_each_memory_asks_its_own_question_and_pays_for_itself(sessions, learn, engine_of, both):
    model = Scripted()
    report = learn(model)
    assert model.asked == {"v1": 4, "v2": 4}
    assert all("[human user]\nAdd a retry" in text for memory, text in model.inputs if memory == "v2")
    assert all("### user\nAdd a retry" in text for memory, text in model.inputs if memory == "v1")
    assert {memory.status for memory in report.memories.values()} == {"succeeded"}
    for memory in both.names:
        assert f"Worth keeping by {memory}" in both.text(memory)
        assert f"Worth keeping by {both.other[memory]}" not in both.text(memory)
    spent = {(row.memory, row.calls) for row in engine_of(beside=V2).catalogue.usage()}
    assert spent == {("memory-v1", 4), ("memory-v2", 4)}


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_whose_model_raises_is_tried_again_alone(sessions, learn, both, clock, bad):
    def trouble(memory):
        if memory == bad:
            raise ModelRefused("no JSON", "invalid")

    report = learn(Scripted(trouble))
    assert report.memories[bad].failed == 4
    assert report.memories[both.other[bad]].extracted == 4
    clock.turn(hours=1.1)
    mended = Scripted()
    learn(mended)
    assert mended.asked == {bad: 4}
    assert both.notes("v1") == both.notes("v2") == sessions


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_hangs_is_given_up_and_the_other_is_finished(sessions, learn, never_ends, both, bad):
    def trouble(memory):
        if memory == bad:
            never_ends()

    report = learn(Scripted(trouble), models="job_minutes = 0.03")
    assert report.memories[both.other[bad]].status == "succeeded"
    assert report.memories[bad].status == "failed"
    assert both.notes(both.other[bad]) == sessions


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_has_spent_its_share_of_the_day_leaves_the_other_its_own(sessions, learn, both, clock, bad):
    cap = "[budget]\ncalls_per_day = 8\n"
    learn(Scripted(), config=cap, memory=bad)
    greedy = Scripted()
    report = learn(greedy, config=cap)
    assert greedy.asked == {both.other[bad]: 4}
    assert report.memories[both.other[bad]].extracted == 4
    assert both.notes("v1") == both.notes("v2") == sessions


def test_a_share_of_the_day_is_what_one_memory_may_take(sessions, learn, engine_of):
    report = learn(Scripted(), config="[budget]\ncalls_per_day = 4\n")
    assert {memory.extracted for memory in report.memories.values()} == {2}
    waiting = [row.reason for row in report.skipped if "budget" in row.reason]
    assert any("2 of 2 calls" in reason and "equal share" in reason for reason in waiting)


def test_the_cap_on_running_work_is_each_memorys_own(sessions, learn):
    report = learn(Scripted(), limit=1)
    assert {memory.claimed for memory in report.memories.values()} == {1}


def test_what_may_not_be_remembered_is_left_out_of_both_before_they_are_limited(sessions, learn, engine_of, both):
    learn()
    engine = engine_of(beside=V2)
    newest = max(engine.catalogue.candidates(), key=lambda known: (known.session.updated_at_ms, known.session.id))
    engine.memory_tools.mode(f"codex:{newest.session.id}", "disabled")
    engine.close()
    learn(config="[memories]\nmax_raw_memories_for_consolidation = 3\n")
    for memory in both.names:
        recaps = sorted((both.folder(memory) / "rollout_summaries").glob("*.md"))
        assert len(recaps) == 3
        assert newest.session.id not in both.text(memory)


@pytest.mark.parametrize("gone", ["v1", "v2"])
def test_forgetting_and_reset_reach_a_memory_that_is_only_on_disk(sessions, learn, engine_of, both, gone):
    learn()
    engine = engine_of(beside=V2, without=[f"memory-{gone}"])
    forget(engine, target_of(engine.access, sessions[0]))
    for memory in both.names:
        assert sessions[0] not in both.text(memory)
        assert both.notes(memory) == sessions[1:]
        assert sessions[0].encode() not in both.database(memory).read_bytes()
    engine.catalogue.freeze_memory("codex", sessions[1], gone)
    engine.memory_tools.mode(f"codex:{sessions[2]}", "disabled")
    engine.memory_tools.reset(lambda _plan: True)
    engine.close()
    for memory in both.names:
        assert both.notes(memory) == []
        assert both.text(memory) == ""
    engine = engine_of(beside=V2)
    assert engine.catalogue.memory_of("codex", sessions[1]) == gone
    assert engine.catalogue.mode_of("codex", sessions[2]) == "disabled"
    for plugin in engine.memories:
        with engine.jobs(plugin) as jobs:
            assert jobs.progress() == 0


def test_readiness_counts_the_sessions_of_one_owned_success(sessions, learn, engine_of, both, codex_home, clock):
    def covered():
        value = status_of(engine_of(beside=V2))
        return {name: memory["readiness"]["sessions"] for name, memory in value["memories"].items()}

    learn(memory="v2")
    assert covered() == {"v1": 0, "v2": 4}
    engine = engine_of(beside=V2)
    with engine.jobs("memory-v2") as jobs:
        rows = jobs.select_inputs(100, 30, allowed=lambda keys: keys)
        lost = jobs.claim_consolidation(worker="w", at_once=True)
        clock.turn(hours=1.1)
        owned = jobs.claim_consolidation(worker="x", at_once=True)
        assert not jobs.finish_consolidation(lost, [*rows, *_more(rows)])
        assert jobs.finish_consolidation(owned, rows[:1])
    engine.close()
    assert covered()["v2"] == 4
    clock.turn(days=40)
    learn()
    assert len(both.notes("v2")) < 4
    assert covered()["v2"] == 4


def _more(rows):
    return [replace(rows[0], id=f"more-{number}") for number in range(50)]


def test_a_pass_over_one_memory_leaves_the_other_where_it_was(sessions, learn, both):
    learn(memory="v1")
    assert not (both.folder("v2")).exists()
    report = learn()
    assert report.memories["v1"].status == "up_to_date"
    assert report.memories["v2"].extracted == 4


def test_what_both_leave_out_is_told_once_and_what_one_does_names_it(sessions, codex_home, engine_of):
    def said(*plugins, config=""):
        state = State()
        state._engine = engine_of(*plugins, config=config, beside=V2)
        result = CliRunner().invoke(codexmem, ["run", "--all", "--idle-hours", "0"], obj=state)
        state.close()
        return result.output

    codex_home(("user", "hello"), ("assistant", "Hello!"))
    assert "left out: 1 — nothing worth keeping\n" in said()
    codex_home(("user", "Add a counter to the uploader."), ("assistant", "Added."))

    def trouble(memory):
        if memory == "v2":
            raise ModelRefused("no JSON", "invalid")

    output = said(Scripted(trouble), config=f'[models]\nbackend = "scripted"\n{MANY}')
    assert "left out: 1 — no JSON (v2)\n" in output
