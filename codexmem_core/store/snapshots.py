"""What ``status`` shows of the jobs: each state by its own name, and nothing queued or given back as a success."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from codexmem_core.store.part import StorePart
from codexmem_core.store.rules import CONSOLIDATION, EXTRACTION, GLOBAL, seconds, session_key
from codexmem_core.store.values import (
    Attempt,
    ConsolidationSnapshot,
    ExtractionError,
    ExtractionSnapshot,
    JobState,
    Key,
    Success,
)
from codexmem_core.store.workers import owner_is_dead

_RECENT = 5
_ORDER = ("due", "backoff", "provider_capacity", "other_exhausted")


class Snapshots(StorePart):
    """Reads only."""

    def unfinished(self) -> list[JobState]:
        """Every job that is not done, extractions by session, then the consolidation."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT kind, job_key, status, retry_at, lease_until, retry_remaining, last_error, failure, worker_id"
                " FROM memory_jobs WHERE status <> 'done' ORDER BY kind DESC, job_key"
            ).fetchall()
        return [
            JobState(
                kind=kind,
                key=Key("", GLOBAL) if kind == CONSOLIDATION else session_key(job),
                status=status,
                retry_at=retry_at or 0,
                lease_until=lease_until or 0,
                retries_left=retries,
                error=error or "",
                failure=failure or "",
                worker=worker or "",
            )
            for kind, job, status, retry_at, lease_until, retries, error, failure, worker in rows
        ]

    def progress(self) -> int:
        """The most sessions that one consolidation covered."""
        with self._database.unit():
            row = self._database.execute("SELECT max_thread_count FROM consolidation_progress").fetchone()
        return int(row[0]) if row else 0

    def extraction_snapshot(self, *, stale_before_s: int = 0) -> ExtractionSnapshot:
        """Extractions by state. Those exhausted before ``stale_before_s`` (UNIX seconds) are only counted."""
        now = seconds(self._clock)
        with self._database.reading():
            by_status = dict(
                self._database.execute(
                    "SELECT status, count(*) FROM memory_jobs WHERE kind = ? GROUP BY status", (EXTRACTION,)
                ).fetchall()
            )
            rows = self._database.execute(
                "SELECT job_key, status, retry_at, lease_until, retry_remaining, last_error, failure, finished_at,"
                " worker_id"
                " FROM memory_jobs WHERE kind = ? AND status <> 'done' ORDER BY finished_at DESC, job_key",
                (EXTRACTION,),
            ).fetchall()
            outputs = self._database.execute("SELECT count(*) FROM memory_stage1_outputs").fetchone()[0]
        stalled = stale = 0
        failures: Counter[str] = Counter()
        errors: list[ExtractionError] = []
        for job, status, retry_at, lease_until, retries, error, failure, finished_at, worker in rows:
            if status == "running":
                stalled += not _goes_on(lease_until, worker, now)
                continue
            state = _state(status, retry_at, retries, failure, now)
            if state is None:
                continue
            if state == "other_exhausted" and (finished_at or 0) < stale_before_s:
                stale += 1
                continue
            failures[state] += 1
            if error:
                errors.append(ExtractionError(key=session_key(job), state=state, error=error, retry_at=retry_at or 0))
        errors.sort(key=lambda found: _ORDER.index(found.state))
        return ExtractionSnapshot(
            by_status=by_status,
            stalled=stalled,
            failures=dict(failures),
            stale_exhausted=stale,
            recent_errors=tuple(errors[:_RECENT]),
            outputs=int(outputs),
        )

    def consolidation_snapshot(self) -> ConsolidationSnapshot:
        """The consolidation job, its last attempt and its last success apart."""
        now = seconds(self._clock)
        with self._database.reading():
            row = self._database.execute(
                "SELECT status, started_at, finished_at, succeeded_at, lease_until, retry_at, last_error, failure,"
                " worker_id, last_success_watermark FROM memory_jobs WHERE kind = ? AND job_key = ?",
                (CONSOLIDATION, GLOBAL),
            ).fetchone()
            covered = self.progress()
        if row is None:
            return ConsolidationSnapshot(
                status="none", attempt=None, success=None, retry_at=0, lease_until=0, worker="", covered=covered
            )
        status, _, _, succeeded_at, lease_until, retry_at, _, _, worker, watermark = row
        success = None
        if succeeded_at is not None:
            success = Success(finished_at=succeeded_at, watermark_ms=watermark or 0)
        return ConsolidationSnapshot(
            status=status,
            attempt=_attempt(row, now),
            success=success,
            retry_at=retry_at or 0,
            lease_until=lease_until or 0,
            worker=worker or "",
            covered=covered,
        )


def _state(
    status: str, retry_at: int | None, retries: int, failure: str | None, now: int
) -> Literal["due", "backoff", "provider_capacity", "other_exhausted"] | None:
    if status == "failed" or retries <= 0:
        return "other_exhausted"
    if failure == "capacity":
        return "provider_capacity"
    if retry_at is None:
        return None  # waits for its first attempt, or was given back: no failure
    return "backoff" if retry_at > now else "due"


def _goes_on(lease_until: int | None, worker: str | None, now: int) -> bool:
    """Whether a running job has an owner: its lease holds, and its process, where one can tell, is there."""
    return lease_until is not None and lease_until > now and not (worker and owner_is_dead(worker))


def _attempt(row: tuple[Any, ...], now: int) -> Attempt | None:
    status, started_at, finished_at, succeeded_at, lease_until, _, error, failure, worker, _ = row
    if started_at is None:
        return None
    outcome: Literal["running", "stalled", "succeeded", "failed", "released"]
    if status == "running":
        outcome = "running" if _goes_on(lease_until, worker, now) else "stalled"
    elif failure == "released":
        outcome = "released"
    elif failure is None and succeeded_at is not None and finished_at == succeeded_at:
        outcome = "succeeded"
    else:
        outcome = "failed"
    return Attempt(started_at=started_at, finished_at=finished_at or 0, outcome=outcome, error=error or "")
