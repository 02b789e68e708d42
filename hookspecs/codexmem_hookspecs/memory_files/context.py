"""What a new session is told: how to use the memory, then its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codexmem_hookspecs.cuts import cut_tokens
from codexmem_hookspecs.memory_files import summary_format
from codexmem_hookspecs.memory_files.prompts import Templates

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Workspace

_SHARED = Templates(__package__)


def context(
    templates: Templates, workspace: Workspace, *, tools: Mapping[str, str], citations: bool, summary_tokens: int
) -> str:
    """The context text; empty when the summary is missing or blank. The same files give the same bytes.

    Templates: ``context`` with the places lookup, citing, updating and summary; ``context_tools`` and ``context_files``
    for the lookup, with tools (their names are its places) and without; ``context_citations``. The summary itself is
    cut in the middle to ``summary_tokens``; the engine cuts the whole to a host's limit.
    """
    text = workspace.read(summary_format.PATH).strip()
    if summary_format.is_blank(text):
        return ""
    kind = "tools" if tools else "files"
    return templates.filled(
        "context",
        {
            "lookup": templates.filled(f"context_{kind}", tools).strip(),
            "citing": templates.text("context_citations") if citations else "",
            "updating": _SHARED.filled(f"update_{kind}", tools).strip(),
            "summary": cut_tokens(text, summary_tokens),
        },
    )
