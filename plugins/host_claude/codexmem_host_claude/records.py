"""The shapes of a transcript's lines, and how one line of bytes becomes one of them (Claude Code 1.0 to 2.1)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct

SAID = frozenset({"user", "assistant", "attachment"})
"""Types whose lines may hold words."""
KNOWN = SAID | {
    "system",
    "summary",
    "queue-operation",
    "mode",
    "permission-mode",
    "last-prompt",
    "file-history-snapshot",
    "progress",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "pr-link",
    "content-replacement",
}
"""Types that Claude Code writes. Others are passed over; a file that has none of these is no transcript."""

EARLIEST_MS = 1_420_070_400_000
"""2015 began. A time before it comes from a broken clock."""

SURROGATE = re.compile("[\ud800-\udfff]")


class NotUnderstood(Exception):  # noqa: N818 - a state of one line, not a failure of the program
    """A line is no record. The message says why."""


class Block(Struct, gc=False):
    """A block of a message. Data of images and documents is never decoded."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"")
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: Raw = Raw(b"")
    """Of a result: text, or further blocks."""


class Message(Struct, gc=False):
    """What was said, in the model's own form."""

    role: str = ""
    model: str | None = None
    stop_reason: str | None = None
    content: str | list[Block] | None = None


class Origin(Struct, gc=False):
    """Who wrote a prompt."""

    kind: str | None = None


class Attachment(Struct, gc=False):
    """What was put beside the conversation."""

    type: str = ""
    content: Raw = Raw(b"")
    prompt: str | list[Block] | None = None
    commandMode: str | None = None  # noqa: N815 - the field's name in the file
    isMeta: bool | None = None  # noqa: N815
    origin: Origin | None = None


class Fork(Struct, gc=False):
    """Where a copied line comes from."""

    sessionId: str | None = None  # noqa: N815


class Record(Struct, gc=False, rename="camel"):
    """A line; of the many fields those that matter here."""

    type: str
    uuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    entrypoint: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    origin: Origin | None = None
    forked_from: Fork | str | None = None


class Kind(Struct, gc=False, rename="camel"):
    """The little that any line has, whatever else is in it."""

    type: str
    session_id: str | None = None


_record = msgspec.json.Decoder(Record)
_kind = msgspec.json.Decoder(Kind)


def record(data: bytes) -> Record:
    """One line as a record; of a type that holds no words only the type. Raises NotUnderstood.

    msgspec refuses half of a surrogate pair, which hosts do write; such a line is read the slow way, with the half
    characters replaced.
    """
    try:
        return _record.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        clean = repaired(data)
        kind = _kind.decode(clean)
        return _record.decode(clean) if kind.type in SAID else Record(type=kind.type, session_id=kind.session_id)
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(reason(error)) from None


def blocks(raw: Raw) -> str | list[Block]:
    """A result's content. A shape that is not known is kept as its JSON."""
    if not bytes(memoryview(raw)[:1]):
        return ""
    try:
        return msgspec.json.decode(raw, type=str | list[Block] | None) or ""
    except (ValueError, RecursionError):
        return bytes(raw).decode(errors="replace")


def texts(raw: Raw) -> list[str]:
    """An attachment's content: a text or a list of texts; anything else is none."""
    if not bytes(memoryview(raw)[:1]):
        return []
    try:
        content: Any = msgspec.json.decode(raw, type=str | list[str] | None)
    except (ValueError, RecursionError):
        return []
    return [content] if isinstance(content, str) else content or []


def repaired(data: bytes) -> bytes:
    """The same JSON without half surrogate pairs. Raises ValueError and RecursionError when it is no JSON at all."""
    return SURROGATE.sub("\ufffd", json.dumps(json.loads(data.decode()), ensure_ascii=False)).encode()


def reason(error: Exception) -> str:
    """Why a line could not be read, without any of its content."""
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    if isinstance(error, msgspec.ValidationError):
        return f"unexpected shape: {error}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "not valid JSON"


def milliseconds(timestamp: str | None, now_ms: int) -> int:
    """RFC 3339 as UNIX milliseconds; 0 when it is missing, unreadable, before 2015 or later than now."""
    if not timestamp:
        return 0
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        at_ms = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
    return at_ms if EARLIEST_MS <= at_ms <= now_ms else 0
