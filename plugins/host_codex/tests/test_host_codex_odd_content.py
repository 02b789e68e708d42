"""Rollouts with odd content: whatever a line is, the others are read, and what was skipped is named."""

import json
import os
import tracemalloc

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.values.capture import Item, Skipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MIB = 1024 * 1024


def test_a_cut_multibyte_character_costs_one_line_only(codex):
    cut = b'{"timestamp":"2027-01-15T07:00:00.000Z","type":"event_msg",'
    cut += b'"payload":{"type":"agent_message","message":"\xe6\x87\n'
    codex.write(codex.meta(), cut, codex.record("event_msg", {"type": "agent_message", "message": "still here"}))
    assert codex.said() == [("final", "still here")]
    (skip,) = codex.skipped()
    assert skip.line == 2
    assert skip.position > 0
    assert "UTF-8" in skip.reason or "JSON" in skip.reason


def test_invalid_utf8_inside_whole_json_is_skipped_and_named(codex):
    bad = json.dumps(codex.user("XX")).encode().replace(b"XX", b"\xe6\x87") + b"\n"
    codex.write(codex.meta(), bad, codex.user("clean"))
    assert codex.said() == [("human", "clean")]
    assert [(skip.line, skip.reason) for skip in codex.skipped()] == [(2, "not valid UTF-8")]


def test_a_byte_order_mark_is_removed_and_the_next_file_is_read_too(codex):
    first = json.dumps(codex.meta()).encode() + b"\n"
    codex.write(b"\xef\xbb\xbf" + first, codex.user("marked"))
    other = "0198a000-0000-7000-8000-000000000002"
    codex.write(codex.meta(other), codex.user("clean"), name=f"rollout-2027-01-15T09-00-00-{other}.jsonl")
    assert sorted(text for session in codex.sessions() for _, text in codex.said(session)) == ["clean", "marked"]
    assert not [skip for session in codex.sessions() for skip in codex.skipped(session)]


def test_everything_after_a_malformed_line_is_read_and_the_line_number_is_told(codex):
    lines = [codex.meta(), *(codex.user(f"turn {number}") for number in range(2, 101))]
    lines[39] = b'{"type":"attachment","attachment":{"type":"queued_comm\n'
    codex.write(*lines)
    assert [text for _, text in codex.said()] == [f"turn {number}" for number in range(2, 101) if number != 40]
    assert [skip.line for skip in codex.skipped()] == [40]


def test_an_event_that_is_cut_off_is_named_although_it_holds_no_words(codex):
    whole = json.dumps(codex.record("event_msg", {"type": "token_count", "info": {}}), separators=(",", ":")).encode()
    codex.write(codex.meta(), whole + b"\n", whole[:-3] + b"\n", codex.user("hi"))
    assert [skip.line for skip in codex.skipped()] == [3]
    assert codex.said() == [("human", "hi")]


def test_unknown_types_are_passed_over_without_being_reported(codex):
    odd = ("world_state", "compacted", "security_risk_score", "inter_agent_communication", "realtime_item")
    codex.write(*(codex.record(kind, {"type": "whatever", "value": 1}) for kind in odd), codex.agent("understood"))
    assert codex.said() == [("final", "understood")]
    assert codex.skipped() == []
    codex.write(codex.meta(), codex.record("brand_new", {"a": 1}), codex.response(type="brand_new_call", x=1))
    assert codex.entries() == []


def test_a_stream_of_another_grammar_is_a_visible_warning_and_not_an_empty_session(codex):
    codex.write(
        {"type": "thread.started", "thread_id": "0198a000"},
        {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "hi"}},
    )
    session = codex.session()
    assert [event for event, _ in codex.services.log.warnings] == ["a rollout does not say which session it is"]
    with pytest.raises(Unreadable, match="0 of 2 lines understood"):
        codex.entries(session)


def test_known_records_without_words_are_an_empty_transcript(codex):
    codex.write(codex.meta(), codex.record("turn_context", {"cwd": "/home/user/proj"}))
    assert codex.entries() == []


def test_replacement_history_and_images_are_never_turns(codex):
    history = [codex.user(f"turn {number}")["payload"] for number in range(20)]
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 200_000}
    shown = codex.user("look")
    shown["payload"]["content"] += [
        {"type": "input_text", "text": '<image name=[Image #1] path="p.png">'},
        image,
        {"type": "input_text", "text": "</image>"},
    ]
    compacted = codex.record("compacted", {"message": "summary", "replacement_history": [*history, image]})
    codex.write(codex.meta(), *(codex.user(f"turn {n}") for n in range(20)), compacted, compacted, compacted, shown)
    items = codex.items()
    assert [item.text for item in items] == [*(f"turn {n}" for n in range(20)), "look\n[image omitted]"]
    assert [part.kind for part in items[-1].parts] == ["text", "image"]
    assert "base64" not in repr(items)


