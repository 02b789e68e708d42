"""Rows of the memory as the stages of consolidation see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Extraction, Findings

from codexmem_core.consolidate.recaps import recap_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_core.store.values import StoredOutput


def stored_rows(rows: Sequence[StoredOutput]) -> list[Stored]:
    """In ascending order of session, so that files keep their order from run to run."""
    rows = sorted(rows, key=lambda row: (row.id, row.host))
    names = recap_files((row.id, row.source_updated_at, row.rollout_slug) for row in rows)
    return [
        Stored(
            session=Session(
                host=row.host, id=row.id, locator=row.locator, cwd=row.cwd, updated_at_ms=row.source_updated_at
            ),
            extraction=Extraction(
                summary=row.rollout_summary, raw=row.raw_memory, slug=row.rollout_slug, extra=row.extra
            ),
            recap_file=name,
            findings=None if row.findings is None else msgspec.json.decode(row.findings, type=Findings),
            usage_count=row.usage_count,
            last_usage_ms=row.last_usage,
        )
        for row, name in zip(rows, names, strict=True)
    ]
