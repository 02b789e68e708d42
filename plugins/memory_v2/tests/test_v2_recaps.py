"""One session's recap, from a model or from findings."""

import pytest
from codexmem_hookspecs.values.extract import NOTHING

from codexmem_core.models.extractive import find


def answer(memory, **data):
    return memory.note(data={"rollout_summary": "# Fixed it", "rollout_slug": "fix", **data})


def test_a_models_recap_is_kept_as_it_is(memory):
    note = answer(memory, rollout_summary="  # Fixed it\n\nBy hand. \n", rollout_slug=" fix-it ")
    assert (note.summary, note.raw, note.slug) == ("# Fixed it\n\nBy hand.", "", "fix-it")


def test_a_blank_recap_is_nothing_and_a_blank_name_is_allowed(memory):
    assert answer(memory, rollout_summary=" \n") == NOTHING
    assert answer(memory, rollout_slug="").slug == ""


@pytest.mark.parametrize(
    "data",
    [
        {"rollout_slug": None},
        {"raw_memory": "x"},
        {"rollout_summary": ["x"]},
        {"rollout_summary": "# (one sentence: what the session was about)"},
    ],
)
def test_an_answer_of_another_shape_is_an_error(memory, data):
    with pytest.raises(ValueError, match=r"\w"):
        answer(memory, **data)


@pytest.mark.parametrize("text", ["x" * 50_000, "设备" * 9_000, "a\n" * 9_000])
def test_a_recap_that_is_too_long_loses_its_middle(memory, text):
    note = answer(memory, rollout_summary=f"BEGIN {text} END")
    assert 8_990 <= len(note.summary.encode()) <= 9_000
    assert note.summary.startswith("BEGIN")
    assert note.summary.endswith("END")
    assert "the middle of this recap was too long" in note.summary
    assert "\ufffd" not in note.summary
    just = "x" * 9_000
    assert answer(memory, rollout_summary=just).summary == just


def test_findings_become_a_recap_in_the_shape_of_the_prompt(memory, checkout):
    note = memory.note(findings=find(checkout))
    lines = note.summary.split("\n")
    assert lines[0] == '# Fix the "checkout" test: it fails'
    assert lines[2] == "Session of claude in /home/user/shop, 2026-09-22 (UTC)."
    for line in (
        '## 1. Fix the "checkout" test: it fails',
        "State at the end: success",
        "Stated preferences:",
        '- the user said "Always run make test before you commit." (while working in /home/user/shop, how far',
        "Decided by the user:",
        '- "let\'s go with Redis for the cache"',
        "Done:",
        "Went wrong:",
        "- `make test` failed: Error: no module yaml -> then worked: `pip install pyyaml; make test`",
    ):
        assert line in note.summary
    assert note.raw == ""
    assert note.slug.startswith("Fix the")


def test_the_reach_of_a_preference_is_told_as_it_was_said(memory, conversation):
    found = find(conversation(1, "Always answer in German in all my projects.", "In this repo we never use tabs."))
    summary = memory.note(findings=found).summary
    assert 'German in all my projects." (for any work)' in summary
    assert 'never use tabs." (for work in /home/user/shop)' in summary


def test_a_long_session_tells_fewer_steps_and_every_task(memory, conversation):
    turns = []
    for number in range(12):
        turns.append(f"Implement the feature number {number} in src/file{number}.py.")
        turns += [(f"make check{step} --with={'y' * 100}", "", True) for step in range(40)]
    note = memory.note(findings=find(conversation(1, *turns)))
    assert len(note.summary.encode()) <= 9_000
    for number in range(12):
        assert f"## {number + 1}. Implement the feature number {number} " in note.summary
    assert "- and " in note.summary
    assert "the middle of this recap" not in note.summary
