"""memory_summary.md, the one file of this memory, made without a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files import summary as summary_file
from codexmem_hookspecs.memory_files.contents import Entry
from codexmem_hookspecs.memory_files.findings import blocks, title
from codexmem_hookspecs.memory_files.lines import day, one_line, place, recap
from codexmem_hookspecs.memory_files.rewriting import File, rewritten
from codexmem_hookspecs.memory_files.rows import bullets, first_heading
from codexmem_hookspecs.memory_files.summary_format import PATH

from codexmem_memory_v2.check import MOST_BYTES
from codexmem_memory_v2.recap import STATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.memory_files.document import Section
    from codexmem_hookspecs.services import Workspace
    from codexmem_hookspecs.values.consolidate import Digest, Stored


def offline(workspace: Workspace, stored: Sequence[Stored], digest: Digest) -> Mapping[str, str]:
    """The files that change. What the user wrote counts first and is never cut, ours gets the rest of the bytes."""
    return rewritten(
        workspace, [File(path=PATH, build=lambda used: _summary(stored, digest, max(0, MOST_BYTES - used)))]
    )


def _summary(stored: Sequence[Stored], digest: Digest, limit: int) -> list[Section]:
    ordered = sorted(stored, key=_weight, reverse=True)
    return summary_file.summary(
        stored,
        digest,
        [
            Entry(place=place(row.session.cwd), day=day(row.session.updated_at_ms), lines=partial(_lines, row))
            for row in ordered
        ],
        limit,
        signals=lambda row: bullets(row.extraction.summary, (STATED,)).get(STATED, ()),
        others="the recaps",
        rest="sessions, each with its recap in rollout_summaries/",
    )


def _weight(row: Stored) -> tuple[int, int, str, str]:
    """Last active or used, then how often used: what comes first is folded last."""
    return (max(row.session.updated_at_ms, row.last_usage_ms), row.usage_count, row.session.host, row.session.id)


def _lines(row: Stored, full: bool) -> list[str]:  # noqa: FBT001 - Entry's signature
    """The session with its exact recap and id; in full with what else leads to the work."""
    found = blocks(row.findings) if row.findings is not None else []
    about = title(found) if found else first_heading(row.extraction.summary) or row.extraction.slug or "a session"
    lines = [f"- {recap(row)} — {one_line(about, 120)}; session_id={one_line(row.session.id, 100)}"]
    if full and found and row.findings is not None:
        lines.append(f"  - state: {found[-1].outcome}")
        if row.findings.files:
            lines.append(f"  - files: {one_line(', '.join(row.findings.files[:4]), 160)}")
    return lines
