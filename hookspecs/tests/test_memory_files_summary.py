"""A summary within its bytes, whatever there is to tell."""

import pytest
from codexmem_hookspecs.memory_files.contents import Entry, contents
from codexmem_hookspecs.memory_files.document import render
from codexmem_hookspecs.memory_files.lines import UNDATED, size
from codexmem_hookspecs.memory_files.rows import bullets, first_heading
from codexmem_hookspecs.memory_files.summary import summary
from codexmem_hookspecs.memory_files.summary_format import HEADINGS, LIMIT_BYTES, is_blank, problems
from codexmem_hookspecs.testing.memory import DictWorkspace
from codexmem_hookspecs.testing.samples import digest, findings
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Extraction
from hypothesis import given
from hypothesis import strategies as st


def entry(number, *, place="/shop", day="2026-11-30"):
    def lines(full):
        return [f"- topic {number}", *([f"  - detail {number}"] if full else [])]

    return Entry(place=place, day=day, lines=lines)


NOTHING = {}


def told(entries, room=LIMIT_BYTES, imported=NOTHING):
    return render(contents(entries, imported, room, "topics, search elsewhere"))


def stored(number, **values):
    session = Session(host="codex", id=f"s-{number}", cwd=f"/home/user/project{number % 5}", updated_at_ms=number + 1)
    row = {
        "session": session, "extraction": Extraction(summary="# A recap"), "recap_file": f"{number}.md",
        "findings": findings(session),
    }  # fmt: skip
    return Stored(**{**row, **values})


def test_the_newest_three_days_stand_in_full_by_place_and_the_others_short():
    text = told([entry(day, day=f"2026-11-{day}") for day in (30, 29, 28, 27)] + [entry(1, day=UNDATED)])
    recent, older = text.split("### Older Memory Topics")
    assert recent.startswith("### /shop\n\n#### 2026-11-30\n\n- topic 30\n  - detail 30\n")
    assert "detail 28" in recent
    assert older.split() == ["####", "/shop", "-", "topic", "27", "-", "topic", "1"]


def test_what_does_not_fit_is_counted_by_place():
    text = told([entry(number, place=f"/p{number % 2}") for number in range(200)], room=500)
    assert len(text.encode()) <= 500
    assert "more topics, search elsewhere: /p1 (93), /p0 (92)\n" in text


IMPORTED = {"/shop": ["- tabs [from claude]"], "imported from other tools": ["- mast [from codex]"]}


def test_what_is_imported_stands_among_the_older_topics_of_its_place():
    older = told([entry(27), entry(1, day=UNDATED)], imported=IMPORTED).split("### Older Memory Topics")[1]
    shop, others = older.split("#### imported from other tools")
    assert shop.split("\n\n")[1:3] == ["#### /shop", "- topic 1\n- tabs [from claude]"]
    assert others.strip() == "- mast [from codex]"


def test_what_is_imported_goes_first_where_room_is_short():
    text = told([entry(number) for number in range(3)], imported={"/shop": ["- x" * 100]}, room=200)
    assert "- x" not in text
    assert "topic 0" in text


@given(st.integers(0, 90), st.integers(0, 3_000))
def test_the_contents_never_take_more_than_their_room(count, room):
    entries = [entry(number, day=f"2026-11-{1 + number % 28:02}", place=f"/p{number % 7}") for number in range(count)]
    sections = contents(entries, IMPORTED, room, "topics")
    assert not sections or size(render(sections)) <= room


@pytest.mark.parametrize("limit", [10_000, 9_999, 2_000, 600])
def test_a_summary_has_its_headings_and_keeps_to_its_limit(limit):
    rows = [stored(number, **({"findings": None} if number % 3 else {})) for number in range(300)]
    sections = summary(
        rows,
        digest(rows),
        [entry(number) for number in range(300)],
        limit,
        signals=lambda row: [f"a wish of {row.session.id}"],
        others="elsewhere",
        rest="topics",
    )
    text = render(sections)
    assert size(text) <= limit
    assert text.startswith("v1\n")
    assert [section.title for section in sections if section.level == 2] == list(HEADINGS)


def test_a_summary_is_valid_when_its_first_line_says_so():
    for text, valid in (("v1\r\n\nx", True), ("v1", True), (" v1\n", False), ("v2\n", False), ("# v1\n", False)):
        assert bool(list(problems(DictWorkspace("m", {"memory_summary.md": text})))) != valid
    assert [problem.message for problem in problems(DictWorkspace("m", {}))] == ["missing, or no regular file"]


def test_headings_alone_say_nothing():
    assert is_blank("v1\n\n## User Profile\n\n## General Tips\n")
    assert not is_blank("v1\n\n## User Profile\n\n- Sam\n")


def test_bullets_of_a_model_are_read_below_their_heading_only():
    text = "Wishes:\n- one\n  - two\nNot one of these:\n- three\n\nWishes:\n- four\nprose\n- five\n"
    assert bullets(text, ("Wishes",)) == {"Wishes": ("one", "two", "four")}
    assert first_heading("\n# \n## A title\ntext") == "A title"
