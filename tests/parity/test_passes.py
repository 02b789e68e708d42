"""What one pass means for the next: looking costs nothing, and what failed to be seen is not taken for gone."""

from __future__ import annotations

from codexmem_hookspecs import hookimpl
from codexmem_host_notebook.plugin import NotebookPlugin

SCRIPTED = '[models]\nbackend = "scripted"\n'
TURNS = (("user", "Always run make lint before a commit."), ("assistant", "I will."))


def test_a_pass_that_found_nothing_does_not_delay_the_next(run_once, codex_home):
    assert run_once().sessions["discovered"] == 0
    codex_home(*TURNS)
    assert run_once().sessions["extracted"] == 1
    assert run_once().sessions["claimed"] == 0
    codex_home(*TURNS)
    assert run_once().sessions["extracted"] == 1


def test_each_pass_is_told_of_what_the_pass_before_could_not_claim(run_once, codex_home, model):
    for _ in range(3):
        codex_home(*TURNS)
    for left in (2, 1, 0):
        report = run_once(model, config=SCRIPTED, consolidate=False, limit=1)
        assert report.sessions["extracted"] == 1
        assert len([row for row in report.skipped if row.reason.startswith("not yet")]) == left


def test_a_host_that_cannot_list_its_sessions_stops_no_other_and_loses_none(run_once, codex_home, engine_of):
    class Broken(NotebookPlugin):
        name = "host-notebook"

        @hookimpl
        def codexmem_capture_sessions(self, query, services):
            raise OSError("the disk is away")

    codex_home(*TURNS)
    report = run_once(Broken())
    assert report.sessions["extracted"] == 1
    assert not report.failed
    assert any("the disk is away" in warning and "notebook" in warning for warning in report.warnings)


def test_known_sessions_survive_a_listing_that_fails(run_once, codex_home, engine_of):
    session = codex_home(*TURNS)
    assert run_once().sessions["extracted"] == 1
    codex_home.root.rename(codex_home.root.with_name("away"))
    assert run_once().sessions["discovered"] == 0
    with engine_of().jobs("memory-v1") as jobs:
        assert jobs.output("codex", session).rollout_summary
    codex_home.root.with_name("away").rename(codex_home.root)
    assert run_once().sessions["claimed"] == 0


def test_a_model_that_costs_is_asked_about_two_sessions_a_pass_unless_more_is_allowed(run_once, codex_home, paid_model):
    for _ in range(7):
        codex_home(*TURNS)
    assert run_once(paid_model, config=SCRIPTED, consolidate=False).sessions["claimed"] == 2
    three = f"{SCRIPTED}[memories]\nmax_rollouts_per_startup = 3\n"
    assert run_once(paid_model, config=three, consolidate=False).sessions["claimed"] == 3
    assert len(paid_model.asked) == 5


def test_a_transcript_that_cannot_be_read_fails_and_is_tried_again(run_once, codex_home, model, clock):
    session = codex_home(*TURNS)
    assert run_once(model, config=SCRIPTED, consolidate=False, idle_hours=48.0).sessions["eligible"] == 0
    (rollout,) = codex_home.root.rglob("*.jsonl")
    content = rollout.read_bytes()
    rollout.unlink()
    report = run_once(model, config=SCRIPTED, consolidate=False, sessions=(session,))
    assert (report.sessions["failed"], report.sessions["empty"], model.asked) == (1, 0, [])
    rollout.write_bytes(content)
    assert run_once(model, config=SCRIPTED, consolidate=False, sessions=(session,)).sessions["claimed"] == 0
    clock.ms += 3_601_000
    assert run_once(model, config=SCRIPTED, consolidate=False, sessions=(session,)).sessions["extracted"] == 1
