"""The memory's one consolidation job: one owner at a time, a heartbeat, and a success that only the owner can state."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Protocol

from codexmem_core.store.part import StorePart
from codexmem_core.store.queueing import enqueue_consolidation
from codexmem_core.store.rules import (
    CONSOLIDATION,
    EXTRACTION,
    FRESH_S,
    GLOBAL,
    LEASE_S,
    RETRIES,
    RETRY_S,
    error_text,
    seconds,
)
from codexmem_core.store.values import ConsolidationClaim, ConsolidationRefusal
from codexmem_core.store.workers import owner_is_dead

if TYPE_CHECKING:
    from collections.abc import Iterable


class Consumed(Protocol):
    """A row that a consolidation used: StoredOutput is one."""

    @property
    def host(self) -> str:
        """Of the session."""
        ...

    @property
    def id(self) -> str:
        """Of the session."""
        ...

    @property
    def source_updated_at(self) -> int:
        """The state of the session that was used, UNIX milliseconds."""
        ...


class Consolidations(StorePart):
    """Claim and end of the consolidation job, and what dead owners left."""

    def enqueue_consolidation(self, watermark_ms: int) -> None:
        """Ask for a consolidation that takes in what is newer than the last."""
        with self._database.transaction("enqueue"):
            enqueue_consolidation(self._database, watermark_ms)

    def claim_consolidation(
        self, *, worker: str, cooldown_s: int = 0, at_once: bool = False
    ) -> ConsolidationClaim | ConsolidationRefusal:
        """Become the owner for 3,600 s, or why not.

        The cooldown counts from a clean success and also holds back work that was queued since; a failed or released
        run causes none. A failed run is tried again after its wait, however often it failed (Codex 0.171). ``at_once``:
        the user asks for it, and waits for neither.
        """
        now, token = seconds(self._clock), str(uuid.uuid4())
        with self._database.transaction("consolidation"):
            row = self._job()
            if row is None:
                self._database.execute(
                    "INSERT INTO memory_jobs (kind, job_key, status, worker_id, ownership_token, started_at,"
                    " lease_until, retry_remaining, input_watermark, last_success_watermark)"
                    " VALUES (?, ?, 'running', ?, ?, ?, ?, ?, 0, 0)",
                    (CONSOLIDATION, GLOBAL, worker, token, now, now + LEASE_S, RETRIES),
                )
                return ConsolidationClaim(token=token, watermark_ms=0)
            status, lease_until, retry_at, finished_at, last_error, watermark = row
            if status == "running" and lease_until is not None and lease_until > now:
                return "skipped_running"
            rested = last_error is not None or finished_at is None or finished_at + cooldown_s <= now
            if not (rested or at_once):
                return "skipped_cooldown"
            if retry_at is not None and retry_at > now and not at_once:
                return "skipped_retry_unavailable"
            self._database.execute(
                "UPDATE memory_jobs SET status = 'running', worker_id = ?, ownership_token = ?, started_at = ?,"
                " lease_until = ?, finished_at = NULL, retry_at = NULL, last_error = NULL, failure = NULL"
                " WHERE kind = ? AND job_key = ?",
                (worker, token, now, now + LEASE_S, CONSOLIDATION, GLOBAL),
            )
            return ConsolidationClaim(token=token, watermark_ms=watermark or 0)

    def consolidation_waits(self) -> bool:
        """Whether it is queued: there is input that no success has taken in, and nobody is at it."""
        with self._database.unit():
            row = self._job()
        return row is not None and row[0] == "pending"

    def heartbeat(self, token: str) -> bool:
        """Renew the lease, every 90 s. False when another owner has taken over: stop at once."""
        with self._database.transaction("heartbeat"):
            return bool(
                self._database.execute(
                    "UPDATE memory_jobs SET lease_until = ?"
                    " WHERE kind = ? AND job_key = ? AND status = 'running' AND ownership_token = ?",
                    (seconds(self._clock) + LEASE_S, CONSOLIDATION, GLOBAL, token),
                ).rowcount
            )

    def finish_consolidation(self, claim: ConsolidationClaim, selected: Iterable[Consumed]) -> bool:
        """State success and which rows it used. False, and nothing written, when the claim was lost.

        When input arrived meanwhile, the job is queued again at once instead of done.
        """
        rows = list(selected)
        newest = max((row.source_updated_at for row in rows), default=0)
        with self._database.transaction("consolidation"):
            done = self._database.execute(
                "UPDATE memory_jobs SET finished_at = ?1, succeeded_at = ?1, lease_until = NULL, retry_at = NULL,"
                " last_error = NULL, failure = NULL, ownership_token = NULL, retry_remaining = ?2,"
                " status = CASE WHEN coalesce(input_watermark, 0) > ?3 THEN 'pending' ELSE 'done' END,"
                " last_success_watermark = max(coalesce(last_success_watermark, 0), ?4)"
                " WHERE kind = ?5 AND job_key = ?6 AND status = 'running' AND ownership_token = ?7",
                (seconds(self._clock), RETRIES, claim.watermark_ms, newest, CONSOLIDATION, GLOBAL, claim.token),
            ).rowcount
            if not done:
                return False
            self._database.execute(
                "UPDATE consolidation_progress SET max_thread_count = max(max_thread_count, ?)",
                (len({(row.host, row.id) for row in rows}),),
            )
            self._database.execute(
                "UPDATE memory_stage1_outputs SET selected_for_phase2 = 0,"
                " selected_for_phase2_source_updated_at = NULL WHERE selected_for_phase2 <> 0"
            )
            self._database.execute_many(
                "UPDATE memory_stage1_outputs SET selected_for_phase2 = 1,"
                " selected_for_phase2_source_updated_at = source_updated_at"
                " WHERE host = ? AND session_id = ? AND source_updated_at = ?",
                [(row.host, row.id, row.source_updated_at) for row in rows],
            )
            return True

    def fail_consolidation(self, claim: ConsolidationClaim, error: object, *, retry_s: int = RETRY_S) -> bool:
        """Wait ``retry_s`` before the next attempt. A running job that nobody owns is ended too; others' are not."""
        now = seconds(self._clock)
        with self._database.transaction("consolidation"):
            return bool(
                self._database.execute(
                    "UPDATE memory_jobs SET status = 'failed', retry_remaining = max(0, retry_remaining - 1),"
                    " failure = 'error', last_error = ?, finished_at = ?, retry_at = ?, lease_until = NULL,"
                    " ownership_token = NULL WHERE kind = ? AND job_key = ? AND status = 'running'"
                    " AND (ownership_token = ? OR ownership_token IS NULL)",
                    (error_text(error), now, now + retry_s, CONSOLIDATION, GLOBAL, claim.token),
                ).rowcount
            )

    def release_consolidation(self, claim: ConsolidationClaim, reason: str) -> bool:
        """Give the claim back unfinished: it can be taken at once, without a cooldown."""
        with self._database.transaction("consolidation"):
            return bool(
                self._database.execute(
                    "UPDATE memory_jobs SET status = 'pending', failure = 'released', last_error = ?,"
                    " finished_at = NULL, retry_at = NULL, lease_until = NULL, ownership_token = NULL"
                    " WHERE kind = ? AND job_key = ? AND status = 'running' AND ownership_token = ?",
                    (error_text(reason), CONSOLIDATION, GLOBAL, claim.token),
                ).rowcount
            )

    def release_orphans(self, *, fresh_s: int = FRESH_S) -> int:
        """Give back jobs of both kinds whose owner, a process of this machine, is dead; returns how many.

        A lease renewed within ``fresh_s`` seconds protects its owner. 0 trusts the process table alone, which is safe
        for names that :func:`worker_identity` made. Owners on other machines and unnamed ones are left to their lease.
        """
        latest = seconds(self._clock) + LEASE_S - fresh_s
        running = (
            "SELECT kind, job_key, worker_id, ownership_token FROM memory_jobs WHERE kind IN (?, ?)"
            " AND status = 'running' AND worker_id IS NOT NULL AND (lease_until IS NULL OR lease_until <= ?)"
        )
        with self._database.unit():
            rows: list[Any] = self._database.execute(running, (EXTRACTION, CONSOLIDATION, latest)).fetchall()
            dead = [row for row in rows if owner_is_dead(row[2])]
            if not dead:
                return 0
            with self._database.transaction("orphans"):
                return sum(self._orphaned(*row) for row in dead)

    def _orphaned(self, kind: str, job: str, worker: str, token: str | None) -> int:
        pid = worker.partition("@")[0].removeprefix("pid:")
        return self._database.execute(
            "UPDATE memory_jobs SET status = 'pending', failure = 'released', last_error = ?, finished_at = NULL,"
            " retry_at = NULL, lease_until = NULL, ownership_token = NULL"
            " WHERE kind = ? AND job_key = ? AND status = 'running' AND worker_id = ? AND ownership_token IS ?",
            (f"its owner, process {pid}, ended before it was done", kind, job, worker, token),
        ).rowcount

    def _job(self) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(
            "SELECT status, lease_until, retry_at, finished_at, last_error, input_watermark FROM memory_jobs"
            " WHERE kind = ? AND job_key = ?",
            (CONSOLIDATION, GLOBAL),
        ).fetchone()
        return row
