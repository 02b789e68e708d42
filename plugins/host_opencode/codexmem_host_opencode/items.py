"""A message becomes items with a tier: whose words they are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.values.capture import Part, ToolUse

from codexmem_host_opencode.words import unquoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.json_lines import Place
    from codexmem_hookspecs.values.capture import Item

    from codexmem_host_opencode import records
    from codexmem_host_opencode.records import MessageInfo

QUESTION = "question"
"""The tool by which the agent asks the user; its answer is the user's own word."""
ANSWERED = re.compile(r'^User has answered your questions: .*"="(?!Unanswered")', re.DOTALL)
GIVEN = "codexmem"
"""Key in the metadata of a part that the plugin file put into a message."""
AT_WORK = frozenset({"pending", "running"})
Status = Literal["completed", "failed", "unknown"]
STATUSES: dict[str, Status] = {"completed": "completed", "error": "failed"}


def items(part: records.Part, info: MessageInfo, place: Place) -> Iterator[Item]:
    """The items of one piece of a message."""
    if part.ignored:
        return
    if part.type == "text" and part.text and not part.text.isspace():
        yield said(part, info, place)
    elif part.type == "file":
        kind: Literal["image", "file"] = "image" if (part.mime or "").startswith("image/") else "file"
        yield place.said("human" if info.role == "user" else "final", speaker(info), (Part(kind=kind),))
    elif part.type == "subtask" and part.prompt:
        yield place.said("context", "user", (text(part.prompt),))
    elif part.type == "tool" and part.state is not None:
        yield from tool(part, part.state, place)


def said(part: records.Part, info: MessageInfo, place: Place) -> Item:
    """Words. What OpenCode adds to a user's message, and the summary of a compaction, are nobody's."""
    words = text(part.text or "")
    if info.role == "user":
        if not part.synthetic:
            return place.said("human", "user", (text(unquoted(words.text)),))
        given = bool(part.metadata and part.metadata.get(GIVEN))
        return place.said("context", "system" if given else "user", (words,))
    if info.summary is True or info.role != "assistant":
        return place.said("context", "assistant", (words,))
    return place.said("commentary" if info.finish == "tool-calls" else "final", "assistant", (words,))


def tool(part: records.Part, state: records.ToolState, place: Place) -> Iterator[Item]:
    """A call with everything that was asked, and its result; an answer to a question is the user's."""
    name, call_id, asked = part.tool or "", part.callID or "", as_text(state.input)
    yield place.done(ToolUse(id=call_id, name=name, status="started", input=asked), "assistant")
    if state.status in AT_WORK:
        return
    output = as_text(state.output if state.output is not None else state.error)
    status = STATUSES.get(state.status, "unknown")
    if name == QUESTION and status == "completed" and ANSWERED.match(output):
        yield place.answered(asked, output)
    else:
        yield place.done(ToolUse(id=call_id, name=name, status=status, output=output), "tool")


def at_work(part: records.Part) -> bool:
    """Whether the piece is still being made."""
    if part.type == "tool":
        return part.state is None or part.state.status in AT_WORK
    return part.type == "text" and part.time is not None and part.time.end is None


def speaker(info: MessageInfo) -> Literal["user", "assistant"]:
    """Whose message it is."""
    return "user" if info.role == "user" else "assistant"


def text(words: str) -> Part:
    """Words that can be stored."""
    return Part(kind="text", text=whole_text(words))


def as_text(value: object) -> str:
    """A text as it is, anything else as JSON; nothing for nothing."""
    if value is None:
        return ""
    return whole_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
