"""What was said, as a model is given it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import Item

_CITATION = re.compile(r"<(memory-citation|oai-mem-citation)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_EXCLUDED = (("# agents.md instructions", "</instructions>"), ("<skill>", "</skill>"))


def said(item: Item) -> str:
    """An item's text without citation markup: words, or a tool with its input and what came of it."""
    return _without_citations(_text(item)).strip()


def excluded(text: str) -> bool:
    """Whether the whole text is project instructions or a skill that the harness put in."""
    lowered = text.strip().lower()
    return any(lowered.startswith(first) and lowered.endswith(last) for first, last in _EXCLUDED)


def _without_citations(text: str) -> str:
    """Blocks go with the blanks before them. Looking for what a block begins with takes no time in long outputs."""
    pieces: list[str] = []
    end = 0
    for block in _CITATION.finditer(text):
        pieces.append(text[end : block.start()].rstrip(" \t"))
        end = block.end()
    return "".join((*pieces, text[end:]))


def _text(item: Item) -> str:
    tool = item.tool
    if tool is None:
        return item.text
    name = tool.name or tool.id or "unknown"
    output = f"[error] {tool.output}" if tool.status == "failed" else tool.output
    return "\n".join(part for part in (f"[tool: {name}] {tool.input}".rstrip(), output) if part)
