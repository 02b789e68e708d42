"""Small rules about answers and waits, each on its own."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime

import pytest
from codexmem_hookspecs.models.effort import LADDER, nearest
from codexmem_hookspecs.models.refusal_kinds import kind_of, told_kind
from codexmem_hookspecs.models.structured import object_in, problems
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.models.retry_after import retry_after_s, wait_s
from codexmem_core.models.selection import settings_of
from codexmem_core.models.wires.events import events_in

NOON_MS = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 1),
        ({"retry-after": "-30"}, 1),
        ({"retry-after": "1000000000"}, 86_400),
        ({"retry-after": "9" * 400}, 86_400),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:05:00 GMT"}, 300),
        ({"retry-after": "Monday, 30-Nov-26 12:05:00 GMT"}, 300),
        ({"retry-after": "Mon Nov 30 12:05:00 2026"}, 300),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 1),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 86_400),
        # The date is the server's, and so is the clock that it is compared with.
        ({"retry-after": "Tue, 01 Dec 2026 08:01:00 GMT", "date": "Tue, 01 Dec 2026 08:00:00 GMT"}, 60),
    ],
)
def test_retry_after_is_read_in_all_its_forms_and_kept_within_a_second_and_a_day(headers, seconds):
    assert retry_after_s(headers, NOON_MS) == seconds
    assert wait_s(retry_after_s(headers, NOON_MS)) == seconds


@pytest.mark.parametrize("garbage", ["", "soon", "--5", "1e9", "NaN", "inf", "12 parsecs", "Mon, 99 Foo 2026", "٣"])
def test_without_a_word_that_can_be_read_the_wait_is_an_hour(garbage):
    assert wait_s(retry_after_s({"retry-after": garbage}, NOON_MS)) == 3600


@given(st.text(max_size=60))
def test_any_retry_after_gives_a_wait_between_a_second_and_a_day(text):
    assert 1 <= wait_s(retry_after_s({"retry-after": text}, NOON_MS)) <= 86_400


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -5.0, 1e-9])
def test_a_plugins_own_wait_is_kept_within_bounds_too(wait):
    assert 1 <= wait_s(wait) <= 86_400


@pytest.mark.parametrize(
    ("wanted", "known", "chosen"),
    [
        ("low", ("low", "high"), "low"),
        ("low", ("minimal", "medium"), "medium"),
        ("medium", ("none", "max"), "max"),
        ("medium", ("low", "high"), "high"),
        ("low", ("high", "max"), "high"),
        ("low", (), ""),
        ("low", ("turbo", "eco"), ""),
        ("low", ("turbo", "max"), "max"),
    ],
)
def test_the_nearest_effort_is_asked_for_ties_go_up_and_without_a_list_none_is(wanted, known, chosen):
    assert nearest(wanted, known) == chosen


@given(st.sampled_from(LADDER), st.lists(st.sampled_from(LADDER), min_size=1))
def test_no_known_effort_is_nearer_than_the_chosen_one(wanted, known):
    distance = {level: abs(LADDER.index(level) - LADDER.index(wanted)) for level in known}
    assert distance[nearest(wanted, known)] == min(distance.values())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        'Sure, here it is:\n```json\n{"a": 1}\n```\nAnything else?',
        '```\n{"a": 1}\n```',
        '{"a":\n```json\n1}',
        '\ufeff {"a": 1} trailing',
    ],
)
def test_the_object_is_found_in_fences_and_prose(text):
    assert object_in(text) == {"a": 1}


@pytest.mark.parametrize("text", ["", "no", "}{", '{"a": 1', '{"a": NaN}', "{" * 100_000 + "}", '{"a": 1} {"b": 2}'])
def test_what_holds_no_valid_object_is_an_error(text):
    with pytest.raises(ValueError, match=r"answer|JSON"):
        object_in(text)


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.text(), _JSON), st.text(alphabet="abc \n`"), st.text(alphabet="xyz \n`"))
def test_an_object_survives_any_prose_around_it(value, before, after):
    assert object_in(f"{before}{json.dumps(value)}{after}") == value


@given(st.text())
def test_reading_any_text_gives_an_object_or_a_value_error(text):
    with contextlib.suppress(ValueError):
        assert isinstance(object_in(text), dict)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"name": "x", "tags": ["a"]}, []),
        ({"name": None, "tags": []}, []),
        ({"tags": []}, ["the answer lacks name"]),
        ({"name": 3, "tags": []}, ["the answer's name is no string"]),
        ({"name": "x", "tags": [1]}, ["the answer's tags's item 0 is no string"]),
        ({"name": "x", "tags": [], "more": 1}, ["the answer has more, which was not asked for"]),
        ({"name": "x", "tags": [], "kind": "z"}, ["the answer's kind is none of a, b"]),
        ({"name": "x", "tags": [], "count": True}, ["the answer's count is no integer"]),
        ([], ["the answer is no object"]),
    ],
)
def test_an_answer_is_held_against_its_schema(value, told):
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "tags"],
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b"]},
            "count": {"type": "integer"},
        },
    }
    assert problems(value, schema) == told


@pytest.mark.parametrize(
    ("status", "detail", "kind"),
    [
        (401, "no", "credentials"),
        (403, "quota", "credentials"),
        (429, "slow down", "capacity"),
        (402, "pay", "capacity"),
        (529, "overloaded_error", "capacity"),
        (400, "Your credit balance is too low", "capacity"),
        (404, "no such model", "capacity"),
        (400, "context_length_exceeded", "overflow"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "overflow"),
        (400, "the request exceeds the available context size", "overflow"),
        (413, "big", "overflow"),
        (429, "Request too large for this model on tokens per min", "overflow"),
        (500, "oops", "transport"),
        (302, "elsewhere", "transport"),
        (408, "slow", "transport"),
        (400, "bad schema", "invalid"),
        (422, "bad schema", "invalid"),
    ],
)
def test_a_status_and_a_message_tell_what_to_do(status, detail, kind):
    assert kind_of(status, detail, waits=False) == kind


def test_an_unavailable_server_that_names_a_wait_lacks_capacity():
    assert kind_of(503, "busy", waits=True) == "capacity"
    assert kind_of(503, "busy", waits=False) == "transport"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("You've hit your usage limit", "capacity"),
        ("rate-limit", "capacity"),
        ("RESOURCE_EXHAUSTED", "capacity"),
        ("ERROR: unexpected status 401 Unauthorized", "credentials"),
        ("Not logged in. Please run /login", "credentials"),
        ("maximum context length is 8192 tokens", "overflow"),
        ("segmentation fault", None),
    ],
)
def test_a_message_alone_tells_the_kind_where_it_can(text, kind):
    assert told_kind(text) == kind


def test_stream_events_are_joined_and_an_unfinished_one_is_left_out():
    first = ': hello\r\nevent: a\r\ndata: {"x":\r\ndata: 1}\r\n\r\n'
    text = first + 'data: {"type": "b"}\n\ndata: nonsense\n\ndata: [DONE]\n\ndata: {"y"'
    assert events_in(text) == [{"x": 1, "type": "a"}, {"type": "b"}, {"type": "[DONE]"}]


@given(st.text(alphabet='data: {"}\n\revnt[]1,') | st.text())
def test_any_text_is_a_stream_of_some_events(text):
    assert all(isinstance(event, dict) for event in events_in(text))


@pytest.mark.parametrize(
    ("config", "extraction", "consolidation"),
    [
        ("", "own-e", "own-c"),
        ('[models]\nmodel = "m"', "m", "m"),
        ('[memories]\nextract_model = "e"\n[models]\nmodel = "m"', "e", "m"),
        ('[memories]\nconsolidation_model = "c"', "own-e", "c"),
    ],
)
def test_the_model_is_the_stages_option_then_the_common_one_then_the_backends(
    engine_of, config, extraction, consolidation
):
    settings = settings_of(engine_of(config).config)
    own = {"extraction": "own-e", "consolidation": "own-c"}
    assert settings.model("extraction", own) == extraction
    assert settings.model("consolidation", own) == consolidation


def test_the_input_may_take_codexs_share_of_a_known_window(engine_of):
    assert settings_of(engine_of("").config).budget_bytes == 600_000
    assert settings_of(engine_of("[models]\ncontext_window = 8192").config).budget_bytes == 4 * 5447
