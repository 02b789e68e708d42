"""What stands between <private> and </private> goes, however it is written and wherever it begins and ends."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs.values.capture import Item, Part, ToolUse
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.safety.private import PrivateSpans, strip_private
from codexmem_core.safety.redaction import redact_item

SECRET = "walrus"


def said(*texts):
    """What is left of a message of several parts; None stands for an image."""
    parts = tuple(Part(kind="image") if text is None else Part(kind="text", text=text) for text in texts)
    return redact_item(Item(tier="human", role="user", position=1, parts=parts))


def done(text):
    tool = redact_item(Item(tier="tool", role="tool", position=1, tool=ToolUse("1", "t", "completed", text, text))).tool
    assert tool.input == tool.output
    return tool.output


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>walrus</private> b", "a [private] b"),
        ("a <PRIVATE>walrus</pRiVaTe> b", "a [private] b"),
        ("a <PRivatE>walrus</PRIVATe> b", "a [private] b"),
        ('a < private why="x"\n>walrus< / private > b', "a [private] b"),
        ("a \\u003cprivate\\u003ewalrus\\u003c/private\\u003e b", "a [private] b"),
        ("a <private>walrus<\\/private> b", "a [private] b"),
        ("a \\\\u003Cprivate>walrus</private> b", "a [private] b"),
        ("a &lt;private&gt;walrus&lt;/private&gt; b", "a [private] b"),
        ("<private>walrus<private>walrus</private>walrus</private>b", "[private]b"),
        ("<private>walrus</private><private>walrus", "[private][private]"),
        ("walrus's <private-key> and <privateer> and private", "walrus's <private-key> and <privateer> and private"),
        ("a </private> b", "a </private> b"),
    ],
)
def test_every_way_to_write_it_is_known_and_nothing_else(text, left):
    assert strip_private(text) == left


def test_a_span_over_several_parts_of_a_message_goes_whole():
    assert said("a <private>walrus", None, "walrus", "walrus</private> b").text == (
        "a [private]\n[image omitted]\n[private]\n[private] b"
    )


def test_one_that_is_never_closed_goes_to_the_end_of_the_message():
    assert said("a <private>walrus", "walrus").text == "a [private]\n[private]"


def test_one_message_does_not_reach_into_the_next():
    spans = PrivateSpans()
    assert spans.without("<private>walrus") == "[private]"
    assert strip_private("next") == "next"
    assert said("next").text == "next"


@pytest.mark.parametrize(
    "value",
    [
        {"cmd": "echo <private>walrus</private>"},
        {"a": "<private>walrus", "b": "walrus</private>"},
        {"a": ["<private>", {"b": "walrus"}, "</private>"], "c": "kept"},
        {"body": json.dumps({"text": "<private>walrus</private>"})},
        {"body": json.dumps({"text": json.dumps(["<private>walrus</private>"])})},
        {"body": json.dumps({"a": "<private>"}), "more": "walrus"},
        {"<private>walrus</private>": 1, "<private>walrus": 2},
        ["<private>walrus"],
        "<private>walrus</private>",
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_spans_in_json_go_and_json_stays_json(value, escaped):
    text = json.dumps(value)
    if escaped:
        text = text.replace("<", "\\u003c").replace("/", "\\/")
    left = done(text)
    assert SECRET not in left
    assert type(json.loads(left)) is type(value)
    if isinstance(value, dict):
        assert len(json.loads(left)) >= len(value) - 1


def test_text_around_json_is_no_json_and_safe_all_the_same():
    assert SECRET not in done('Output:\n{"a": "\\u003cprivate\\u003ewalrus\\u003c\\/private\\u003e"}')


_PLAIN = st.text(alphabet="ab <>/\\&;u03cprivateéß\n", max_size=20).filter(lambda text: "private" not in text.lower())
_CASES = st.sampled_from(["private", "PRIVATE", "Private", "pRIVATE", "PRivatE"])


@st.composite
def spans(draw):
    """A text with spans, and the pieces that stand outside of them."""
    text, outside = "", []
    for _ in range(draw(st.integers(1, 4))):
        before = draw(_PLAIN)
        outside.append(before)
        inner = draw(_PLAIN) + SECRET + draw(_PLAIN)
        if draw(st.booleans()):
            inner = f"{draw(_PLAIN)}<private>{inner}</private>{SECRET}"
        text += f"{before} <{draw(_CASES)}>{inner}</{draw(_CASES)}> "
    last = draw(_PLAIN)
    return text + last, [*outside, last]


@given(spans())
def test_what_is_inside_never_stays_and_what_is_outside_always_does(given_spans):
    text, outside = given_spans
    left = strip_private(text)
    assert SECRET not in left
    assert all(piece in left for piece in outside)
    assert strip_private(left) == left


@given(spans(), st.lists(st.integers(0, 200), max_size=4))
def test_where_a_message_is_cut_into_parts_makes_no_difference_to_what_is_private(given_spans, cuts):
    text, _ = given_spans
    places = sorted({cut for cut in cuts if cut < len(text) and not _inside_a_tag(text, cut)})
    parts = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    assert SECRET not in said(*parts).text
    assert SECRET not in done(json.dumps(parts))


def _inside_a_tag(text, cut):
    begin = text.rfind("<", 0, cut)
    end = text.find(">", begin) if begin >= 0 else -1
    return begin >= 0 and end >= cut


@given(spans(), st.booleans(), st.integers(0, 3))
def test_no_depth_of_escaping_in_a_tools_arguments_hides_one(given_spans, ascii_only, depth):
    text = given_spans[0]
    for _ in range(depth + 1):
        text = json.dumps({"arguments": text}, ensure_ascii=ascii_only)
    assert SECRET not in done(text)
    json.loads(done(text))


@given(st.text(alphabet="<>/ privatePRIVATE\\u003c&lt;", max_size=60))
def test_any_text_ends_in_a_fixed_point(text):
    once = strip_private(text)
    assert strip_private(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE >b\nb</Private> c <private>d</private>", "a [private] c [private]"),
        ("a <private>b", "a [private]"),
        ("a <private>b<private>c</private>d</private>e", "a [private]e"),
        ("a </private> b", "a </private> b"),
        ("a private matter", "a private matter"),
    ],
)
def test_private_spans_go_and_an_open_one_goes_to_the_end(text, expected):
    assert strip_private(text) == expected
    assert strip_private(expected) == expected


def test_private_spans_go_from_items_and_json_stays_json():
    parts = (Part(kind="text", text="x <private>y"),)
    assert redact_item(Item(tier="human", role="user", position=1, parts=parts)).text == "x [private]"
    output = '{"a": "<private>y", "b": "\\u003cprivate>z", "c": 1}'
    tool = redact_item(
        Item(tier="tool", role="tool", position=1, tool=ToolUse(id="1", input=output, output=output))
    ).tool
    assert json.loads(tool.output) == {"a": "[private]", "b": "[private]", "c": 1}
