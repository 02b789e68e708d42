"""A session in which nothing was said costs no question, and never costs a note that is there."""

from __future__ import annotations

import pytest

CONFIG = '[models]\nbackend = "scripted"\n'
ENVIRONMENT = ("user", "<environment_context>\n<cwd>/home/dev/harbor</cwd>\n</environment_context>")
RULES = ("user", "# AGENTS.md instructions for /home/dev/harbor\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>")


@pytest.fixture
def extract(run_once, model):
    return lambda: run_once(model, config=CONFIG, consolidate=False)


@pytest.fixture
def note(engine_of):
    def of(session):
        with engine_of().jobs("memory-v1") as jobs:
            return jobs.output("codex", session).raw_memory

    return of


@pytest.mark.parametrize("records", [(), (ENVIRONMENT,), (RULES,), (("user", "  \n"),)])
def test_a_session_without_a_word_is_done_without_asking_a_model(codex_home, extract, model, note, records):
    session = codex_home(*records)
    report = extract()
    assert (report.sessions["claimed"], report.sessions["extracted"], report.sessions["failed"]) == (1, 0, 0)
    assert [row.reason for row in report.skipped] == ["nothing was said"]
    assert model.asked == []
    with pytest.raises(KeyError):
        note(session)
    assert extract().sessions["claimed"] == 0


@pytest.mark.parametrize("records", [(), (ENVIRONMENT,), (RULES,)])
def test_a_transcript_that_became_empty_is_tried_again_and_its_note_stays(
    codex_home, extract, model, note, clock, records
):
    session = codex_home(("user", "Put up the crane."), ("assistant", "It stands."))
    assert extract().sessions["extracted"] == 1
    for path in codex_home.root.rglob("*.jsonl"):
        path.write_text(path.read_text().splitlines(keepends=True)[0])
    codex_home(*records, session_id=session)
    report = extract()
    assert report.sessions["failed"] == 1
    assert any("its note is kept" in row.reason for row in report.skipped)
    assert len(model.asked) == 1
    assert note(session) == "The crane stands."
    codex_home(("user", "Take the crane down."), session_id=session)
    model.answer = {**model.answer, "raw_memory": "The crane is down."}
    clock.ms += 2 * 3_600_000
    assert extract().sessions["extracted"] == 1
    assert note(session) == "The crane is down."
