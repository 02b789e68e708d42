"""Memory V1 and Memory V2 in one home: both are written, and what happens to one does not happen to the other."""

from __future__ import annotations

import collections
import json
import sqlite3
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
DATABASES = {"v1": "memory.db", "v2": "memory_v2.db"}
FOLDERS = {"v1": "memories", "v2": "memories_v2"}
OTHER = {"v1": "v2", "v2": "v1"}
TURNS = (
    ("user", "Please always run the linter before you commit in this repository."),
    ("assistant", "Understood, I will run it first."),
    ("user", "Add a retry to the uploader."),
    ("assistant", "Added."),
)


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


@pytest.fixture
def sessions(codex_home):
    return sorted(codex_home(*TURNS) for _ in range(4))


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def learn(run_with):
    """One pass of both, with a scripted model when one is given."""

    def once(model=None, models="", config="", **request):
        plugins = (model,) if model else ()
        settings = f'[models]\nbackend = "scripted"\n{models}\n{MANY}' if model else ""
        return run_with(*plugins, config=settings + config, beside=V2, **{"now": True, **request})

    return once


def notes(home, memory):
    with sqlite3.connect(home / DATABASES[memory]) as database:
        rows = database.execute("SELECT session_id FROM memory_stage1_outputs ORDER BY 1").fetchall()
    database.close()
    return [row[0] for row in rows]


def summary(home, memory):
    return (home / FOLDERS[memory] / "memory_summary.md").read_text()


def text_of(home, memory):
    root = home / FOLDERS[memory]
    return "\n".join(path.read_text() for path in sorted(root.rglob("*.md")) if ".git" not in path.parts)


def test_one_pass_reads_each_session_once_and_writes_both(sessions, engine_of, home):
    engine = engine_of(beside=V2)
    calls = collections.Counter()
    engine.plugins.manager.add_hookcall_monitoring(lambda name, *_: calls.update([name]), lambda *_: None)
    report = run(engine, RunRequest(idle_hours=0.0))
    assert {name: memory.extracted for name, memory in report.memories.items()} == {"v1": 4, "v2": 4}
    assert calls["codexmem_capture_transcript"] == len(sessions)
    assert notes(home, "v1") == notes(home, "v2") == sessions
    assert (home / "memories" / "MEMORY.md").exists()
    assert not (home / "memories_v2" / "MEMORY.md").exists()
    assert not (home / "memories_v2" / "raw_memories.md").exists()
    assert not (home / "memories_v2" / "skills").exists()
    for memory in DATABASES:
        assert "always run the linter" in summary(home, memory)


def test_a_model_that_reads_transcripts_itself_is_asked_once_for_both(sessions, engine_of, home):
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


def test_each_memory_asks_its_own_question_and_pays_for_itself(sessions, learn, engine_of, home):
    model = Scripted()
    report = learn(model)
    assert model.asked == {"v1": 4, "v2": 4}
    assert all("[human user]\nAdd a retry" in text for memory, text in model.inputs if memory == "v2")
    assert all("### user\nAdd a retry" in text for memory, text in model.inputs if memory == "v1")
    assert {memory.status for memory in report.memories.values()} == {"succeeded"}
    for memory in DATABASES:
        assert f"Worth keeping by {memory}" in text_of(home, memory)
        assert f"Worth keeping by {OTHER[memory]}" not in text_of(home, memory)
    spent = {(row.memory, row.calls) for row in engine_of(beside=V2).catalogue.usage()}
    assert spent == {("memory-v1", 4), ("memory-v2", 4)}


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_whose_model_raises_is_tried_again_alone(sessions, learn, home, clock, bad):
    def trouble(memory):
        if memory == bad:
            raise ModelRefused("no JSON", "invalid")

    report = learn(Scripted(trouble))
    assert report.memories[bad].failed == 4
    assert report.memories[OTHER[bad]].extracted == 4
    clock.turn(hours=1.1)
    mended = Scripted()
    learn(mended)
    assert mended.asked == {bad: 4}
    assert notes(home, "v1") == notes(home, "v2") == sessions


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_hangs_is_given_up_and_the_other_is_finished(sessions, learn, never_ends, home, bad):
    def trouble(memory):
        if memory == bad:
            never_ends()

    report = learn(Scripted(trouble), models="job_minutes = 0.03")
    assert report.memories[OTHER[bad]].status == "succeeded"
    assert report.memories[bad].status == "failed"
    assert notes(home, OTHER[bad]) == sessions


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_has_spent_its_share_of_the_day_leaves_the_other_its_own(sessions, learn, home, clock, bad):
    cap = "[budget]\ncalls_per_day = 8\n"
    learn(Scripted(), config=cap, memory=bad)
    greedy = Scripted()
    report = learn(greedy, config=cap)
    assert greedy.asked == {OTHER[bad]: 4}
    assert report.memories[OTHER[bad]].extracted == 4
    assert notes(home, "v1") == notes(home, "v2") == sessions


