"""Estimating, cutting and naming text."""

from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.safety.text import MARKER, clean, cut_bytes, cut_tokens, estimate_tokens, slug


def test_a_token_is_four_characters_rounded_half_up():
    assert [estimate_tokens("x" * count) for count in (0, 1, 2, 3, 4, 5, 6, 10_000)] == [0, 0, 1, 1, 1, 1, 2, 2_500]


def test_a_text_within_its_tokens_stays_as_it_is():
    assert cut_tokens("x" * 10_000, 2_500) == "x" * 10_000


def test_a_longer_text_keeps_its_beginning_and_its_end_around_a_marker_line():
    cut = cut_tokens("a" * 6_000 + "b" * 6_000, 2_500)
    assert len(cut) == 10_000
    head, tail = cut.split(MARKER)
    assert (head, tail) == ("a" * 4_991, "b" * 4_990)


def test_a_cut_with_no_room_leaves_the_marker():
    assert cut_tokens("x" * 100, 0) == MARKER
    assert cut_bytes("x" * 100, len(MARKER)) == MARKER
    assert cut_bytes("x" * 100, 3) == ""


WIDE = st.text(alphabet="a\u00e9\u8bbe\N{GRINNING FACE}", min_size=8, max_size=60)


@given(WIDE | st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(0, 120))
def test_a_cut_in_bytes_never_exceeds_its_limit_and_never_splits_a_character(text, limit):
    cut = cut_bytes(text, limit)
    assert len(cut.encode()) <= limit
    if len(text.encode()) <= limit:
        assert cut == text
    elif MARKER in cut and MARKER not in text:
        head, tail = cut.split(MARKER)
        assert text.startswith(head)
        assert text.endswith(tail)


@given(st.text(max_size=400), st.integers(5, 50))
def test_a_cut_in_tokens_keeps_to_its_limit(text, tokens):
    cut = cut_tokens(text, tokens)
    assert len(cut) <= max(len(MARKER), tokens * 4)


def test_half_characters_and_nul_can_be_stored_after_cleaning():  # spec case 17
    text = clean("cut \ud83d here, \udc8f there, \0 and \N{GRINNING FACE} whole")
    assert text == "cut \ufffd here, \ufffd there, \ufffd and \N{GRINNING FACE} whole"
    text.encode()


def test_cut_bytes_does_not_fail_on_half_characters():
    assert cut_bytes("\ud83d" * 50, 60).startswith("\ud83d")


def test_a_slug_is_lower_case_short_and_safe_in_a_file_name():
    assert slug("Fix: the CI's *flaky* Tests!") == "fix_the_ci_s_flaky_tests"
    assert slug("Größe 设备", separator="-") == "gr-e"
    assert slug("../..") == ""
    assert slug("word " * 30, limit=24) == "word_word_word_word_word"
    assert slug("a" * 59 + " b", limit=60) == "a" * 59
