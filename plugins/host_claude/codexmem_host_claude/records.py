"""The shapes of a transcript's lines, and how one line of bytes becomes one of them (Claude Code 1.0 to 2.1)."""

from __future__ import annotations

from typing import Any

import msgspec
from codexmem_hookspecs.json_lines import NotUnderstood, decoded
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
    """One line as a record; of a type that holds no words only the type. Raises NotUnderstood."""
    try:
        return decoded(_record.decode, data)
    except NotUnderstood:
        kind = decoded(_kind.decode, data)
        if kind.type in SAID:
            raise
        return Record(type=kind.type, session_id=kind.session_id)


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