def test_a_share_of_the_day_is_what_one_memory_may_take(sessions, learn, engine_of):
    report = learn(Scripted(), config="[budget]\ncalls_per_day = 4\n")
    assert {memory.extracted for memory in report.memories.values()} == {2}
    waiting = [row.reason for row in report.skipped if "budget" in row.reason]
    assert any("2 of 2 calls" in reason and "equal share" in reason for reason in waiting)


def test_the_cap_on_running_work_is_each_memorys_own(sessions, learn):
    report = learn(Scripted(), limit=1)
    assert {memory.claimed for memory in report.memories.values()} == {1}


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_damaged_database_is_made_anew_and_the_other_is_as_it_was(sessions, learn, home, bad):
    learn()
    damaged = home / DATABASES[bad]
    damaged.write_bytes(b"\xff" * 100 + damaged.read_bytes()[100:])
    for suffix in ("-wal", "-shm"):
        (home / f"{DATABASES[bad]}{suffix}").unlink(missing_ok=True)
    report = learn()
    assert report.memories[OTHER[bad]].status == "up_to_date"
    assert report.memories[bad].extracted == 4
    assert list(home.glob(f"{DATABASES[bad]}.corrupt-*"))


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_damaged_index_costs_no_note_although_the_sessions_are_too_old_to_be_read_again(
    sessions, learn, home, clock, bad
):
    learn()
    before = (notes(home, bad), summary(home, bad))
    clock.turn(days=11)
    damage_index(home / DATABASES[bad])
    report = learn()
    assert not report.failed
    assert list(home.glob(f"{DATABASES[bad]}.corrupt-*"))
    assert (notes(home, bad), summary(home, bad)) == before


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_notes_that_are_lost_take_nothing_out_of_the_files_until_the_user_says_so(sessions, learn, home, clock, bad):
    learn()
    recaps = sorted((home / FOLDERS[bad] / "rollout_summaries").iterdir())
    before = summary(home, bad)
    clock.turn(days=11)
    damaged = home / DATABASES[bad]
    damaged.write_bytes(b"\xff" * 100 + damaged.read_bytes()[100:])
    report = learn(now=False)
    assert report.memories[bad].consolidation == "failed_notes_lost"
    assert report.memories[bad].detail.startswith("4 recaps in ")
    assert "codexmem run --all" in report.memories[bad].detail
    assert report.memories[OTHER[bad]].status == "up_to_date"
    assert sorted((home / FOLDERS[bad] / "rollout_summaries").iterdir()) == recaps
    assert summary(home, bad) == before
    doctor = CliRunner().invoke(codexmem, ["--home", str(home), "--config", str(home / "none.toml"), "doctor"])
    assert f"{DATABASES[bad]}.corrupt-" in doctor.output
    learn()
    assert not list((home / FOLDERS[bad] / "rollout_summaries").iterdir())


