"""Server-sent events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

END = "[DONE]"


def events_in(text: str) -> list[Mapping[str, Any]]:
    """The JSON objects of a stream, in order; ``[DONE]`` comes as ``{"type": "[DONE]"}``.

    Comments, other fields and an event that the stream's end cut are left out (WHATWG HTML: an event ends with an empty
    line). An object without a type takes the event's name.
    """
    found: list[Mapping[str, Any]] = []
    name, data = "", list[str]()
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line:
            _take(name, "\n".join(data), found)
            name, data = "", []
    return found


def merged_text(parts: object) -> str:
    """Text of a list of content parts, or the text itself."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return ""
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def count(usage: object, *names: str) -> int:
    """Sum of the named token counts; what is no number counts as none."""
    if not isinstance(usage, dict):
        return 0
    values = [usage.get(name) for name in names]
    return sum(value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0)


def _take(name: str, data: str, found: list[Mapping[str, Any]]) -> None:
    if not data:
        return
    if data.strip() == END:
        found.append({"type": END})
        return
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        found.append(value if "type" in value or not name else {**value, "type": name})
