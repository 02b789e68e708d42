"""What a new session is told: how to use the memory, then its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_memory_v1.prompts import filled, template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.services import Workspace

CHARS_A_TOKEN = 4
FORMAT = "v1"
"""First line of a summary."""
CUT = "\n[...truncated...]\n"


def context(workspace: Workspace, *, tools: Mapping[str, str], citations: bool, summary_tokens: int) -> str:
    """The context text; empty when the summary is missing or blank. The same files give the same bytes.

    The summary itself is cut in the middle to ``summary_tokens``; the engine cuts the whole to a host's limit.
    """
    summary = workspace.read("memory_summary.md").strip()
    if all(not line.strip() or line.startswith("#") or line.strip() == FORMAT for line in summary.splitlines()):
        return ""  # headings alone tell nobody anything
    kind = "tools" if tools else "files"
    return filled(
        "context",
        {
            "lookup": filled(f"context_{kind}", tools).strip(),
            "citing": template("context_citations") if citations else "",
            "updating": filled(f"update_{kind}", tools).strip(),
            "summary": cut_tokens(summary, summary_tokens),
        },
    )


def cut_tokens(text: str, tokens: int) -> str:
    """At most ``4 * tokens`` characters, head and tail kept (opencode-codex-memory: truncateToTokens)."""
    limit = CHARS_A_TOKEN * tokens
    if len(text) <= limit:
        return text
    keep = max(0, limit - len(CUT))
    head = (keep + 1) // 2
    return text[:head] + CUT + text[len(text) - (keep - head) :]
