"""raw_memories.md: all raw memories one after the other, written by machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.lines import iso, one_line, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.consolidate import Stored

ENTRY_CHARS = 10_000
TRUNCATED = "\n\n[truncated]"


def raw_memories(stored: Sequence[Stored]) -> str:
    """A ``## Session`` section a row, ascending by session id, each raw memory at most 10,000 characters."""
    parts = ["# Raw Memories\n"]
    if not stored:
        return "# Raw Memories\n\nNo raw memories yet.\n"
    parts.append("Merged raw memories (stable ascending session-id order):\n")
    for row in sorted(stored, key=lambda row: (row.session.id, row.session.host)):
        raw = row.extraction.raw.strip()
        if len(raw) > ENTRY_CHARS:
            raw = raw[:ENTRY_CHARS] + TRUNCATED
        parts.append(
            f"## Session `{one_line(row.session.id, 100)}`\n"
            f"updated_at: {iso(row.session.updated_at_ms)}\n"
            f"cwd: {place(row.session.cwd)}\n"
            f"rollout_summary_file: {one_line(row.recap_file, 300)}\n\n"
            f"{raw}\n"
        )
    return "\n".join(parts)
