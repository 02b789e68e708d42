"""The one way to ask for consolidation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.store.rules import CONSOLIDATION, GLOBAL, RETRIES

if TYPE_CHECKING:
    from codexmem_core.store.database import Database


def enqueue_consolidation(database: Database, watermark_ms: int) -> None:
    """Queue the memory's one consolidation job; call it inside a transaction.

    Its watermark always advances, so that a run already going can tell that there is newer input. A failed run's wait
    is over when new input arrives; its retries are full again (Codex 0.171).
    """
    database.execute(
        "INSERT INTO memory_jobs (kind, job_key, status, retry_remaining, input_watermark, last_success_watermark)"
        " VALUES (?, ?, 'pending', ?, ?, 0)"
        " ON CONFLICT (kind, job_key) DO UPDATE SET"
        " status = CASE WHEN memory_jobs.status = 'running' THEN 'running' ELSE 'pending' END,"
        " retry_at = CASE WHEN memory_jobs.status = 'running' THEN memory_jobs.retry_at ELSE NULL END,"
        " retry_remaining = max(memory_jobs.retry_remaining, excluded.retry_remaining),"
        " input_watermark = CASE WHEN excluded.input_watermark > coalesce(memory_jobs.input_watermark, 0)"
        " THEN excluded.input_watermark ELSE coalesce(memory_jobs.input_watermark, 0) + 1 END",
        (CONSOLIDATION, GLOBAL, RETRIES, watermark_ms),
    )
