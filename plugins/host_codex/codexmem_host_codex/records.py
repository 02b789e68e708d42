"""The shapes of a rollout's lines, and how one line of bytes becomes one of them (Codex 0.171 and older)."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from codexmem_hookspecs.json_lines import decoded
from msgspec import Raw, Struct, field

KNOWN = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "retained_context",
        "realtime_item",
        "security_risk_score",
    }
)
"""Record types that Codex writes. Others are passed over; a file that has none of these is no rollout."""

T = TypeVar("T")


class Record(Struct, gc=False):
    """A line. The payload stays bytes until somebody wants it."""

    type: str
    timestamp: str | None = None
    payload: Raw = Raw(b"")


class Kind(Struct, gc=False):
    """What a payload is."""

    type: str | None = None


class Piece(Struct, gc=False):
    """A part of a message's content or of an output. Data of images and files is never decoded."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class Outcome(Struct, gc=False):
    """An output in its older form."""

    content: str | list[Piece] | None = None
    success: bool | None = None


class Passthrough(Struct, gc=False):
    """Where each part of a message came from."""

    content_item_kinds: list[str] | None = None


class Payload(Struct, gc=False):
    """A response item of any kind, and an inter-agent message; fields that a kind lacks keep their defaults."""

    type: str = ""
    role: str | None = None
    phase: str | None = None
    content: str | list[Piece] | None = None
    name: str | None = None
    namespace: str | None = None
    call_id: str | None = None
    id: str | None = None
    status: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: str | None = None
    action: Raw = Raw(b"")
    output: str | list[Piece] | Outcome | None = None
    tools: Raw = Raw(b"")
    author: str | None = None
    passthrough: Passthrough | None = field(default=None, name="internal_chat_message_metadata_passthrough")


class Response(Struct, gc=False):
    """A line that holds a response item, decoded at once."""

    type: str
    payload: Payload
    timestamp: str | None = None


class Spoken(Struct, gc=False):
    """A legacy ``user_message`` or ``agent_message`` event."""

    type: str = ""
    message: str = ""


class Settings(Struct, gc=False):
    """Settings of a thread that an event announces."""

    cwd: str | None = None


class Context(Struct, gc=False):
    """What a turn runs in. ``turn_context`` says it itself, ``thread_settings_applied`` within."""

    cwd: str | None = None
    thread_settings: Settings | None = None


class Meta(Struct, gc=False):
    """Payload of ``session_meta``."""

    id: str = ""
    timestamp: str | None = None
    cwd: str | None = None
    source: str | dict[str, Any] | None = None
    thread_source: str | None = None
    memory_mode: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None


HEAD = 200
"""Bytes at the beginning of a line or a payload in which its type stands, as Codex writes it."""
LOOK = re.compile(
    rb'"type":"(?:(event_msg","payload":\{"type":"(?!user_message"|agent_message"|thread_settings_applied")'
    rb'|response_item","payload":\{"type":"(?:reasoning|additional_tools|configuration_update)")|(response_item"))'
)
"""One look at how a line begins.

Group 1: a record that holds nobody's words and need not be parsed. That is more than half of a rollout, and some are as
long as the tool's output that they repeat. One that is cut off is parsed all the same, to be reported. Group 2: a
response item.
"""
WORDLESS, RESPONSE = 1, 2
TOKENS = b'"token_count"'
"""In the head of the only wordless record that may stand between a compaction's summary and the compaction."""

_response = msgspec.json.Decoder(Response)
_record = msgspec.json.Decoder(Record)
_decoders: dict[type, msgspec.json.Decoder[Any]] = {
    shape: msgspec.json.Decoder(shape) for shape in (Kind, Payload, Spoken, Context, Meta)
}


def record(data: bytes) -> Record:
    """One line as a record. Raises NotUnderstood."""
    return decoded(_record.decode, data)


def response(data: bytes) -> Response:
    """A line known to hold a response item. Raises NotUnderstood."""
    try:
        return _response.decode(data)
    except (ValueError, RecursionError):
        whole = record(data)
        return Response(whole.type, payload(whole.payload, Payload), whole.timestamp)


def payload(raw: Raw, shape: type[T]) -> T:
    """A record's payload in one shape. Raises NotUnderstood."""
    found: T = decoded(_decoders[shape].decode, bytes(raw))
    return found


def head(raw: Raw) -> bytes:
    """The beginning of a payload, where its type stands."""
    return bytes(memoryview(raw)[:HEAD])
