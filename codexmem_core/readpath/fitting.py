"""Fenced text within a limit of bytes; what is over it is cut in the middle, here and not by a host."""

from __future__ import annotations

from codexmem_hookspecs.cuts import cut_bytes

from codexmem_core.safety.fence import fence

SHORTEST_BYTES = 200
"""Less of a longer text is not worth its fence."""


def fenced_within(text: str, *, source: str, dated: str, limit_bytes: int) -> str:
    """``text`` in its fence, at most so long (0: no limit); empty when there is no room for a good piece of it."""
    fenced = fence(text, source=source, dated=dated)
    if not limit_bytes:
        return fenced
    while (over := len(fenced.encode()) - limit_bytes) > 0:
        # Neutralised fences inside may be longer than what stood there, so the cut is checked on the whole.
        left = len(text.encode()) - over
        if left < SHORTEST_BYTES:
            return ""
        text = cut_bytes(text, left)
        fenced = fence(text, source=source, dated=dated)
    return fenced
