"""What Notebook writes: a first line that names the session, then a line for each thing said or done."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from codexmem_hookspecs.values.capture import Item, Line, Part, Skipped, Tier, ToolUse

SPEAKERS: Mapping[str, tuple[Tier, Literal["user", "assistant"]]] = {
    "me": ("human", "user"),
    "notebook": ("final", "assistant"),
}


def record(data: bytes) -> dict[str, Any]:
    """A line as an object; empty when it is none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def header(data: bytes) -> dict[str, Any]:
    """The first line of a session; empty when the file is not Notebook's."""
    found = record(data)
    return found if found.get("format") == "notebook/1" and isinstance(found.get("id"), str) else {}


def item(line: Line) -> Item | Skipped:
    """One line after the first, or why it could not be understood. The position is the byte past the line."""
    entry = record(line.data)
    at_ms = milliseconds(entry)
    if isinstance(entry.get("run"), str):
        tool = ToolUse(
            id=str(entry.get("id", "")),
            name="shell",
            status="failed" if entry.get("failed") else "completed",
            input=entry["run"],
            output=str(entry.get("printed", "")),
        )
        return Item(tier="tool", role="tool", position=line.end, tool=tool, at_ms=at_ms)
    for speaker, (tier, role) in SPEAKERS.items():
        if isinstance(entry.get(speaker), str):
            parts = (Part(kind="text", text=entry[speaker]),)
            return Item(tier=tier, role=role, position=line.end, parts=parts, at_ms=at_ms)
    return Skipped(
        position=line.end, line=line.number, reason=line.problem or "not a kind of line that Notebook writes"
    )


def milliseconds(entry: Mapping[str, Any]) -> int:
    """When a line was written, UNIX milliseconds; 0 when it does not say."""
    try:
        return int(datetime.fromisoformat(entry["at"]).timestamp() * 1000)
    except (KeyError, TypeError, ValueError):
        return 0