def damage_index(path):
    """Overwrite the root page of an index, which no row depends on."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_memory_c%'")
        place = (page.fetchone()[0] - 1) * size
    database.close()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * size)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@pytest.fixture
def unusable(home):
    """Let a memory's database belong to a later version of codexmem: it can be read and not written."""

    def make(memory):
        with sqlite3.connect(home / DATABASES[memory]) as database:
            database.execute("INSERT INTO schema_migration (name, applied) VALUES ('9999_later', '2026-11-30')")
        database.close()

    return make


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_database_of_a_later_version_stops_its_own_memory_only(sessions, learn, unusable, codex_home, home, bad):
    learn()
    unusable(bad)
    codex_home(*TURNS)
    report = learn()
    assert report.memories[bad].status == "failed"
    assert "newer codexmem" in report.memories[bad].detail
    assert report.memories[OTHER[bad]].extracted == 1


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_session_that_took_in_the_web_is_forgotten_by_the_memory_that_can(
    sessions, learn, unusable, codex_home, home, bad
):
    setting = "[memories]\ndisable_on_external_context = true\n"
    learn(config=setting)
    unusable(bad)
    session = sessions[0]
    path = next(codex_home.root.rglob(f"*{session}.jsonl"))
    call = {"type": "function_call", "call_id": "c", "name": "web_search", "arguments": "{}"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look it up."}]}
    with path.open("a") as file:
        for item in (call, said):
            line = {"timestamp": "2026-11-29T10:00:00.000Z", "type": "response_item", "payload": item}
            file.write(json.dumps(line) + "\n")
    report = learn(config=setting)
    assert report.memories[OTHER[bad]].status == "succeeded"
    assert session not in text_of(home, OTHER[bad])
    assert sessions[1] in text_of(home, OTHER[bad])


def test_what_may_not_be_remembered_is_left_out_of_both_before_they_are_limited(sessions, learn, engine_of, home):
    learn()
    engine = engine_of(beside=V2)
    newest = max(engine.catalogue.candidates(), key=lambda known: (known.session.updated_at_ms, known.session.id))
    engine.memory_tools.mode(f"codex:{newest.session.id}", "disabled")
    engine.close()
    learn(config="[memories]\nmax_raw_memories_for_consolidation = 3\n")
    for memory in DATABASES:
        recaps = sorted((home / FOLDERS[memory] / "rollout_summaries").glob("*.md"))
        assert len(recaps) == 3
        assert newest.session.id not in text_of(home, memory)


@pytest.mark.parametrize("gone", ["v1", "v2"])
def test_forgetting_and_reset_reach_a_memory_that_is_only_on_disk(sessions, learn, engine_of, home, gone):
    learn()
    engine = engine_of(beside=V2, without=[f"memory-{gone}"])
    forget(engine, target_of(engine.access, sessions[0]))
    for memory, database in DATABASES.items():
        assert sessions[0] not in text_of(home, memory)
        assert notes(home, memory) == sessions[1:]
        assert sessions[0].encode() not in (home / database).read_bytes()
    engine.catalogue.freeze_memory("codex", sessions[1], gone)
    engine.memory_tools.mode(f"codex:{sessions[2]}", "disabled")
    engine.memory_tools.reset(lambda _plan: True)
    engine.close()
    for memory in DATABASES:
        assert notes(home, memory) == []
        assert text_of(home, memory) == ""
    engine = engine_of(beside=V2)
    assert engine.catalogue.memory_of("codex", sessions[1]) == gone
    assert engine.catalogue.mode_of("codex", sessions[2]) == "disabled"
    for plugin in engine.memories:
        with engine.jobs(plugin) as jobs:
            assert jobs.progress() == 0


@pytest.mark.parametrize("bad", ["v1", "v2"])
def test_a_memory_that_cannot_forget_now_keeps_the_other_from_nothing_and_is_asked_again(
    sessions, learn, unusable, engine_of, home, bad
):
    learn()
    unusable(bad)
    engine = engine_of(beside=V2)
    report = forget(engine, target_of(engine.access, sessions[0]))
    assert f"{home / DATABASES[bad]} was written by a newer codexmem" in report.pending[-1]
    assert notes(home, OTHER[bad]) == sessions[1:]
    assert notes(home, bad) == sessions
    for memory in DATABASES:
        assert sessions[0] not in text_of(home, memory)
    learn()
    assert notes(home, bad) == sessions
    with sqlite3.connect(home / DATABASES[bad]) as database:
        database.execute("DELETE FROM schema_migration WHERE name = '9999_later'")
    database.close()
    learn()
    assert notes(home, bad) == sessions[1:]
    assert engine_of(beside=V2).catalogue.forgettings() == []


def test_readiness_counts_the_sessions_of_one_owned_success(sessions, learn, engine_of, home, codex_home, clock):
    def covered():
        value = status_of(engine_of(beside=V2))
        return {name: memory["readiness"]["sessions"] for name, memory in value["memories"].items()}

    learn(memory="v2")
    assert covered() == {"v1": 0, "v2": 4}
    engine = engine_of(beside=V2)
    with engine.jobs("memory-v2") as jobs:
        rows = jobs.select_inputs(100, 30, allowed=lambda keys: keys)
        lost = jobs.claim_consolidation(worker="w", bypass_cooldown=True)
        clock.turn(hours=1.1)
        owned = jobs.claim_consolidation(worker="x", bypass_cooldown=True)
        assert not jobs.finish_consolidation(lost, [*rows, *_more(rows)])
        assert jobs.finish_consolidation(owned, rows[:1])
    engine.close()
    assert covered()["v2"] == 4
    clock.turn(days=40)
    learn()
    assert len(notes(home, "v2")) < 4
    assert covered()["v2"] == 4


def _more(rows):
    return [replace(rows[0], id=f"more-{number}") for number in range(50)]


def test_a_pass_over_one_memory_leaves_the_other_where_it_was(sessions, learn, home):
    learn(memory="v1")
    assert not (home / "memories_v2").exists()
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
