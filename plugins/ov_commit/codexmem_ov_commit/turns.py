"""A transcript's items as the server's messages: role and parts, cleaned, nothing that only the harness said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codexmem_ov_commit import utf16
from codexmem_ov_commit.cleaning import capped, clean, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codexmem_hookspecs.values.capture import Item, ToolUse

    from codexmem_ov_commit.settings import Settings

Part = Mapping[str, object]

KEYWORDS = re.compile(r"\b(?:remember|memorize|store|save|capture|note|record)\b|记住|保存|记录|记忆", re.IGNORECASE)
"""In keyword mode something is only sent when one of these is said."""
_STATUSES = {"started": "running", "completed": "completed", "failed": "error", "unknown": "completed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message to the server."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]
    position: int
    """Of the item that it comes from."""
    human: bool
    """Whether the user said it; a tool's result has the user's role too, but is not."""

    def message(self, peer: str) -> dict[str, object]:
        """As the server wants it."""
        sent: dict[str, object] = {"role": self.role, "parts": [dict(part) for part in self.parts]}
        return {**sent, "peer_id": peer} if peer else sent

    @property
    def units(self) -> int:
        """Characters in it, roughly."""
        return sum(
            len(value if isinstance(value, str) else repr(value)) for part in self.parts for value in part.values()
        )

    @property
    def asks_to_be_kept(self) -> bool:
        """Whether a keyword stands in it."""
        return any(KEYWORDS.search(str(part.get("text", ""))) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What of a conversation is sent."""

    assistant: bool = True
    tools: bool = True
    text_units: int = 24_000
    tool_units: int = 1_000_000

    @classmethod
    def of(cls, settings: Settings) -> Rules:
        """As the user set them."""
        return cls(
            assistant=settings.flag("capture_assistant_turns"),
            tools=settings.flag("capture_tool_results"),
            text_units=settings.number("capture_max_length"),
            tool_units=settings.number("capture_tool_max_chars"),
        )


def turns(items: Iterable[Item], rules: Rules) -> Iterator[tuple[int, Turn | None]]:
    """For every item its position and its turn, None when it is not sent."""
    names: dict[str, str] = {}
    for item in items:
        yield item.position, _turn(item, rules, names)


def _turn(item: Item, rules: Rules, names: dict[str, str]) -> Turn | None:
    if item.aside or item.tier == "context" or item.role == "system":
        return None
    if item.tool is not None:
        part = _tool(item.tool, rules, names)
        is_call = bool(item.tool.input) or part["tool_status"] == "running"
        turn = Turn(role="assistant" if is_call else "user", parts=(part,), position=item.position, human=False)
        return turn if rules.tools and rules.assistant else None
    human = item.tier == "human" and item.role == "user"
    if not human and not rules.assistant:
        return None
    texts = [capped(clean(part.text), rules.text_units) for part in item.parts if part.kind == "text"]
    parts = tuple({"type": "text", "text": text} for text in texts if text)
    if not parts or verdict("\n".join(str(part["text"]) for part in parts), user=human) != "kept":
        return None
    return Turn(role="user" if human else "assistant", parts=parts, position=item.position, human=human)


def _tool(tool: ToolUse, rules: Rules, names: dict[str, str]) -> Part:
    """A call is running, its result has the same id; a name that the result lacks is known from the call.

    Some hosts tell both in one item; Codex says of a call that it is completed where it means that it was written.
    """
    if tool.id and tool.name:
        names[tool.id] = tool.name
    name = tool.name or names.get(tool.id, "")
    head = {"type": "tool", **({"tool_id": tool.id} if tool.id else {}), **({"tool_name": name} if name else {})}
    given = _arguments(utf16.whole(tool.input), rules.tool_units)
    part = {**head, **({} if given is None else {"tool_input": given})}
    if not tool.output and (given is not None or tool.status == "started"):
        return {**part, "tool_status": "running"}
    output = capped(utf16.trimmed(utf16.whole(tool.output)), rules.tool_units)
    return {**part, "tool_status": _STATUSES[tool.status], "tool_output": output}


def _arguments(text: str, units: int) -> object | None:
    """JSON where it is JSON that can be sent; what is no object is one's ``value``; None for nothing."""
    if not utf16.trimmed(text):
        return None
    if units and utf16.length(text) > units:
        return {"value": capped(text, units)}
    try:
        given = json.loads(text)
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {"value": text}
    return given if isinstance(given, dict) else {"value": given}
