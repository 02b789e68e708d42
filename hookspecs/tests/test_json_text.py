"""JSON text is changed in one place, and the rest keeps its form."""

import json

import pytest
from codexmem_hookspecs.json_text import NotJson, parsed, with_value, without
from hypothesis import given
from hypothesis import strategies as st

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
LAYOUTS = st.sampled_from([None, 1, 2, 4, "\t"])
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,  ", " :\t")])


@st.composite
def texts(draw, values=VALUES):
    """A value as text in one of the layouts that people and programs use, and the value."""
    value = draw(values)
    text = json.dumps(value, indent=draw(LAYOUTS), separators=draw(SEPARATORS), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\n", "  \r\n"])) + text + draw(st.sampled_from(["", "\n"])), value


OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)
FILLED = st.dictionaries(st.text(), VALUES, min_size=1, max_size=5)


@given(texts())
def test_a_text_is_what_the_standard_library_reads(case):
    text, value = case
    assert parsed(text).value == value == json.loads(text)


@given(texts(OBJECTS), st.text(), VALUES)
def test_a_value_that_is_set_stands_there_and_everything_else_stays(case, key, value):
    text, before = case
    after = json.loads(with_value(text, [key], value))
    assert after == {**before, key: value}
    assert list(after) == [*before, *({key} - set(before))]


@given(texts(OBJECTS), VALUES)
def test_what_is_missing_on_the_way_is_made(case, value):
    text, before = case
    path = ["\0new", "list", 0, "deep"]
    assert json.loads(with_value(text, path, value)) == {**before, "\0new": {"list": [{"deep": value}]}}


@given(texts(FILLED), VALUES)
def test_what_was_added_and_taken_out_again_leaves_every_byte(case, value):
    text, _ = case
    assert without(with_value(text, ["\0new"], value), ["\0new"]) == text


@given(texts(st.lists(VALUES, min_size=1, max_size=5)), VALUES, st.data())
def test_lists_are_appended_to_and_taken_from(case, value, data):
    text, before = case
    assert json.loads(with_value(text, [len(before)], value)) == [*before, value]
    place = data.draw(st.integers(0, len(before) - 1))
    assert json.loads(without(text, [place])) == before[:place] + before[place + 1 :]


@given(st.text(alphabet='{}[]",: \n\\0123e-+.tfn/"aul', max_size=20) | st.text(max_size=10))
def test_what_is_no_json_is_refused_with_a_reason(text):
    try:
        value = json.loads(text)
    except ValueError:
        with pytest.raises(NotJson) as raised:
            parsed(text)
        assert str(raised.value)
    else:
        try:
            assert parsed(text).value == value
        except NotJson as error:
            assert "twice" in str(error) or "no JSON" in str(error)  # noqa: PT017 - two texts that json takes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, // mine\n"b": 2}', "line 1"),
        ('{"a": 1,\n}', "line 2"),
        ('{"a": 1,\n"a": 2}', "the key a stands twice in line 2"),
        ("[NaN]", "NaN is no JSON"),
        ('\ufeff{"a": 1}', "byte order mark"),
        ("", "line 1"),
        ("[" + "1" * 5_000 + "]", "digits"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_the_reason_names_what_is_wrong_and_where(text, reason):
    with pytest.raises(NotJson, match=reason):
        parsed(text)


def test_new_members_follow_the_layout_around_them():
    text = '{\n\t"a": [1],\n\t"b": {"c": 1}\n}\n'
    text = with_value(text, ["a", 1], {"x": 2})
    text = with_value(text, ["b", "d"], [3])
    text = with_value(text, ["e"], {"f": []})
    assert text == '{\n\t"a": [1, {"x": 2}],\n\t"b": {"c": 1, "d": [3]},\n\t"e": {\n\t\t"f": []\n\t}\n}\n'


COMMENTED = """{
  // which model
  "model": "a", /* the good one, "x": 1 */
  "mcp": {
    "other": {"command": ["b"],}, // theirs
  },
}
"""


def test_comments_and_commas_at_the_end_stay_where_they_are():
    changed = with_value(COMMENTED, ["mcp", "ours"], {"c": 1}, comments=True)
    assert parsed(changed, comments=True).value == {
        "model": "a",
        "mcp": {"other": {"command": ["b"]}, "ours": {"c": 1}},
    }
    assert all(comment in changed for comment in ("// which model", '/* the good one, "x": 1 */', "// theirs"))
    assert without(changed, ["mcp", "ours"], comments=True) == COMMENTED


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1, // one\n"b": 2 /* two */}', '{ // one\n"b": 2 /* two */}'),
        ('{"a": 1 /* x, y */, "b": 2}', '{ /* x, y */ "b": 2}'),
        ('{ // mine\n"a": 1,\n}', "{ // mine\n\n}"),
        ('{"a": 1,}', "{}"),
    ],
)
def test_a_comment_outlives_the_member_beside_it(text, left):
    assert without(text, ["a"], comments=True) == left


def test_an_object_that_holds_only_a_comment_is_not_guessed_at():
    with pytest.raises(NotJson, match="nothing but a comment"):
        with_value("{ // mine\n}", ["a"], 1, comments=True)
