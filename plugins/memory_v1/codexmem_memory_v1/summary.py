"""memory_summary.md without a model: its last section lists the topics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files import summary as summary_file
from codexmem_hookspecs.memory_files.contents import Entry
from codexmem_hookspecs.memory_files.lines import one_line, place, recap

from codexmem_memory_v1.lines import keywords
from codexmem_memory_v1.topics import Topic, topics, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.memory_files.document import Section
    from codexmem_hookspecs.values.consolidate import Digest, Stored


def summary(stored: Sequence[Stored], digest: Digest, limit: int) -> list[Section]:
    """Sections of memory_summary.md, at most ``limit`` bytes of UTF-8 when rendered.

    The oldest and least used topics lose their learnings first, then their descriptions.
    """
    found = topics(stored, digest)
    return summary_file.summary(
        stored,
        digest,
        [Entry(place=place(topic.cwd), day=topic.day, lines=partial(_lines, topic)) for topic in found],
        limit,
        signals=lambda row: written(row).groups.get("Preference signals", ()),
        others="MEMORY.md",
        rest="topics, search MEMORY.md",
    )


def _lines(topic: Topic, learnings: bool) -> list[str]:  # noqa: FBT001 - Entry's signature
    newest = topic.rows[0]
    more = f" and {len(topic.rows) - 1} more" if len(topic.rows) > 1 else ""
    lines = [
        f"- {one_line(topic.name, 80)}: {keywords(topic.words, 5) or 'session'}",
        f"  - desc: {topic.outcome}, {topic.day}, {recap(newest)}{more}, session_id={one_line(newest.session.id, 60)}",
    ]
    learned = [*topic.learnings[:1], *([f"steps: {'; '.join(topic.steps[-2:])}"] if topic.steps else [])]
    if learnings and learned:
        lines.append(f"  - learnings: {one_line(learned[0], 160)}")
    return lines
