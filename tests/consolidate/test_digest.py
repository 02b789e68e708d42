"""Findings of many sessions, merged."""

import random

from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Decision, Extraction, Failure, Findings, Preference, Source, Task

from codexmem_core.consolidate.digest import merge
from codexmem_core.models.findings.preferences import preference as stated

DAY_MS = 86_400_000


def source(day, cwd="/shop", session=""):
    return Source(host="codex", session=session or f"s{day}", position=1, cwd=cwd, at_ms=day * DAY_MS)


def said(sentence, day, cwd="/shop", session=""):
    found = stated(sentence)
    assert found is not None
    return Preference(
        quote=found.quote,
        polarity=found.polarity,
        topic=found.topic,
        scope=found.scope,
        source=source(day, cwd, session),
    )


def row(number=0, **findings):
    findings = Findings(**findings)
    return Stored(
        session=Session(host="codex", id=f"r{number}"),
        extraction=Extraction(summary="x", raw="x"),
        recap_file=f"{number}.md",
        findings=findings,
    )


def preferences(*items):
    return merge([row(number, preferences=(item,)) for number, item in enumerate(items)]).preferences


def test_a_repeat_is_one_entry_with_all_its_sources_and_the_newest_words():
    (entry,) = preferences(
        said("Always run make test before you commit.", 1),
        said("please always run `make test` before you commit", 5),
        said("ALWAYS run make test before you commit!!", 3),
    )
    assert [place.session for place in entry.sources] == ["s5", "s3", "s1"]
    assert entry.preference.quote == "please always run `make test` before you commit"
    assert entry.replaced_by is None


def test_the_newest_of_a_topic_stands_and_the_older_is_marked():
    newer, older = preferences(said("Use npm for installs.", 1), said("From now on use pnpm, not npm.", 9))
    assert newer.replaced_by is None
    assert older.replaced_by == newer.preference
    assert older.preference.quote == "Use npm for installs."


def test_the_opposite_of_an_own_topic_replaces_it():
    newer, older = preferences(
        said("Always squash before merging feature work.", 1), said("Never squash before merging feature work.", 2)
    )
    assert (newer.replaced_by, older.replaced_by) == (None, newer.preference)


def test_a_choice_that_was_replaced_and_stated_again_stands():
    entries = preferences(said("I prefer tabs.", 1), said("I prefer spaces.", 2), said("I prefer tabs.", 3))
    assert [(entry.preference.quote, entry.replaced_by is None) for entry in entries] == [
        ("I prefer tabs.", True),
        ("I prefer spaces.", False),
    ]


def test_turning_one_alternative_down_does_not_contradict_choosing_another():
    entries = preferences(said("Never use npm.", 1), said("Always use pnpm.", 2))
    assert [entry.replaced_by for entry in entries] == [None, None]
    entries = preferences(said("Always use npm.", 1), said("Never use npm.", 2))
    assert [entry.replaced_by is None for entry in entries] == [True, False]


def test_a_file_that_is_named_qualifies_nothing():
    newer, older = preferences(
        said("Always use npm in this project, the lock file is package-lock.json.", 1),
        said("From now on use pnpm instead of npm in this project; the lock file is pnpm-lock.yaml.", 2),
    )
    assert (newer.replaced_by, older.replaced_by) == (None, newer.preference)


def test_what_is_qualified_differently_stands_side_by_side():
    entries = preferences(said("Always use tabs in Makefiles.", 1), said("Always use spaces in Python files.", 2))
    assert [entry.replaced_by for entry in entries] == [None, None]


def test_another_project_and_another_scope_are_in_doubt_and_stay():
    entries = preferences(
        said("In this repo we use tabs.", 1, cwd="/a"),
        said("In this repo we use spaces.", 2, cwd="/b"),
        said("I prefer tabs in all my projects.", 3, cwd="/b"),
    )
    assert [entry.replaced_by for entry in entries] == [None, None, None]


def test_a_rule_of_a_project_stays_one_entry_a_project_and_an_unstated_one_joins():
    assert len(preferences(said("In this repo we use tabs.", 1, "/a"), said("In this repo we use tabs.", 2, "/b"))) == 2
    (entry,) = preferences(said("I prefer tabs.", 1, "/a"), said("I prefer tabs.", 2, "/b"))
    assert [place.cwd for place in entry.sources] == ["/b", "/a"]


