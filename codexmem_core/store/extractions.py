"""Extraction jobs: claimed in batches by many processes, finished only by whoever holds the claim."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from codexmem_core.store.part import StorePart
from codexmem_core.store.queueing import enqueue_consolidation
from codexmem_core.store.rules import (
    CAP_REACHED,
    EXTRACTION,
    LEASE_S,
    LIMIT_REACHED,
    RETRIES,
    RETRIES_EXHAUSTED,
    RETRY_S,
    RUNNING_ELSEWHERE,
    UP_TO_DATE,
    at_iso,
    error_text,
    job_key,
    seconds,
)
from codexmem_core.store.values import Candidate, Claim, ClaimResult, Key, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

_STATE = "status, lease_until, retry_at, retry_remaining, input_watermark, last_success_watermark"
_PAGE = 200
"""Candidates whose states are read at once, outside of the write transaction."""

_CLAIM = """
INSERT INTO memory_jobs (kind, job_key, status, worker_id, ownership_token, started_at, lease_until, retry_remaining,
    input_watermark)
VALUES (?, ?, 'running', ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, job_key) DO UPDATE SET
    status = 'running', worker_id = excluded.worker_id, ownership_token = excluded.ownership_token,
    started_at = excluded.started_at, lease_until = excluded.lease_until,
    finished_at = NULL, retry_at = NULL, last_error = NULL, failure = NULL,
    retry_remaining = CASE WHEN excluded.input_watermark > coalesce(memory_jobs.input_watermark, -1)
        THEN excluded.retry_remaining ELSE memory_jobs.retry_remaining END,
    input_watermark = excluded.input_watermark"""

_STORE = """
INSERT INTO memory_stage1_outputs (host, session_id, locator, source_updated_at, raw_memory, rollout_summary,
    rollout_slug, cwd, extra, generated_at, retained_from)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (host, session_id) DO UPDATE SET
    locator = excluded.locator, source_updated_at = excluded.source_updated_at, raw_memory = excluded.raw_memory,
    rollout_summary = excluded.rollout_summary, rollout_slug = excluded.rollout_slug,
    cwd = excluded.cwd, extra = excluded.extra,
    generated_at = excluded.generated_at,
    retained_from = max(excluded.retained_from, memory_stage1_outputs.retained_from)
