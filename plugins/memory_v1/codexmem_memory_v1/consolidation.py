"""Consolidation without a model: both files from the digest, with the user's own text kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.document import Section
from codexmem_hookspecs.memory_files.rewriting import File, rewritten
from codexmem_hookspecs.memory_files.summary_format import LIMIT_BYTES, PATH

from codexmem_memory_v1.handbook import complete, handbook
from codexmem_memory_v1.summary import summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.services import Workspace
    from codexmem_hookspecs.values.consolidate import Digest, Stored


def offline(workspace: Workspace, stored: Sequence[Stored], digest: Digest) -> Mapping[str, str]:
    """The files that change, whole.

    memory_summary.md stays within 10,000 bytes: what the user wrote into it counts first and is never cut, ours gets
    the rest.
    """
    return rewritten(
        workspace,
        (
            File(path="MEMORY.md", build=partial(_handbook, stored, digest), complete=complete),
            File(path=PATH, build=lambda used: summary(stored, digest, max(0, LIMIT_BYTES - used))),
        ),
    )


def _handbook(stored: Sequence[Stored], digest: Digest, used: int) -> list[Section]:
    sections = handbook(stored, digest)
    # A file in which the user wrote something does not say that there is nothing.
    return sections if len(sections) > 1 or used else [Section(0, "", ["Nothing is remembered yet."])]
