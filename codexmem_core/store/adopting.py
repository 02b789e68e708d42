"""Rows that another tool's memory made, taken over into ours. Repeating it changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.store.part import StorePart
from codexmem_core.store.queueing import enqueue_consolidation
from codexmem_core.store.rules import EXTRACTION, RETRIES, job_key, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codexmem_core.store.values import AdoptedNote, Key


class Adoptions(StorePart):
    """The part of Jobs that takes over what others extracted."""

    def adopt(self, notes: Iterable[AdoptedNote], settled: Mapping[Key, int], covered: int) -> None:
        """Store the notes, and up to where each session is read, in one transaction.

        A note of ours that is as new or newer stays; of two counts of uses the higher one counts. ``settled``: by
        session the UNIX milliseconds of its last activity that was extracted. ``covered``: the most sessions that one
        consolidation covered.
        """
        with self._database.transaction("adopt"):
            newest = 0
            for note in notes:
                newest = max(newest, self._take(note))
            for key, watermark_ms in settled.items():
                self._settle(key, watermark_ms)
            self._database.execute(
                "UPDATE consolidation_progress SET max_thread_count = max(max_thread_count, ?)", (covered,)
            )
            if newest:
                enqueue_consolidation(self._database, newest)

    def _take(self, note: AdoptedNote) -> int:
        """The note's watermark when it is stored now, else 0."""
        key = (note.host, note.id)
        row = self._database.execute(
            "SELECT source_updated_at FROM memory_stage1_outputs WHERE host = ? AND session_id = ?", key
        ).fetchone()
        taken = row is None or row[0] < note.source_updated_at
        if taken:
            self._database.execute("DELETE FROM memory_findings WHERE host = ? AND session_id = ?", key)
            self._database.execute(
                "INSERT INTO memory_stage1_outputs (host, session_id, locator, source_updated_at, raw_memory,"
                " rollout_summary, rollout_slug, cwd, extra, generated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', ?)"
                " ON CONFLICT (host, session_id) DO UPDATE SET source_updated_at = excluded.source_updated_at,"
                " raw_memory = excluded.raw_memory, rollout_summary = excluded.rollout_summary,"
                " rollout_slug = excluded.rollout_slug, extra = excluded.extra, generated_at = excluded.generated_at",
                (
                    *key,
                    note.locator,
                    note.source_updated_at,
                    note.raw_memory,
                    note.rollout_summary,
                    note.rollout_slug,
                    note.cwd,
                    note.generated_at,
                ),
            )
        self._database.execute(
            "UPDATE memory_stage1_outputs SET usage_count = max(usage_count, ?),"
            " last_usage = nullif(max(coalesce(last_usage, 0), ?), 0) WHERE host = ? AND session_id = ?",
            (note.usage_count, note.last_usage, *key),
        )
        return note.source_updated_at if taken else 0

    def _settle(self, key: Key, watermark_ms: int) -> None:
        """A job that is running, or whose session was read further here, stays as it is."""
        self._database.execute(
            "INSERT INTO memory_jobs (kind, job_key, status, finished_at, retry_remaining, input_watermark,"
            " last_success_watermark) VALUES (?1, ?2, 'done', ?3, ?4, ?5, ?5)"
            " ON CONFLICT (kind, job_key) DO UPDATE SET status = 'done', finished_at = excluded.finished_at,"
            " retry_at = NULL, retry_remaining = excluded.retry_remaining, last_error = NULL, failure = NULL,"
            " input_watermark = excluded.input_watermark, last_success_watermark = excluded.last_success_watermark"
            " WHERE memory_jobs.status <> 'running'"
            " AND coalesce(memory_jobs.last_success_watermark, -1) < excluded.last_success_watermark"
            " AND coalesce(memory_jobs.input_watermark, -1) <= excluded.input_watermark",
            (EXTRACTION, job_key(key), seconds(self._clock), RETRIES, watermark_ms),
        )
