"""What holds for every text and every history of a transcript."""

import re

from codexmem_hookspecs.values.capture import Item, Part, Session
from codexmem_ov_commit import utf16
from codexmem_ov_commit.catching_up import Catcher
from codexmem_ov_commit.cleaning import TRUNCATED, capped, clean, verdict
from codexmem_ov_commit.names import file_stem, server_name
from codexmem_ov_commit.server import Answer
from codexmem_ov_commit.states import State
from codexmem_ov_commit.turns import Rules
from hypothesis import given, settings
from hypothesis import strategies as st

ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
WHOLE = st.text(max_size=200)


@given(ANY)
def test_lengths_are_those_of_utf16(text):
    assert utf16.length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(WHOLE, st.integers(0, 250))
def test_a_head_is_the_longest_beginning_of_whole_characters_that_fits(text, units):
    head = utf16.head(text, units)
    assert text.startswith(head)
    assert utf16.length(head) <= units
    assert head == text or utf16.length(text[: len(head) + 1]) > units


@given(ANY)
def test_a_whole_text_can_be_sent_and_is_left_as_it_is_afterwards(text):
    whole = utf16.whole(text)
    whole.encode()
    assert utf16.whole(whole) == whole


@given(WHOLE)
def test_a_text_that_can_be_sent_is_whole(text):
    assert utf16.whole(text) == text


@given(ANY)
def test_names_are_safe_and_keep_their_length(session_id):
    assert re.fullmatch(r"[A-Za-z0-9_-]*", file_stem(session_id))
    assert len(file_stem(session_id)) == min(180, utf16.length(session_id))
    assert re.fullmatch(r"cx-[A-Za-z0-9._-]+", server_name("codex", session_id))


@given(ANY, st.integers(0, 150))
def test_a_capped_text_is_no_longer_than_allowed(text, units):
    short = capped(text, units)
    if units == 0 or utf16.length(text) <= units:
        assert short == text
    else:
        assert short.endswith(TRUNCATED)
        assert utf16.length(short) <= max(units, len(TRUNCATED))


PIECES = st.lists(
    st.sampled_from(
        [
            "<openviking-context>",
            "</openviking-context>",
            "<relevant-memories>",
            "</relevant-memories>",
            "```json\n",
            "\n```\n",
            '"cwd": 1,',
            "OpenViking memory digest:\n",
            "OpenViking session archive digest:\n",
            "- point\n",
            "More detail: use the OpenViking MCP tools\n",
            "[2024-01-01 12:00:00] ",
            "1715000000000 ",
            "\n\n\n\n",
            "words ",
        ]
    ),
    max_size=25,
).map("".join)


@given(PIECES)
def test_cleaning_ends_and_leaves_no_blank_rims(text):
    cleaned = clean(text)
    assert cleaned == utf16.trimmed(cleaned)
    assert "\n\n\n" not in cleaned
    assert verdict(cleaned, user=True) in {
        "kept", "empty", "slash_command", "ack", "punctuation", "too_short", "plugin_status",
    }  # fmt: skip


@given(st.text("abcdef ghij\n", min_size=12, max_size=200))
def test_plain_words_are_never_lost(text):
    assert "".join(clean(text).split()) == "".join(text.split())


# the cursor


class Store:
    """A server that takes what it can, and a transcript that grows, is cut short, or is rewritten."""

    def __init__(self):
        self.items = []
        self.stored = []
        self.capacity = 0

    def tail(self, _session, after):
        from codexmem_hookspecs.errors import Rewritten

        if after and after not in {item.position for item in self.items}:
            raise Rewritten("gone")
        return iter([item for item in self.items if item.position > after])

    def send(self, _name, messages):
        if self.capacity <= 0:
            return Answer(ok=False, status=503, retryable=True)
        taken = messages[: self.capacity]
        self.capacity -= len(taken)
        self.stored += [message["parts"][0]["text"] for message in taken]
        return Answer(ok=True, status=200, result={"added": len(taken), "message_count": len(self.stored)})


class Quiet:
    def info(self, *_told, **_fields):
        pass

    warning = info


def grown(items, count, clock):
    for _ in range(count):
        position = items[-1].position + 10 if items else 10
        text = f"Sentence number {clock} is spoken."
        items.append(Item(tier="human", role="user", position=position, at_ms=clock, parts=(Part("text", text),)))
        clock += 1
    return clock


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 120)), min_size=1, max_size=12)


@given(STEPS)
@settings(deadline=None)
def test_whatever_the_server_takes_when_everything_arrives_once_and_in_order(steps):
    """Growth of the transcript and capacity of the server, in any order."""
    store, state, clock = Store(), State(session_id="s", updated_at_ms=1), 1_000
    for growth, capacity in [*steps, (0, 1_000)]:
        clock = grown(store.items, growth, clock)
        store.capacity = capacity
        catcher = Catcher(
            name="cx-s", transcripts=store, server=store, rules=Rules(), peer="", log=Quiet(), save=lambda moved: moved,
            refused=lambda *_: None,
        )  # fmt: skip
        state = catcher.catch_up(Session(host="codex", id="s", locator="/s"), state).state
    assert store.stored == [item.text for item in store.items]
    assert state.captured == len(store.items)


@given(STEPS, st.integers(0, 40), st.integers(1, 6))
@settings(deadline=None)
def test_a_transcript_that_is_cut_short_repeats_nothing_and_gives_the_latest_words(steps, cut, growth):
    store, state, clock = Store(), State(session_id="s", updated_at_ms=1), 1_000

    def caught_up(state):
        store.capacity = 1_000
        catcher = Catcher(
            name="cx-s", transcripts=store, server=store, rules=Rules(), peer="", log=Quiet(), save=lambda moved: moved,
            refused=lambda *_: None,
        )  # fmt: skip
        return catcher.catch_up(Session(host="codex", id="s", locator="/s"), state).state

    for more, _ in steps:
        clock = grown(store.items, more, clock)
        state = caught_up(state)
    del store.items[max(1, len(store.items) - cut) :]
    state = State(**{name: getattr(state, name) for name in State.__slots__} | {"updated_at_ms": clock})
    clock = grown(store.items, growth, clock + 1)
    caught_up(state)
    assert len(store.stored) == len(set(store.stored))
    assert store.stored[-1] == store.items[-1].text
