"""What the engine leaves of OpenCode's messages: nothing private, and nothing that was given to the model by us."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs.values.capture import Session
from codexmem_host_opencode import plugin, transcript
from codexmem_host_opencode.records import Conversation, SessionInfo, Times

from codexmem_core.safety.fence import fence
from codexmem_core.services.transcripts import TranscriptCache

NOW_MS = 1_800_000_000_000
BEGAN_MS = NOW_MS - 3_600_000
SESSION = Session(host="opencode", id="ses_1", cwd="/home/user/proj")
(HOST,) = plugin.codexmem_capture_host()
GIVEN = fence("The user wants walrus names.", source="codexmem memory v1", dated="2026-11-30")


def message(role, *parts, at=1, **info):
    times = {"created": BEGAN_MS + at, "completed": BEGAN_MS + at + 1}
    return {"info": {"id": f"msg_{at}", "role": role, "time": times, **info}, "parts": list(parts)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


@pytest.fixture
def left(tmp_path):
    """(tier, text) of what readers are given."""

    def read(*messages):
        info = SessionInfo(id="ses_1", directory="/home/user/proj", time=Times(created=BEGAN_MS))
        conversation = Conversation(info=info, messages=list(messages))
        cache = TranscriptCache(
            lambda session, after: transcript.entries(conversation, session, after, NOW_MS),
            lambda _session, item: HOST.own_text(item),
            str(tmp_path),
        )
        return [(item.tier, item.text) for item in cache.open(SESSION)]

    return read


def test_a_span_over_several_pieces_of_a_prompt_goes_and_the_next_message_stays(left):
    prompt = message(
        "user", text("a <private>walrus"), {"type": "file", "mime": "image/png"}, text("walrus</private> b")
    )
    assert left(prompt, message("assistant", text("<private>walrus"), at=2), message("user", text("c"), at=3)) == [
        ("human", "a [private]"),
        ("human", "[image omitted]"),
        ("human", "[private] b"),
        ("final", "[private]"),
        ("human", "c"),
    ]


def test_a_prompt_in_quotes_keeps_nothing_private(left):
    assert left(message("user", text('"always use tabs <PRIVATE>walrus</private>"'))) == [
        ("human", "always use tabs [private]")
    ]


def test_a_tools_arguments_and_answer_keep_nothing_private_and_stay_json(left):
    state = {
        "status": "completed",
        "input": {"command": "echo <private>walrus</private>", "why": "<private>walrus"},
        "output": json.dumps({"out": "\u003cprivate>walrus"}).replace("<", "\\u003c"),
    }
    tool = {"type": "tool", "tool": "bash", "callID": "c1", "state": state}
    given, answered = [found for _, found in left(message("assistant", tool))]
    assert json.loads(given) == {"command": "echo [private]", "why": "[private]"}
    assert json.loads(answered) == {"out": "[private]"}


@pytest.mark.parametrize(
    "part",
    [
        text(GIVEN, synthetic=True, metadata={"codexmem": True}),
        text(GIVEN, synthetic=True),
        text(f"I pasted this: {GIVEN}"),
        text(f'"{GIVEN}"'),
    ],
)
def test_what_we_gave_is_not_read_again_wherever_it_stands(part, left):
    found = left(message("user", part, text("always use tabs")))
    assert ("human", "always use tabs") in found
    assert "walrus" not in str(found)