def test_what_one_project_replaced_still_stands_in_the_other():
    entries = preferences(
        said("I prefer tabs.", 1, "/a"), said("I prefer tabs.", 2, "/b"), said("I prefer spaces.", 3, "/a")
    )
    assert [(entry.preference.source.cwd, entry.replaced_by is None) for entry in entries] == [
        ("/a", True),
        ("/b", True),
        ("/a", False),
    ]


def test_a_task_keeps_its_newest_outcome_and_a_failure_its_newest_fix():
    rows = [
        row(
            1,
            tasks=(Task(name="Fix the parser.", outcome="fail", source=source(1)),),
            failures=(Failure(command="make", error="line 3: x", fix="touch y", source=source(1)),),
        ),
        row(
            2,
            tasks=(Task(name="fix the parser", outcome="success", source=source(2)),),
            failures=(Failure(command="make", error="line 8: x", source=source(2)),),
        ),
        row(3, decisions=(Decision(text="Use Redis", source=source(3)), Decision(text="use redis.", source=source(4)))),
    ]
    digest = merge(rows)
    ((task,), (failure,), (decision,)) = digest.tasks, digest.failures, digest.decisions
    assert (task.task.outcome, len(task.sources)) == ("success", 2)
    assert (failure.failure.fix, len(failure.sources)) == ("touch y", 2)
    assert len(decision.sources) == 2


def test_rows_without_findings_add_nothing():
    assert (
        merge([Stored(session=Session(host="c", id="x"), extraction=Extraction(summary="s"), recap_file="x.md")]).tasks
        == ()
    )


def test_the_order_of_rows_makes_no_difference():
    rows = [
        row(
            number,
            preferences=(said(text, day, cwd, f"r{number}"),),
            tasks=(Task(name=f"Task {number % 3}", outcome="fail", source=source(day, cwd, f"r{number}")),),
        )
        for number, (text, day, cwd) in enumerate(
            (text, day, cwd)
            for text in ("I prefer tabs.", "I prefer spaces.", "Always sign commits.")
            for day in (1, 2, 2, 3)
            for cwd in ("/a", "/b")
        )
    ]
    expected = merge(rows)
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert merge(rows) == expected
    times = [entry.sources[0].at_ms for entry in expected.preferences]
    assert times == sorted(times, reverse=True)


def test_what_is_taken_back_outright_is_replaced_whatever_its_topic():
    newer, older = preferences(
        said("Commit subjects have at most 50 characters, that's how we do it.", 1),
        said("Commit subjects: from now on Conventional Commits, the length no longer matters.", 2),
    )
    assert (newer.replaced_by, older.replaced_by) == (None, newer.preference)


def test_without_such_words_or_about_something_else_both_stand():
    entries = preferences(
        said("Commit subjects have at most 50 characters, that's how we do it.", 1),
        said("From now on commit subjects follow Conventional Commits.", 2),
        said("From now on we no longer deploy on Fridays.", 3),
    )
    assert [entry.replaced_by for entry in entries] == [None, None, None]


def test_what_is_taken_back_in_one_project_stands_in_another():
    entries = preferences(
        said("Commit subjects have at most 50 characters, that's how we do it.", 1, "/a"),
        said("Commit subjects: from now on Conventional Commits, the length no longer matters.", 2, "/b"),
    )
    assert [entry.replaced_by for entry in entries] == [None, None]


def test_a_later_word_in_the_same_project_counts_with_and_without_its_scope():
    newer, older = preferences(said("In this repo we use tabs.", 1), said("From now on use spaces, not tabs.", 2))
    assert (newer.replaced_by, older.replaced_by) == (None, newer.preference)


def test_errors_that_differ_only_in_a_line_number_are_one_and_others_are_not():
    rows = [
        row(number, failures=(Failure(command="make", error=error, source=source(number)),))
        for number, error in enumerate(["a.c:3: bad", "a.c:17: bad", "error TS2304: x", "error TS2345: x"])
    ]
    assert [len(entry.sources) for entry in merge(rows).failures] == [1, 1, 2]
