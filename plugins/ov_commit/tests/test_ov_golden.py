"""What OpenViking's Codex plugin 0.7.5 made of inputs, recorded by running it: ours is the same, or here is why not."""

import json
from pathlib import Path

import pytest
from codexmem_hookspecs.values.capture import Session
from codexmem_host_codex import plugin as codex
from codexmem_ov_commit import utf16
from codexmem_ov_commit.cleaning import capped, clean, verdict
from codexmem_ov_commit.names import FILE_NAME_UNITS, file_stem, server_name
from codexmem_ov_commit.place import workspace_peer
from codexmem_ov_commit.server import retryable
from codexmem_ov_commit.turns import Rules, turns

GOLDEN = json.loads((Path(__file__).parent / "golden" / "openviking-codex-plugin-0.7.5.json").read_text())

OTHER_TEXTS = {
    # 0.7.5 took up to 80 characters off a line that begins with a date; its later versions take a bracketed stamp only
    "2026-01-02 hello there": "2026-01-02 hello there",
    "2026-01-02T03:04:05.123Z hello there": "2026-01-02T03:04:05.123Z hello there",
    # a number that more numbers follow is what was said, not a stamp
    "1234567890 1234567890": "1234567890 1234567890",
}

OTHER_TURNS = {
    # 0.7.5 filtered only the text beside the parts, and sent the parts; its later versions clean parts first
    "ack_only": [],
    "slash": [],
    "injected_user": ["user: real question text"],
    # calls of the local shell and of web search were never captured
    "local_shell": [
        "assistant: local_shell {'type': 'exec', 'command': ['ls']}",
        "assistant: web_search {'type': 'search', 'query': 'q'}",
    ],
    # the host takes Codex's envelope off outputs
    "real_rollout": [
        "user: please fix the login bug",
        "assistant: shell {'cmd': 'ls'}",
        "user: shell -> a.py",
        "assistant: I fixed the login bug.",
    ],
    "tool_search": ["assistant: tool_search {'q': 'x'}", 'user: tool_search -> [{"name": "a"}]'],
    # an MCP call stands in a rollout twice: what the model said and got, which is taken, and an event about it
    "mcp": ["assistant: openviking__search {}", "user: openviking__search -> hit"],
    "mcp_err": [],
    # who an agent's message is from is not known here, and that an agent was started is nothing that was said
    "agent_message": ["assistant: sub result text"],
}
NO_ROLLOUTS = {"message_shape", "bad", "tool_json_array_args"}
"""Lines that Codex never wrote."""


@pytest.mark.parametrize("case", GOLDEN["ids"], ids=lambda case: repr(case["in"][:30]))
def test_names(case):
    assert server_name("codex", case["in"]) == case["cx"]
    assert len(case["stateSafe"]) > FILE_NAME_UNITS or file_stem(case["in"]) == case["stateSafe"]


@pytest.mark.parametrize("case", GOLDEN["peer"], ids=lambda case: repr(case["cwd"]))
def test_peers(case):
    assert workspace_peer(case["cwd"]) == case["peer"]


@pytest.mark.parametrize("case", GOLDEN["tokens"], ids=lambda case: repr(case["text"][:30]))
def test_tokens(case):
    assert utf16.tokens(case["text"]) == case["tokens"]


@pytest.mark.parametrize("case", GOLDEN["sanitize"], ids=lambda case: repr(case["in"][:40]))
def test_cleaned_texts(case):
    cleaned = clean(case["in"])
    assert cleaned == OTHER_TEXTS.get(case["in"], case["out"])
    if case["in"] not in OTHER_TEXTS:
        for role in ("user", "assistant"):
            reason = verdict(cleaned, user=role == "user")
            assert (reason == "kept", reason.replace("kept", "ok")) == (
                case[role]["shouldCapture"],
                case[role]["reason"],
            )


@pytest.mark.parametrize("case", GOLDEN["truncate"], ids=lambda case: repr((case["t"], case["n"])))
def test_caps(case):
    assert capped(utf16.trimmed(case["t"]), case["n"]) == case["out"]


@pytest.mark.parametrize("case", GOLDEN["retryable"], ids=repr)
def test_what_is_tried_again(case):
    answer = case["r"]
    assert (not answer["ok"] and retryable(answer.get("status", 0), answer.get("error", {}))) == case["retryable"]


@pytest.mark.parametrize("name", sorted(set(GOLDEN["turns"]) - NO_ROLLOUTS))
@pytest.mark.parametrize("assistant", [True, False])
def test_turns_of_rollouts(codexmem_services, tmp_path, name, assistant):
    case = GOLDEN["turns"][name]
    path = tmp_path / "rollout-2026-08-28T00-00-00-0198a000-0000-7000-8000-000000000001.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in case["in"]))
    session = Session(host="codex", id="0198a000-0000-7000-8000-000000000001", locator=str(path), cwd="/w")
    items = codex.codexmem_capture_transcript(session=session, after=0, services=codexmem_services)
    found = [turn for _, turn in turns(items, Rules(assistant=assistant)) if turn is not None]
    sent = [{"role": turn.role, "parts": [dict(part) for part in turn.parts]} for turn in found]
    if name not in OTHER_TURNS:
        assert sent == case["assistant_on" if assistant else "assistant_off"]
    else:
        wanted = OTHER_TURNS[name]
        assert brief(sent) == (wanted if assistant else [line for line in wanted if spoken_by_user(line)])


def brief(messages):
    """A line a part."""
    return [f"{message['role']}: {_part(part)}" for message in messages for part in message["parts"]]


def _part(part):
    if part["type"] == "text":
        return part["text"]
    ends = f" -> {part['tool_output']}" if "tool_output" in part else f" {part.get('tool_input')}"
    return part["tool_name"] + ends


def spoken_by_user(line):
    return line.startswith("user: ") and " -> " not in line
