"""The measurement itself: what counts as found, as made up, as forbidden."""

import json
from dataclasses import replace

import pytest

HANDBOOK = """# Task Group: /p

## Task 1: Fix the parser, success

## User preferences

- when working in /p (scope not stated), the user said: "Always use tabs." -> do so by default (2026-11-30)
- replaced on 2026-11-30 by "Always use tabs.": when working in /p, the user said: "Use spaces." (2026-11-29)

## Reusable knowledge

- decided on 2026-11-30: "We go with SQLite" [Task 1]

## Failures and how to do differently

- `make` failed: error: no rule -> then worked: `edit Makefile; make` [Task 1]
- `npm test` failed: error: no test -> no solution in the session
"""
LABELS = {
    "s": [
        {"kind": "preference", "says": "tabs", "quote": "use tabs", "polarity": "do", "scope": "here"},
        {"kind": "replaced", "says": "no spaces", "quote": "spaces", "by": "tabs"},
        {"kind": ["decision", "preference"], "says": "database", "quote": "SQLite"},
        {"kind": "task", "says": "parser", "quote": "the parser", "outcome": ["success"]},
        {"kind": "failure", "says": "make", "command": "make", "error": "no rule", "fix": "Makefile"},
        {"kind": "failure", "says": "npm", "command": "npm test", "error": ["nothing", "no test"], "fix": ""},
    ]
}


@pytest.fixture
def grade(quality, tmp_path):
    def graded(labels, never=None, handbook=HANDBOOK):
        memory = tmp_path / "home" / "memories"
        memory.mkdir(parents=True, exist_ok=True)
        (memory / "MEMORY.md").write_text(handbook)
        (tmp_path / "labels.json").write_text(json.dumps(labels))
        (tmp_path / "never.json").write_text(json.dumps(never or {}))
        sets = quality("sets")
        labelled = sets.LabelledSet(
            name="small", sessions=tmp_path, labels=tmp_path / "labels.json", never=tmp_path / "never.json"
        )
        return sets.graded(labelled, tmp_path / "home")

    return graded


def changed(number, **fields):
    labels = [dict(label) for label in LABELS["s"]]
    labels[number] |= fields
    return {"s": labels}


def test_all_that_is_labelled_is_found_with_its_line(grade):
    result = grade(LABELS)
    assert result.good
    assert [line.place for _, line in result.found] == [f"MEMORY.md:{number}" for number in (7, 8, 12, 3, 16, 17)]


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (0, {"polarity": "avoid"}),
        (0, {"scope": "everywhere"}),
        (0, {"quote": "use braces"}),
        (1, {"by": "braces"}),
        (2, {"kind": "task"}),
        (3, {"outcome": ["fail"]}),
        (4, {"error": "permission denied"}),
        (4, {"fix": "setup.py"}),
        (4, {"fix": ""}),
        (5, {"fix": "npm init"}),
        (5, {"command": "pnpm"}),
    ],
)
def test_a_line_that_says_something_else_is_missed_and_unsupported(grade, number, fields):
    result = grade(changed(number, **fields))
    assert result.found[number][1] is None
    assert len(result.unsupported) == 1
    assert not result.good


def test_an_optional_label_supports_a_line_and_is_not_missed(grade):
    assert grade({"s": [*LABELS["s"], {"kind": "task", "says": "x", "quote": "nowhere", "optional": True}]}).good
    assert grade(changed(3, optional=True)).wanted == 5


def test_too_few_found_is_not_good(grade):
    more = [{"kind": "task", "says": "x", "quote": "nowhere", "outcome": ["success"]}] * 2
    result = grade({"s": LABELS["s"] + more})
    assert result.recall == 6 / 8
    assert not result.good


@pytest.mark.parametrize("where", ["anywhere", "memory", "preferences"])
def test_a_forbidden_text_is_named_with_its_file(grade, where):
    result = grade(LABELS, {where: ["use tabs"]})
    assert len(result.forbidden) == 1
    assert "MEMORY.md" in result.forbidden[0]
    assert not result.good


def test_a_task_is_no_preference(grade):
    assert grade(LABELS, {"preferences": ["the parser"]}).good


def test_a_wrong_label_is_told(grade):
    with pytest.raises(ValueError, match="tabs"):
        grade(changed(0, outcom="success"))


def test_a_recap_may_tell_what_was_replaced_later(grade, quality, tmp_path):
    recaps = tmp_path / "home" / "memories" / "rollout_summaries"
    recaps.mkdir(parents=True)
    (recaps / "a.md").write_text('- when working in /p, the user said: "Use spaces." -> do so by default\n')
    assert grade(LABELS).good


def test_the_table_tells_every_label_and_every_fault(grade, quality):
    result = replace(grade(changed(3, outcome=["fail"])), name="small")
    printed = "\n".join(quality("table").table(result))
    assert printed.count("found ") >= 5
    assert "MISSED  task" in printed
    assert "UNSUPPORTED MEMORY.md:3 task: Fix the parser [success]" in printed
    assert "5 of 6 labelled findings found (83%), 1 unsupported, 0 forbidden" in printed
