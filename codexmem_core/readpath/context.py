"""What a new session is given: the memory's own words, redacted, fenced as reference, within the host's limit."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_core.safety.fence import fence
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean, cut_bytes

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Workspace
    from codexmem_hookspecs.values.consolidate import Memory

    from codexmem_core.plugins.stages import Stages


def memory_context(
    stages: Stages, plugin: str, memory: Memory, workspace: Workspace, root: str, *, tools: bool, limit_bytes: int
) -> str:
    """The same bytes until the memory changes; empty when it has nothing to say or its root cannot be trusted.

    ``limit_bytes`` is the host's, 0 for none; what is over it is cut in the middle, here and not by the host.
    """
    if os.path.islink(root) or not workspace.exists(memory.summary):
        return ""
    text = clean(redact(stages.read_summary(plugin, workspace, tools=tools))).strip()
    if not text:
        return ""
    dated = _day(os.stat(os.path.join(root, memory.summary)).st_mtime)
    source = f"codexmem memory {memory.name}"
    if limit_bytes:
        frame = len(fence("", source=source, dated=dated).encode())
        fenced = fence(text, source=source, dated=dated)
        over = len(fenced.encode()) - limit_bytes
        while over > 0:
            # Neutralised fences inside may be longer than what stood there, so the cut is checked on the whole.
            text = cut_bytes(text, max(0, len(text.encode()) - over))
            fenced = fence(text, source=source, dated=dated)
            over = len(fenced.encode()) - limit_bytes if len(fenced.encode()) > frame else 0
        return fenced
    return fence(text, source=source, dated=dated)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
