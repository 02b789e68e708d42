"""Estimating and naming text, and what cannot be stored."""

from codexmem_core.safety.text import clean, estimate_tokens, slug


def test_a_token_is_four_characters_rounded_half_up():
    assert [estimate_tokens("x" * count) for count in (0, 1, 2, 3, 4, 5, 6, 10_000)] == [0, 0, 1, 1, 1, 1, 2, 2_500]


def test_half_characters_and_nul_can_be_stored_after_cleaning():  # spec case 17
    text = clean("cut \ud83d here, \udc8f there, \0 and \N{GRINNING FACE} whole")
    assert text == "cut \ufffd here, \ufffd there, \ufffd and \N{GRINNING FACE} whole"
    text.encode()


def test_a_slug_is_lower_case_short_and_safe_in_a_file_name():
    assert slug("Fix: the CI's *flaky* Tests!") == "fix_the_ci_s_flaky_tests"
    assert slug("Größe 设备", separator="-") == "gr-e"
    assert slug("../..") == ""
    assert slug("word " * 30, limit=24) == "word_word_word_word_word"
    assert slug("a" * 59 + " b", limit=60) == "a" * 59
