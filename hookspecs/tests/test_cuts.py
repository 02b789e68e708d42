"""Cutting in the middle, by tokens and by bytes."""

from codexmem_hookspecs.cuts import TRUNCATED, cut_bytes, cut_tokens
from hypothesis import given
from hypothesis import strategies as st


def test_a_text_within_its_tokens_stays_as_it_is():
    assert cut_tokens("x" * 10_000, 2_500) == "x" * 10_000


def test_a_longer_text_keeps_its_beginning_and_its_end_around_a_marker_line():
    cut = cut_tokens("a" * 6_000 + "b" * 6_000, 2_500)
    assert len(cut) == 10_000
    head, tail = cut.split(TRUNCATED)
    assert (head, tail) == ("a" * 4_991, "b" * 4_990)


def test_a_cut_with_no_room_leaves_the_marker():
    assert cut_tokens("x" * 100, 0) == TRUNCATED
    assert cut_bytes("x" * 100, len(TRUNCATED)) == TRUNCATED
    assert cut_bytes("x" * 100, 3) == ""


WIDE = st.text(alphabet="a\u00e9\u8bbe\N{GRINNING FACE}", min_size=8, max_size=60)


@given(WIDE | st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(0, 120))
def test_a_cut_in_bytes_never_exceeds_its_limit_and_never_splits_a_character(text, limit):
    cut = cut_bytes(text, limit)
    assert len(cut.encode()) <= limit
    if len(text.encode()) <= limit:
        assert cut == text
    elif TRUNCATED in cut and TRUNCATED not in text:
        head, tail = cut.split(TRUNCATED)
        assert text.startswith(head)
        assert text.endswith(tail)


@given(st.text(max_size=400), st.integers(5, 50))
def test_a_cut_in_tokens_keeps_to_its_limit(text, tokens):
    cut = cut_tokens(text, tokens)
    assert len(cut) <= max(len(TRUNCATED), tokens * 4)


def test_cut_bytes_does_not_fail_on_half_characters():
    assert cut_bytes("\ud83d" * 50, 60).startswith("\ud83d")
