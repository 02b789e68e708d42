"""What forgetting does in one memory's database: it takes the consolidation over, and changes rows in place."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_core.store.part import StorePart
from codexmem_core.store.rules import CONSOLIDATION, GLOBAL, LEASE_S, RETRIES, seconds
from codexmem_core.store.values import ConsolidationClaim, Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_core.store.values import StoredOutput

_STATE = "status, worker_id, started_at, finished_at, retry_at, last_error, failure, input_watermark"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingClaim:
    """The consolidation job while something is forgotten, and how it was before."""

    token: str
    before: tuple[Any, ...] | None
    """None: there was no job."""


class Forgettings(StorePart):
    """The part of Jobs that forgetting needs."""

    def claim_for_forgetting(self, worker: str) -> ForgettingClaim | None:
        """Keep consolidation away, whatever it waits for; None while one runs."""
        now, token = seconds(self._clock), str(uuid.uuid4())
        with self._database.transaction("consolidation"):
            row = self._database.execute(
                f"SELECT {_STATE}, lease_until FROM memory_jobs WHERE kind = ? AND job_key = ?",  # noqa: S608 - a constant
                (CONSOLIDATION, GLOBAL),
            ).fetchone()
            if row is not None and row[0] == "running" and row[-1] is not None and row[-1] > now:
                return None
            self._database.execute(
                "INSERT INTO memory_jobs (kind, job_key, status, worker_id, ownership_token, started_at, lease_until,"
                " retry_remaining, input_watermark, last_success_watermark)"
                " VALUES (?, ?, 'running', ?, ?, ?, ?, ?, 0, 0)"
                " ON CONFLICT (kind, job_key) DO UPDATE SET status = 'running', worker_id = excluded.worker_id,"
                " ownership_token = excluded.ownership_token, started_at = excluded.started_at,"
                " lease_until = excluded.lease_until",
                (CONSOLIDATION, GLOBAL, worker, token, now, now + LEASE_S, RETRIES),
            )
        return ForgettingClaim(token=token, before=None if row is None else row[:-1])

    def as_consolidation(self, claim: ForgettingClaim) -> ConsolidationClaim:
        """The same claim, for a consolidation that takes in everything that there is now."""
        with self._database.unit():
            row = self._database.execute(
                "SELECT input_watermark FROM memory_jobs WHERE kind = ? AND job_key = ? AND ownership_token = ?",
                (CONSOLIDATION, GLOBAL, claim.token),
            ).fetchone()
        return ConsolidationClaim(token=claim.token, watermark_ms=(row[0] or 0) if row else 0)

    def end_forgetting(self, claim: ForgettingClaim) -> None:
        """Let the job be as it was before, or queued when something asked for it meanwhile."""
        mine = (CONSOLIDATION, GLOBAL, claim.token)
        before = claim.before
        with self._database.transaction("consolidation"):
            if before is None:
                self._database.execute(
                    "DELETE FROM memory_jobs WHERE kind = ? AND job_key = ? AND ownership_token = ?"
                    " AND coalesce(input_watermark, 0) = 0",
                    mine,
                )
                before = ("pending", None, None, None, None, None, None, -1)
            status, *rest, watermark = before
            status = "pending" if status == "running" else status
            self._database.execute(
                "UPDATE memory_jobs SET status = CASE WHEN coalesce(input_watermark, 0) > ? THEN 'pending' ELSE ? END,"
                " worker_id = ?, started_at = ?, finished_at = ?, retry_at = ?, last_error = ?, failure = ?,"
                " lease_until = NULL, ownership_token = NULL"
                " WHERE kind = ? AND job_key = ? AND ownership_token = ?",
                (watermark or 0, status, *rest, *mine),
            )

    def keys_of(self, ids: Iterable[str]) -> list[Key]:
        """Stored sessions with these ids, of whatever host, in the order of the ids."""
        with self._database.unit():
            return [
                Key(host, session)
                for session in ids
                for (host,) in self._database.execute(
                    "SELECT host FROM memory_stage1_outputs WHERE session_id = ? ORDER BY host", (session,)
                ).fetchall()
            ]

    def stored_keys(self) -> list[Key]:
        """All sessions of which the memory holds something."""
        with self._database.unit():
            return [Key(*row) for row in self._database.execute("SELECT host, session_id FROM memory_stage1_outputs")]

    def replace_output(self, row: StoredOutput) -> bool:
        """Let a row hold other words; what was counted, and the jobs, stay. False when it is gone or newer by now."""
        with self._database.transaction("forget"):
            done = self._database.execute(
                "UPDATE memory_stage1_outputs SET raw_memory = ?, rollout_summary = ?, rollout_slug = ?, cwd = ?,"
                " locator = ?, extra = ? WHERE host = ? AND session_id = ? AND source_updated_at = ?",
                (
                    row.raw_memory,
                    row.rollout_summary,
                    row.rollout_slug,
                    row.cwd,
                    row.locator,
                    json.dumps(dict(row.extra), ensure_ascii=False, sort_keys=True),
                    *row.key,
                    row.source_updated_at,
                ),
            ).rowcount
            if done and row.findings is not None:
                self._database.execute(
                    "UPDATE memory_findings SET findings = ? WHERE host = ? AND session_id = ?",
                    (row.findings, *row.key),
                )
            return bool(done)

    def remove_output(self, key: Key) -> None:
        """Delete a row of which nothing is left; its job stays, so that the session comes back only when it changes."""
        with self._database.transaction("forget"):
            for table in ("memory_stage1_outputs", "memory_findings"):
                self._database.execute(f"DELETE FROM {table} WHERE host = ? AND session_id = ?", key)  # noqa: S608
