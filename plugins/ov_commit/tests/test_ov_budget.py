"""What is given never passes its budget, and what is left out is said."""

from __future__ import annotations

from codexmem_ov_commit import utf16
from codexmem_ov_commit.budget import CUT, ELIDED, listed, shortened
from codexmem_ov_commit.profile import Entry, rendered
from codexmem_ov_commit.wrapping import wrapped
from hypothesis import given
from hypothesis import strategies as st

LINES = st.lists(st.text(alphabet="ab 記住😀\u3000é", max_size=60), max_size=40)


@given(LINES, st.integers(0, 300))
def test_a_shortened_text_is_within_its_budget_and_says_that_it_is(lines, tokens):
    text = "\n".join(lines)
    short = shortened(text, tokens)
    assert short == text or utf16.tokens(short) <= tokens
    assert short in (text, "") or ELIDED in short or short.endswith(CUT)


@given(LINES)
def test_what_fits_stays_as_it_is(lines):
    text = "\n".join(lines)
    assert shortened(text, utf16.tokens(text)) == text


def test_a_long_text_keeps_its_first_lines_and_as_much_of_its_end_as_fits():
    lines = [f"line {number}" for number in range(200)]
    short = shortened("\n".join(lines), 100).split("\n")
    assert short[:9] == [*lines[:8], ELIDED]
    assert short[9:] == lines[-(len(short) - 9) :]
    longer = [*short[:9], lines[-(len(short) - 8)], *short[9:]]
    assert utf16.tokens("\n".join(longer)) > 100


def test_one_long_line_keeps_its_beginning():
    short = shortened("記" * 1_000, 60)
    assert short.startswith("記" * 30)
    assert short.endswith(CUT)


@given(LINES, st.integers(0, 300))
def test_a_list_is_within_its_budget_and_counts_what_it_leaves_out(lines, tokens):
    text = listed("header", lines, "and {} more", tokens)
    assert utf16.tokens(text) <= tokens
    whole = "\n".join(["header", *lines])
    if text and text != whole:
        kept = text.split("\n")[1:-1]
        assert kept == lines[: len(kept)]
        assert text.endswith(f"and {len(lines) - len(kept)} more")


ENTRIES = st.lists(st.builds(Entry, name=st.text("abc記", min_size=1, max_size=30), abstract=st.text(max_size=300)))


@given(st.text(max_size=3_000), ENTRIES, ENTRIES, st.integers(0, 800))
def test_a_profile_block_is_within_its_budget(profile, preferences, entities, tokens):
    block = rendered("viking://user/u/memories", profile, preferences, entities, tokens)
    inside = block.partition("\n")[2].rpartition("\n")[0]
    # The two line breaks between three parts are not counted, and forged marks become plain words of their length.
    assert utf16.tokens(inside) <= tokens + 1


@given(st.text(alphabet="<>/ openviking-context relevant-memory\n", max_size=200))
def test_nothing_inside_the_marks_can_close_them(body):
    text = wrapped(body, "x")
    assert text.count("</openviking-context") == (1 if text else 0)
    assert wrapped(wrapped("a" + body, "y"), "x").count("<openviking-context") == 1
