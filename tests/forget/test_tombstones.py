"""How a text is known again without being kept."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs.values.capture import Item, Part, ToolUse
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.readpath.tombstones import WINDOW_WORDS, TombstoneBook, Tombstones, digests, windows, words

KEY = b"k" * 32


def forgotten(*texts):
    return Tombstones.of(KEY, digests(KEY, [window for text in texts for window in windows(text)]))


def said(text, tier="human", role="user"):
    return Item(tier=tier, role=role, position=1, parts=(Part(kind="text", text=text),))


def used(**fields):
    return Item(tier="tool", role="assistant", position=1, tool=ToolUse(id="1", name="exec", **fields))


@pytest.mark.parametrize(
    "text",
    [
        "the key is HERON 77",
        "THE  KEY\nis: heron-77!",
        "(the key is `heron_77`)",
        "\uff54\uff48\uff45 key is h\u0435ron 77".replace("\u0435", "e"),
    ],
)
def test_case_punctuation_and_spacing_make_no_difference(text):
    assert forgotten("The key is heron 77").holds(text)


@pytest.mark.parametrize("text", ["the key is heron 78", "key is heron 77", "the key was heron 77", "", "heron 77"])
def test_another_text_is_not_known(text):
    assert not forgotten("The key is heron 77").holds(text)


def test_scripts_without_spaces_are_known_inside_longer_runs():
    assert forgotten("设备清单").holds("这是设备清单的内容")
    assert forgotten("cafe\u0301").holds("Café")
    assert not forgotten("设备清单").holds("设备的清单")


def test_any_eight_words_of_a_longer_text_are_known():
    text = "one two three four five six seven eight nine ten eleven"
    assert WINDOW_WORDS == 8
    assert forgotten(text).holds("so: three four five six seven eight nine ten, yes")
    assert not forgotten(text).holds("one two three four five six seven")


def test_only_the_sentence_goes():
    stones = forgotten("heron 77")
    text = "Use tabs. The key is HERON-77, sign with it! Then push.\nNext line."
    assert stones.without(text) == "Use tabs. Then push.\nNext line."
    assert stones.without("Use tabs.\nThe key is HERON-77.\nPush.") == "Use tabs.\nPush."
    assert stones.without("使用制表符。钥匙是 HERON 77。然后推送。") == "使用制表符。然后推送。"
    assert stones.without("Use tabs. It is heron 77") == "Use tabs. "


def test_in_files_the_whole_line_goes():
    assert forgotten("heron 77").without("- tabs\n- key: heron 77, sign\n- push", lines=True) == "- tabs\n- push"


def test_a_text_over_several_sentences_takes_all_of_them():
    stones = forgotten("the key is heron. Use it")
    assert stones.without("First. The key is heron.\nUse it twice. Last.") == "First. Last."


def test_json_stays_json():
    stones = forgotten("heron 77")
    value = {"cmd": "make\necho heron 77\nmake test", "heron 77": 1, "list": ["heron 77", "x"], "n": 1}
    left = json.loads(stones.without_json(json.dumps(value)))
    assert left == {"cmd": "make\nmake test", "list": ["x"], "n": 1}
    nested = json.dumps({"arguments": json.dumps({"cmd": "a\nheron 77"})})
    assert not stones.holds(stones.without_json(nested))
    assert stones.without_json('{"cut": "a\\nheron 77') == ""


def test_an_item_of_which_nothing_is_left_goes():
    stones = forgotten("heron 77")
    assert stones.without_item(said("It is heron 77.")) is None
    assert stones.without_item(said("Use tabs. It is heron 77.")).text == "Use tabs. "
    left = stones.without_item(used(input='{"cmd":"echo heron 77"}', output="heron 77\nok\n"))
    assert (json.loads(left.tool.input), left.tool.output) == ({"cmd": ""}, "ok\n")
    untouched = said("Use tabs.")
    assert stones.without_item(untouched) is untouched
    picture = Item(
        tier="human", role="user", position=1, parts=(Part(kind="image"), Part(kind="text", text="heron 77"))
    )
    assert stones.without_item(picture).parts == (Part(kind="image"),)


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=200))
def test_what_was_taken_out_is_not_there_any_more(first, second, text):
    stones = forgotten(first, second)
    for lines in (False, True):
        left = stones.without(text + first + text, lines=lines)
        assert len(left) <= len(text + first + text)
        if not stones.holds(text + first + text):
            assert left == text + first + text


@given(st.text(alphabet="ab c.\n", max_size=60))
def test_a_word_that_is_forgotten_is_in_no_line_afterwards(text):
    stones = forgotten("a")
    for lines in (False, True):
        assert "a" not in [word.text for word in words(stones.without(text, lines=lines))]


def test_nothing_of_the_text_is_kept(tmp_path):
    (digest,) = digests(KEY, windows("heron 77"))
    assert "heron" not in f"{digest.window}{digest.first}"
    assert digests(b"x" * 32, windows("heron 77"))[0].window != digest.window
    assert not Tombstones.of(b"", [digest]).holds("heron 77"), "without the key nothing is known"


def test_the_key_is_made_once_and_for_the_user_alone(tmp_path):
    book = TombstoneBook(lambda: None, str(tmp_path))
    key = book.key()
    assert len(key) == 32
    assert TombstoneBook(lambda: None, str(tmp_path)).key() == key
    assert (tmp_path / "forget.key").stat().st_mode & 0o777 == 0o600
