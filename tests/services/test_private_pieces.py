"""Some hosts give each piece of a message as an item of its own: a private span may begin in one and end in another."""

from __future__ import annotations

import pytest
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse

from codexmem_core.services.transcripts import TranscriptCache

SESSION = Session(host="h", id="s")


def said(text, position, *, at_ms=1_000, role="user", tier="human"):
    parts = (Part(kind="text", text=text),) if text else (Part(kind="image"),)
    return Item(tier=tier, role=role, position=position, at_ms=at_ms, parts=parts)


@pytest.fixture
def left(tmp_path):
    """What readers are given of these items, in whole and as a tail; both are the same."""

    def read(*items):
        cache = TranscriptCache(lambda _session, _after: iter(items), lambda *_: False, str(tmp_path))
        whole = [item.text for item in cache.open(SESSION)]
        assert [item.text for item in cache.tail(SESSION, 0)] == whole
        return whole

    return read


def test_pieces_with_one_time_are_one_message(left):
    pieces = [said("a <private>walrus", 1), said("", 2), said("walrus", 3), said("walrus</private> b", 4), said("c", 5)]
    assert left(*pieces) == ["a [private]", "[image omitted]", "[private]", "[private] b", "c"]


def test_pieces_with_one_position_are_one_message(left):
    assert left(said("<private>walrus", 7, at_ms=0), said("walrus</private>b", 7, at_ms=0)) == [
        "[private]",
        "[private]b",
    ]


def test_what_the_harness_put_between_them_belongs_to_it(left):
    between = said("walrus", 2, role="system", tier="context")
    assert left(said("<private>walrus", 1), between, said("walrus</private> b", 3)) == [
        "[private]", "[private]", "[private] b"
    ]  # fmt: skip


@pytest.mark.parametrize("later", [said("b", 2, at_ms=1_001), said("b", 2, role="assistant", tier="final")])
def test_the_next_message_is_none_of_it(left, later):
    assert left(said("<private>walrus", 1), later) == ["[private]", "b"]


def test_without_times_each_record_is_a_message(left):
    assert left(said("<private>walrus", 1, at_ms=0), said("b", 2, at_ms=0)) == ["[private]", "b"]


def test_a_tools_texts_are_their_own(left):
    tool = Item(
        tier="tool",
        role="assistant",
        position=2,
        at_ms=1_000,
        tool=ToolUse("1", "t", "completed", "<private>walrus", "b"),
    )
    answer = {"role": "assistant", "tier": "final"}
    assert left(said("a", 1, **answer), tool, said("c", 3, **answer)) == ["a", "[private]\nb", "c"]