WHERE memory_stage1_outputs.source_updated_at <= excluded.source_updated_at"""


class Extractions(StorePart):
    """Claims and ends of extraction jobs."""

    def settled(self) -> dict[tuple[str, str], int]:
        """(host, id) → watermark (UNIX milliseconds) up to which the session is extracted; one pass over the jobs."""
        with self._database.unit():
            rows = self._database.execute(
                "SELECT substr(job_key, 1, instr(job_key, ':') - 1), substr(job_key, instr(job_key, ':') + 1),"
                " last_success_watermark FROM memory_jobs WHERE kind = ? AND last_success_watermark IS NOT NULL",
                (EXTRACTION,),
            )
            return {(host, session): watermark for host, session, watermark in rows}

    def behind(self, catalogue: str, *, since_ms: int = 0, host: str = "") -> list[Key]:
        """Sessions of the catalogue file whose last activity this memory has not extracted.

        One statement over both files, because most passes find ten thousand sessions and nothing to do. Only read; no
        transaction spans the files.
        """
        with self._database.unit():
            self._database.execute("ATTACH ? AS catalogue", (f"file:{quote(catalogue)}?mode=ro",))
            try:
                rows = self._database.execute(
                    "SELECT s.host, s.id FROM catalogue.sessions AS s LEFT JOIN memory_jobs AS j"
                    " ON j.kind = ? AND j.job_key = s.host || ':' || s.id"
                    " WHERE s.updated_at_ms >= ? AND ? IN ('', s.host)"
                    " AND coalesce(j.last_success_watermark, -1) < s.updated_at_ms",
                    (EXTRACTION, since_ms, host),
                ).fetchall()
            finally:
                self._database.execute("DETACH catalogue")
            return [Key(*row) for row in rows]

    def claim_extractions(
        self, candidates: Sequence[Candidate], *, limit: int, running_cap: int, worker: str
    ) -> ClaimResult:
        """Claim at most ``limit`` candidates in their order, a batch a transaction.

        Candidates are looked at until the limit or the cap is reached; pass ``rest`` to the next call. A limit of 0
        claims nothing and says of every candidate why.

        ``running_cap`` (at least 1) bounds the extractions of this memory that run at once in all processes. A claim
        holds for 3,600 s; a lapsed one is taken over without costing a retry. Activity that is newer than the last
        attempt resets retries and backoff.
        """
        now = seconds(self._clock)
        claims: list[Claim] = []
        refused: dict[Key, str] = {}
        rest: list[Candidate] = []
        looked_at = 0
        with self._database.unit():
            while looked_at < len(candidates) and not rest and CAP_REACHED not in refused.values():
                page = candidates[looked_at : looked_at + _PAGE]
                looked_at += len(page)
                states = self._states(page)
                hopeful = []
                for candidate in page:
                    reason = _refusal(candidate, states.get(job_key(candidate.key)), now)
                    if reason or limit <= 0:
                        refused[candidate.key] = reason or LIMIT_REACHED
                    else:
                        hopeful.append(candidate)
                if hopeful:
                    with self._database.transaction("claim"):
                        rest += self._claim(
                            hopeful, claims, refused, now, limit=limit, cap=max(1, running_cap), worker=worker
                        )
        return ClaimResult(claims=tuple(claims), refused=refused, rest=(*rest, *candidates[looked_at:]))

    def finish_extraction(self, claim: Claim, output: Output) -> bool:
        """Store the output and ask for consolidation. False, and nothing written, when the claim was lost.

        A stored output of a strictly newer state of the session stays; usage and selection always stay.
        """
        with self._database.transaction("extraction"):
            if not self._succeed(claim):
                return False
            now_ms = self._clock.now_ms()
            stored = self._database.execute(
                _STORE,
                (
                    *claim.key,
                    output.locator,
                    claim.watermark_ms,
                    output.raw_memory,
                    output.rollout_summary,
                    output.rollout_slug,
                    output.cwd,
                    json.dumps(dict(output.extra), ensure_ascii=False, sort_keys=True),
                    now_ms,
                    output.retained_from_ms,
                ),
            ).rowcount
            if stored:
                self._store_findings(claim, output.findings)
            enqueue_consolidation(self._database, claim.watermark_ms)
            return True

    def finish_empty(self, claim: Claim) -> bool:
        """The session held nothing worth keeping: an earlier output goes, and only then consolidation is asked for."""
        with self._database.transaction("extraction"):
            if not self._succeed(claim):
                return False
            removed = self._database.execute(
                "DELETE FROM memory_stage1_outputs WHERE host = ? AND session_id = ?", claim.key
            ).rowcount
            self._store_findings(claim, None)
            if removed:
                enqueue_consolidation(self._database, claim.watermark_ms)
            return True

    def fail_extraction(
        self, claim: Claim, error: object, *, capacity: bool = False, terminal: bool = False, retry_s: int = RETRY_S
    ) -> bool:
        """Wait ``retry_s`` before the next attempt. A lack of the provider's capacity costs no retry.

        ``terminal``: trying this state of the session again would end the same; only newer activity opens the job.
        """
        with self._database.transaction("extraction"):
            return bool(
                self._database.execute(
                    "UPDATE memory_jobs SET"
                    " status = CASE WHEN ?1 OR (retry_remaining > 1 AND NOT ?8) THEN 'pending' ELSE 'failed' END,"
                    " retry_remaining = CASE WHEN ?1 THEN retry_remaining WHEN ?8 THEN 0"
                    " ELSE max(0, retry_remaining - 1) END,"
                    " failure = CASE WHEN ?1 THEN 'capacity' ELSE 'error' END,"
                    " last_error = ?2, finished_at = ?3, retry_at = ?3 + ?4, lease_until = NULL, ownership_token = NULL"
                    " WHERE kind = ?5 AND job_key = ?6 AND status = 'running' AND ownership_token = ?7",
                    (
                        int(capacity),
                        error_text(error),
                        seconds(self._clock),
                        retry_s,
                        EXTRACTION,
                        job_key(claim.key),
                        claim.token,
                        int(terminal),
                    ),
                ).rowcount
            )

    def release_extraction(self, claim: Claim, reason: str) -> bool:
        """Give the claim back unfinished: no backoff, no retry spent."""
        with self._database.transaction("extraction"):
            return bool(
                self._database.execute(
                    "UPDATE memory_jobs SET status = 'pending', failure = 'released', last_error = ?,"
                    " finished_at = NULL, retry_at = NULL, lease_until = NULL, ownership_token = NULL"
                    " WHERE kind = ? AND job_key = ? AND status = 'running' AND ownership_token = ?",
                    (error_text(reason), EXTRACTION, job_key(claim.key), claim.token),
                ).rowcount
            )

    def fail_claims_of(self, worker: str, error: object, *, retry_s: int = RETRY_S) -> int:
        """Fail everything that a worker still holds, of both kinds: it hung or broke. Returns how many."""
        now = seconds(self._clock)
        with self._database.transaction("extraction"):
            return self._database.execute(
                "UPDATE memory_jobs SET status = CASE WHEN retry_remaining > 1 AND kind = ?1 THEN 'pending' ELSE"
                " 'failed' END, retry_remaining = max(0, retry_remaining - 1), failure = 'error', last_error = ?2,"
                " finished_at = ?3, retry_at = ?3 + ?4, lease_until = NULL, ownership_token = NULL"
                " WHERE status = 'running' AND worker_id = ?5",
                (EXTRACTION, error_text(error), now, retry_s, worker),
            ).rowcount

    def release_claims_of(self, worker: str, reason: str) -> int:
        """Give back everything that a worker still holds, of both kinds, untouched. Returns how many."""
        with self._database.transaction("extraction"):
            return self._database.execute(
                "UPDATE memory_jobs SET status = 'pending', failure = 'released', last_error = ?, finished_at = NULL,"
                " retry_at = NULL, lease_until = NULL, ownership_token = NULL"
                " WHERE status = 'running' AND worker_id = ?",
                (error_text(reason), worker),
            ).rowcount

    def _claim(
        self,
        hopeful: Sequence[Candidate],
        claims: list[Claim],
        refused: dict[Key, str],
        now: int,
        *,
        limit: int,
        cap: int,
        worker: str,
    ) -> Sequence[Candidate]:
        """Add to claims and refused; returns those that the limit left."""
        running = self._running(now)
        for number, candidate in enumerate(hopeful):
            if len(claims) >= limit:
                return hopeful[number:]
            if running >= cap:
                refused[candidate.key] = CAP_REACHED
                continue
            key = job_key(candidate.key)
            # Others may have come first since the states were read outside of the transaction.
            state = self._database.execute(
                f"SELECT {_STATE} FROM memory_jobs WHERE kind = ? AND job_key = ?",  # noqa: S608 - a constant
                (EXTRACTION, key),
            ).fetchone()
            reason = _refusal(candidate, state, now)
            if reason:
                refused[candidate.key] = reason
                continue
            token = str(uuid.uuid4())
            self._database.execute(
                _CLAIM, (EXTRACTION, key, worker, token, now, now + LEASE_S, RETRIES, candidate.watermark_ms)
            )
            claims.append(Claim(host=candidate.host, id=candidate.id, token=token, watermark_ms=candidate.watermark_ms))
            running += 1
        return ()

    def _running(self, now: int) -> int:
        return int(
            self._database.execute(
                "SELECT count(*) FROM memory_jobs WHERE kind = ? AND status = 'running'"
                " AND (lease_until IS NULL OR lease_until > ?)",
                (EXTRACTION, now),
            ).fetchone()[0]
        )

    def _states(self, page: Sequence[Candidate]) -> dict[str, tuple[Any, ...]]:
        rows = self._database.execute(
            f"SELECT job_key, {_STATE} FROM memory_jobs"  # noqa: S608 - a constant and marks
            f" WHERE kind = ? AND job_key IN ({', '.join('?' * len(page))})",
            (EXTRACTION, *(job_key(candidate.key) for candidate in page)),
        )
        return {row[0]: row[1:] for row in rows}

    def _succeed(self, claim: Claim) -> bool:
        now = seconds(self._clock)
        return bool(
            self._database.execute(
                "UPDATE memory_jobs SET status = 'done', finished_at = ?1, succeeded_at = ?1, lease_until = NULL,"
                " retry_at = NULL, last_error = NULL, failure = NULL, ownership_token = NULL,"
                " last_success_watermark = ?2"
                " WHERE kind = ?3 AND job_key = ?4 AND status = 'running' AND ownership_token = ?5",
                (now, claim.watermark_ms, EXTRACTION, job_key(claim.key), claim.token),
            ).rowcount
        )

    def _store_findings(self, claim: Claim, findings: bytes | None) -> None:
        if findings is None:
            self._database.execute("DELETE FROM memory_findings WHERE host = ? AND session_id = ?", claim.key)
        else:
            self._database.execute(
                "INSERT OR REPLACE INTO memory_findings (host, session_id, source_updated_at, findings)"
                " VALUES (?, ?, ?, ?)",
                (*claim.key, claim.watermark_ms, findings),
            )


def _refusal(candidate: Candidate, state: tuple[Any, ...] | None, now: int) -> str:
    """Why the candidate cannot be claimed, or empty."""
    if state is None:
        return ""
    status, lease_until, retry_at, retries, attempted, succeeded = state
    if status == "running" and lease_until is not None and lease_until > now:
        return RUNNING_ELSEWHERE
    if succeeded is not None and succeeded >= candidate.watermark_ms:
        return UP_TO_DATE
    newer = attempted is None or candidate.watermark_ms > attempted
    if retries <= 0 and not newer:
        return RETRIES_EXHAUSTED
    waits = retry_at is not None and retry_at > now and not newer
    return f"retry at {at_iso(retry_at)}" if waits else ""
