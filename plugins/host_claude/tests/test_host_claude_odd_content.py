"""Transcripts with odd content: whatever a line is, the others are read, and what was skipped is named."""

import json
import os
import tracemalloc

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.values.capture import Item
from codexmem_host_claude import plugin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MIB = 1024 * 1024


def test_the_least_that_a_line_can_be_is_understood(claude):
    claude.write({"type": "user", "message": {"role": "user", "content": "hi"}})
    assert claude.said() == [("human", "hi")]
    folder = os.path.join(claude.home, "projects")
    claimed = []
    assert len(claude.sessions(folder=folder, claim=claimed.append)) == len(claimed) == 1


def test_a_json_array_is_an_error_that_a_user_sees_and_not_an_empty_session(claude):
    array = json.dumps([claude.user("hi")], indent=1).encode() + b"\n"
    claude.write(array)
    session = claude.session()
    assert claude.services.log.warnings
    with pytest.raises(Unreadable, match="lines understood"):
        claude.entries(session)


def test_flat_messages_are_an_error_too(claude):
    claude.write({"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"})
    with pytest.raises(Unreadable, match="0 of 2 lines understood"):
        claude.entries()


def test_everything_after_a_malformed_line_is_read_and_the_line_number_is_told(claude):
    lines = [claude.user(f"turn {number}") for number in range(1, 101)]
    lines[39] = b'{"type":"attachment","attachment":{"type":"queued_comm\n'
    claude.write(*lines)
    assert [text for _, text in claude.said()] == [f"turn {number}" for number in range(1, 101) if number != 40]
    assert [skip.line for skip in claude.skipped()] == [40]


def test_a_cut_multibyte_character_costs_one_line_only(claude):
    bad = json.dumps(claude.user("XX")).encode().replace(b"XX", b"\xe6\x87") + b"\n"
    claude.write(claude.user("one"), bad, claude.user("two"))
    assert [text for _, text in claude.said()] == ["one", "two"]
    assert [(skip.line, skip.reason) for skip in claude.skipped()] == [(2, "not valid UTF-8")]


def test_a_byte_order_mark_is_removed(claude):
    claude.write(b"\xef\xbb\xbf" + json.dumps(claude.user("marked")).encode() + b"\n")
    assert claude.said() == [("human", "marked")]
    assert claude.skipped() == []


def test_unknown_types_and_fields_are_passed_over(claude):
    odd = [{"type": kind, "content": {"deep": [1]}, "message": 7} for kind in ("system", "mode", "brand-new")]
    claude.write(*odd, claude.user("hi", brandNew={"x": 1}), claude.agent({"type": "brand_new_block", "x": 1}, "ho"))
    assert claude.said() == [("human", "hi"), ("final", "ho")]
    assert claude.skipped() == []


def test_half_surrogate_pairs_are_replaced_and_the_position_moves_on(claude):
    pieces = (b"cut \\ud83d", b"byte \\udc8f", b"whole \\ud83d\\ude42")
    lines = [json.dumps(claude.user("XX")).encode().replace(b"XX", piece) + b"\n" for piece in pieces]
    path = claude.write(*lines)
    items = claude.items()
    assert [item.text for item in items] == ["cut \ufffd", "byte \ufffd", "whole 🙂"]
    assert items[-1].position == os.path.getsize(path)
    assert claude.entries(after=items[-1].position) == []


def test_a_working_directory_in_chinese_is_kept(claude):
    claude.write(claude.user("画一张图", cwd="D:\\丽爱说"))
    assert claude.session().cwd == "D:\\丽爱说"


def test_images_are_placeholders_and_their_bytes_never_kept(claude):
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 200_000}}
    claude.write(
        claude.user([{"type": "text", "text": "look"}, image, {"type": "document", "source": {"data": "B" * 1000}}]),
        claude.result("t1", [{"type": "text", "text": "seen"}, image]),
    )
    assert [item.text for item in claude.items()] == [
        "look\n[image omitted]\n[file omitted]",
        "seen\n[image omitted]",
    ]
    assert "AAAA" not in repr(claude.items())


def test_memory_stays_flat_and_a_second_reading_takes_only_what_is_new(claude):
    padding = {"toolUseResult": "word " * 100}
    path = claude.write(*(claude.agent("word " * 100, ms=claude.now_ms - 90_000 + n, **padding) for n in range(10_000)))
    session = claude.session()
    tracemalloc.start()
    last = 0
    for item in plugin.codexmem_capture_transcript(session=session, after=0, services=claude.services):
        last = item.position
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * MIB < os.path.getsize(path)
    with open(path, "ab") as file:
        file.write(json.dumps(claude.user("new", ms=claude.now_ms)).encode() + b"\n")
    claude.services.opened.clear()
    assert [item.text for item in claude.items(session, after=last)] == ["new"]
    assert claude.services.opened == [path, path]  # the new lines, and the time of the line before them


JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"])},
        optional=dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "content", "is_error"), JSONISH),
    ),
    max_size=2,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["user", "assistant", "attachment", "system", "summary", "x"]) | JSONISH,
        "uuid": st.text(max_size=5),
        "timestamp": st.text(max_size=30) | JSONISH,
        "message": JSONISH | st.fixed_dictionaries({"role": st.just("user"), "content": BLOCKS | JSONISH}),
        "attachment": JSONISH,
        "isMeta": JSONISH,
    },
)
GARBAGE = st.binary(max_size=80) | (JSONISH | RECORDS).map(lambda value: json.dumps(value).encode())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(garbage=st.lists(GARBAGE, max_size=6))
def test_no_garbage_stops_the_good_lines(claude, garbage):
    lines = [claude.user("ONE"), claude.agent("TWO"), claude.user("THREE")]
    for number, junk in enumerate(garbage):
        lines.insert(1 + number * 7 % len(lines), junk.replace(b"\n", b" ") + b"\n")
    claude.write(*lines)
    session = claude.session()
    items = claude.items(session)
    assert [item.text for item in items if item.text in {"ONE", "TWO", "THREE"}] == ["ONE", "TWO", "THREE"]
    assert [item.position for item in items] == sorted(item.position for item in items)
    for position in {item.position for item in items}:
        assert claude.items(session, position) == [item for item in items if item.position > position]


def test_an_item_is_never_lost_to_a_line_that_only_looks_like_one(claude):
    claude.write({"type": "user"}, {"type": "assistant", "message": None}, claude.user("hi"))
    assert claude.said() == [("human", "hi")]
    assert all(isinstance(entry, Item) for entry in claude.entries())
