"""Lines of JSON that hosts write: half characters, clocks that are wrong, what stands before a position."""

import json

import pytest
from codexmem_hookspecs.json_lines import (
    EARLIEST_MS,
    NotUnderstood,
    Place,
    content_before,
    decoded,
    lines_before,
    milliseconds,
    newest,
    revision,
    whole_text,
)
from codexmem_hookspecs.testing import PlainFolder
from codexmem_hookspecs.values.capture import Item, Part, ToolUse

NOW_MS = 1_796_040_000_000


def strict(data):
    """A decoder that, like fast ones, refuses half characters, and wants an object."""
    text = json.loads(data)
    if not isinstance(text, dict):
        raise ValueError("Expected `object`")  # noqa: TRY004 - as decoders do
    json.dumps(text, ensure_ascii=False).encode()
    return text


def test_a_half_character_is_replaced_and_costs_nothing_else():
    assert decoded(strict, b'{"a": "cut \\ud83d here", "b": "whole \\ud83d\\ude42"}') == {
        "a": "cut \ufffd here",
        "b": "whole 🙂",
    }
    assert whole_text("a\udc00b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a": "\xff"}', "not valid UTF-8"),
        (b'{"a": "cut off', "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1]", "unexpected shape: Expected `object`"),
    ],
)
def test_why_a_line_is_not_understood_is_said_without_its_content(data, why):
    with pytest.raises(NotUnderstood) as told:
        decoded(strict, data)
    assert str(told.value) == why


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("2026-11-30T12:00:00Z", NOW_MS),
        ("2026-11-30T12:00:00.000+00:00", NOW_MS),
        ("2026-11-30T13:00:00+01:00", NOW_MS),
        ("2026-11-30T12:00:00", NOW_MS),
        ("2026-11-30T12:00:00.001Z", 0),
        ("2015-01-01T00:00:00Z", EARLIEST_MS),
        ("2014-12-31T23:59:59Z", 0),
        ("1970-01-01T00:00:01Z", 0),
        ("0001-01-01T00:00:00+14:00", 0),
        ("yesterday", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_only_sane_times_count(text, at_ms):
    assert milliseconds(text, NOW_MS) == at_ms


def test_the_newest_sane_time_is_found_wherever_it_stands():
    data = b'cut off","timestamp":"2026-11-29T00:00:00Z"}\n{"timestamp" : "2026-11-30T12:00:00Z"}\n{"timestamp":"2039'
    assert newest(data, NOW_MS) == NOW_MS
    assert newest(b'{"timestamp":"2099-01-01T00:00:00Z"}', NOW_MS) == newest(b"", NOW_MS) == 0


def test_a_revision_tells_contents_of_one_length_apart():
    assert revision(b"one", 3) == revision(b"one", 3)
    assert len({revision(b"one", 3), revision(b"two", 3), revision(b"one", 4)}) == 3


def test_items_are_made_at_their_place():
    place, tool = Place(7, 8, "/w"), ToolUse(id="c", name="shell")
    parts = (Part(kind="text", text="hi"),)
    common = {"position": 7, "at_ms": 8, "cwd": "/w"}
    assert place.said("human", "user", parts) == Item(tier="human", role="user", parts=parts, **common)
    assert place.done(tool, "tool") == Item(tier="tool", role="tool", tool=tool, **common)
    assert isinstance(place.done(tool, "assistant"), Item)
    answer = place.answered("Which one?", "The blue one.")
    assert (answer.tier, answer.role, answer.text) == (
        "human",
        "user",
        "Assistant question: Which one?\nHuman reply: The blue one.",
    )


def test_looking_back_ends_at_the_position(tmp_path):
    folder = PlainFolder(str(tmp_path), write=True)
    folder.write("x.jsonl", b"one\ntwo\nthree\nfour\n")
    assert [line.data for line in lines_before(folder, "x.jsonl", 14, b"o", b"e")] == [b"one", b"two", b"three"]
    assert [line.data for line in lines_before(folder, "x.jsonl", 14, b"w")] == [b"two"]
    assert list(lines_before(folder, "x.jsonl", 0, b"o")) == []
    assert content_before(folder, "x.jsonl", 14, 100) == b"one\ntwo\nthree\n"
    assert content_before(folder, "x.jsonl", 14, 8) == b"ee\n"
    assert content_before(folder, "x.jsonl", 14, 3) == b""
