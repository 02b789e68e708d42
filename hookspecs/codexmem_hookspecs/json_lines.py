"""What hosts have in common that write a session as JSON lines: decoding, times, looking back. For plugins to use.

The decoder is the plugin's own, ``json.loads`` or a faster one; the contract depends on none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from codexmem_hookspecs.values.capture import Item, Line, Part, Tier, ToolUse

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Folder

T = TypeVar("T")

EARLIEST_MS = 1_420_070_400_000
"""2015 began. A time before it comes from a broken clock."""
TIMESTAMP = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{10,40})"')
"""A record's time, wherever it stands in the line."""
TAIL = 65_536
"""Bytes at the end of a file in which its newest time is looked for."""
DIGESTED = 4_096
"""Bytes at the end whose digest tells two contents of one length apart."""
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: hosts cut texts in the middle of one, and no UTF-8 can hold it."""


class NotUnderstood(Exception):  # noqa: N818 - a state of one line, not a failure of the program
    """A line is no record. The message says why, without any of its content."""


class Place(NamedTuple):
    """Where and when a record stands. Its items are made without the cost of a call with keywords, field by field."""

    position: int
    at_ms: int = 0
    cwd: str = ""

    def said(self, tier: Tier, role: Literal["user", "assistant", "system"], parts: tuple[Part, ...]) -> Item:
        """Words at this place."""
        return tuple.__new__(Item, (tier, role, self.position, parts, None, self.at_ms, self.cwd, False))

    def done(self, tool: ToolUse, role: Literal["assistant", "tool"]) -> Item:
        """A tool's call or result at this place."""
        return tuple.__new__(Item, ("tool", role, self.position, (), tool, self.at_ms, self.cwd, False))

    def answered(self, question: str, reply: str) -> Item:
        """The user's own word, given as the result of the tool by which the agent asked."""
        text = f"Assistant question: {question}\nHuman reply: {reply}"
        return self.said("human", "user", (Part(kind="text", text=text),))


def decoded(decode: Callable[[bytes], T], data: bytes) -> T:
    """A line, or a value in it, as ``decode`` reads it. Raises NotUnderstood.

    Fast decoders refuse half characters; what one refuses is tried once more with these replaced.
    """
    try:
        return decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        return decode(repaired(data))
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(reason(error)) from None


def repaired(data: bytes) -> bytes:
    """The same JSON without half characters. Raises ValueError and RecursionError when it is no JSON at all."""
    return whole_text(json.dumps(json.loads(data.decode()), ensure_ascii=False)).encode()


def whole_text(text: str) -> str:
    """The same text with half characters replaced, so that it can be stored."""
    return HALF_CHARACTER.sub("\ufffd", text)


def reason(error: Exception) -> str:
    """Why a repaired line was not read."""
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "not valid JSON" if isinstance(error, json.JSONDecodeError) else f"unexpected shape: {error}"


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


def newest(data: bytes, now_ms: int) -> int:
    """The newest sane time that the records state, UNIX milliseconds; 0 when there is none."""
    return max((milliseconds(text.decode(), now_ms) for text in set(TIMESTAMP.findall(data))), default=0)


def revision(tail: bytes, length: int) -> str:
    """For ``Session.revision``, from the end of the content and its whole length."""
    import hashlib  # registering a host needs none, and it is slow to load

    return f"{length}:{hashlib.blake2b(tail[-DIGESTED:], digest_size=8).hexdigest()}"


def lines_before(folder: Folder, name: str, position: int, *needles: bytes) -> Iterator[Line]:
    """Lines that end at or before a position and hold one of the needles, from the beginning."""
    for line in folder.lines(name):
        if line.end > position:
            return
        if any(needle in line.data for needle in needles):
            yield line


def content_before(folder: Folder, name: str, position: int, near: int) -> bytes:
    """What stands before a position within the last ``near`` bytes of the file; begins anywhere in a line."""
    data, length = folder.tail(name, near)
    return data[: max(0, position - (length - len(data)))]