def test_a_line_of_64_mib_is_skipped_in_little_memory(codex):
    huge = b'{"type":"response_item","payload":{"type":"message","content":"data:image/png;base64,' + b"A" * (64 * MIB)
    codex.write(codex.meta(), huge + b'"}}\n', codex.user("after it"))
    session = codex.session()
    del huge
    tracemalloc.start()
    entries = codex.entries(session)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [entry.text for entry in entries if isinstance(entry, Item)] == ["after it"]
    assert [entry.line for entry in entries if isinstance(entry, Skipped)] == [2]
    assert peak < 110 * MIB


def test_a_working_directory_in_chinese_is_kept_and_a_broken_image_line_skipped(codex):
    cwd = "D:\\丽爱说"
    broken = b'{"type":"response_item","payload":{"type":"image_generation_call","result":"iVBORw0\x00\x01\n'
    codex.write(codex.meta(cwd=cwd), broken, codex.user("画一张图"))
    assert codex.session().cwd == cwd
    assert codex.said() == [("human", "画一张图")]
    assert len(codex.skipped()) == 1


def test_half_surrogate_pairs_are_replaced_and_the_position_moves_on(codex):
    pieces = (b"cut \\ud83d", b"byte \\udc8f", b"whole \\ud83d\\ude42")
    lines = [json.dumps(codex.user("XX")).encode().replace(b"XX", piece) + b"\n" for piece in pieces]
    path = codex.write(codex.meta(), *lines)
    items = codex.items()
    assert [item.text for item in items] == ["cut \ufffd", "byte \ufffd", "whole 🙂"]
    assert "".join(item.text for item in items).encode()
    assert items[-1].position == os.path.getsize(path)
    assert codex.entries(after=items[-1].position) == []


def test_memory_stays_flat_and_a_second_reading_takes_only_what_is_new(codex):
    line = codex.agent("word " * 100)
    path = codex.write(codex.meta(), codex.user("begin"), *([line] * 20_000))
    session = codex.session()
    tracemalloc.start()
    from codexmem_host_codex import plugin

    last = 0
    for item in plugin.codexmem_capture_transcript(session=session, after=0, services=codex.services):
        last = item.position
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * MIB < os.path.getsize(path)
    with open(path, "ab") as file:
        file.write(json.dumps(codex.record("turn_context", {"cwd": "/home/user/proj"})).encode() + b"\n")
        file.write(json.dumps(codex.user("new")).encode() + b"\n")
    codex.services.opened.clear()
    assert [item.text for item in codex.items(session, after=last)] == ["new"]
    assert codex.services.opened == [path]


JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["response_item", "event_msg", "turn_context", "session_meta", "compacted", "x"])
        | JSONISH,
        "timestamp": st.text(max_size=30) | JSONISH,
        "payload": JSONISH
        | st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    ["message", "function_call", "function_call_output", "agent_message", "reasoning"]
                )
            },
            optional=dict.fromkeys(
                ("role", "content", "call_id", "name", "arguments", "output", "status", "id", "message"), JSONISH
            ),
        ),
    },
)
GARBAGE = st.binary(max_size=80) | (JSONISH | RECORDS).map(lambda value: json.dumps(value).encode())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(garbage=st.lists(GARBAGE, max_size=6))
def test_no_garbage_stops_the_good_lines(codex, garbage):
    lines = [codex.meta(), codex.user("ONE"), codex.agent("TWO"), codex.user("THREE")]
    for number, junk in enumerate(garbage):
        lines.insert(1 + number * 7 % len(lines), junk.replace(b"\n", b" ") + b"\n")
    codex.write(*lines)
    session = codex.session()
    entries = codex.entries(session)
    items = [entry for entry in entries if isinstance(entry, Item)]
    assert [item.text for item in items if item.text in {"ONE", "TWO", "THREE"}] == ["ONE", "TWO", "THREE"]
    assert [item.position for item in items] == sorted(item.position for item in items)
    for position in {item.position for item in items}:
        assert codex.items(session, position) == [item for item in items if item.position > position]
