"""Stored outputs: chosen for consolidation, counted when cited, pruned, forgotten. Times are UNIX milliseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codexmem_core.store.part import StorePart
from codexmem_core.store.queueing import enqueue_consolidation
from codexmem_core.store.rules import CONSOLIDATION, DAY_MS, EXTRACTION, GLOBAL, PRUNE_BATCH, RETRIES, job_key, seconds
from codexmem_core.store.values import Key, StoredOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

_COLUMNS = (
    "o.host, o.session_id, o.locator, o.cwd, o.source_updated_at, o.generated_at, o.raw_memory, o.rollout_summary,"
    " o.rollout_slug, o.extra, o.usage_count, o.last_usage, o.selected_for_phase2, f.findings"
)
_FROM = (
    "FROM memory_stage1_outputs AS o LEFT JOIN memory_findings AS f"
    " ON f.host = o.host AND f.session_id = o.session_id AND f.source_updated_at = o.source_updated_at"
)
_RECENCY = "max(coalesce(last_usage, source_updated_at), retained_from)"
"""What retention counts from: the last citation, else the session's last activity; later where the user chose so."""

_PAGE = 512


class Outputs(StorePart):
    """The rows of one memory."""

    def outputs(self) -> list[StoredOutput]:
        """All rows, newest session first."""
        with self._database.unit():
            rows = self._database.execute(
                f"SELECT {_COLUMNS} {_FROM} ORDER BY o.source_updated_at DESC, o.session_id DESC"
            )
            return [_stored(row) for row in rows]

    def output(self, host: str, id: str) -> StoredOutput:  # noqa: A002 - the field's name
        """Raises KeyError."""
        with self._database.unit():
            row = self._row((host, id))
        if row is None:
            raise KeyError((host, id))
        return _stored(row)

    def select_inputs(
        self, limit: int, max_unused_days: int, allowed: Callable[[Sequence[Key]], Collection[Key]]
    ) -> list[StoredOutput]:
        """What consolidation works from, best first, out of one state of the database.

        Rows that hold something and were used, or else active, within ``max_unused_days``; most used first, then most
        recent. ``allowed`` says which sessions may be remembered; it is asked in order, before anything counts
        towards the limit. The caller sorts by session where a stable order of the file matters.
        """
        if limit <= 0:
            return []
        with self._database.reading():
            ranked = [
                Key(*row)
                for row in self._database.execute(
                    "SELECT host, session_id FROM memory_stage1_outputs"  # noqa: S608 - a constant
                    " WHERE (trim(raw_memory, char(9, 10, 13, 32)) <> '' OR"
                    f" trim(rollout_summary, char(9, 10, 13, 32)) <> '') AND {_RECENCY} >= ?"
                    " ORDER BY usage_count DESC, coalesce(last_usage, source_updated_at) DESC,"
                    " source_updated_at DESC, session_id DESC, host DESC",
                    (self._cutoff(max_unused_days),),
                )
            ]
            chosen: list[Key] = []
            for start in range(0, len(ranked), _PAGE):
                page = ranked[start : start + _PAGE]
                may = set(allowed(page))
                chosen.extend(key for key in page if key in may)
                if len(chosen) >= limit:
                    break
            rows = [self._row(key) for key in chosen[:limit]]
        return [_stored(row) for row in rows if row is not None]

    def prune(self, max_unused_days: int) -> int:
        """Delete at most 200 rows that no consolidation holds and nobody used for so long, stalest first; how many.

        The jobs stay, so that a pruned session comes back only when it changes.
        """
        with self._database.transaction("prune"):
            stale = self._database.execute(
                f"SELECT host, session_id FROM memory_stage1_outputs WHERE selected_for_phase2 = 0 AND {_RECENCY} < ?"  # noqa: S608
                " ORDER BY coalesce(last_usage, source_updated_at), source_updated_at, session_id LIMIT ?",
                (self._cutoff(max_unused_days), PRUNE_BATCH),
            ).fetchall()
            for key in stale:
                self._delete(key)
        return len(stale)

    def record_usage(self, keys: Iterable[tuple[str, str]]) -> int:
        """Count a use of each session; unknown ones are ignored. Returns how many were counted."""
        with self._database.transaction("usage"):
            return sum(self._use(key) for key in dict.fromkeys(keys))

    def record_usage_once(
        self, host: str, session_id: str, message_id: str, cited: Iterable[tuple[str, str]]
    ) -> list[Key]:
        """Count citations of one assistant message, each once however often it is reported; returns those counted.

        A cited session that is not stored yet can still be counted when the message is reported again later.
        """
        keys = [Key(*key) for key in dict.fromkeys(cited) if key[1]]
        if not (session_id and message_id and keys):
            return []
        with self._database.transaction("usage"):
            counted = []
            for key in keys:
                row = (host, session_id, message_id, *key)
                new = self._database.execute(
                    "INSERT OR IGNORE INTO memory_citation_usage (host, session_id, assistant_message_id, cited_host,"
                    " cited_session_id, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
                    (*row, self._clock.now_ms()),
                ).rowcount
                if not new:
                    continue
                if self._use(key):
                    counted.append(key)
                else:
                    self._database.execute(
                        "DELETE FROM memory_citation_usage WHERE host = ? AND session_id = ?"
                        " AND assistant_message_id = ? AND cited_host = ? AND cited_session_id = ?",
                        row,
                    )
            return counted

    def delete_session(self, host: str, id: str) -> bool:  # noqa: A002 - the field's name
        """Forget a session's output and job; an extraction that is running finishes into nothing.

        True when the last consolidation had used it, so that a new one is queued to forget it there.
        """
        key = Key(host, id)
        with self._database.transaction("forget"):
            held = self._held(key)
            self._delete(key)
            self._database.execute("DELETE FROM memory_jobs WHERE kind = ? AND job_key = ?", (EXTRACTION, job_key(key)))
            if held:
                enqueue_consolidation(self._database, self._clock.now_ms())
            return held

    def requeue_if_held(self, host: str, id: str) -> bool:  # noqa: A002 - the field's name
        """Queue consolidation when the last one used the session: for a session that became polluted or disabled."""
        with self._database.transaction("enqueue"):
            held = self._held(Key(host, id))
            if held:
                enqueue_consolidation(self._database, self._clock.now_ms())
            return held

    def clear(self) -> None:
        """Delete outputs, jobs, usage and progress. A cooldown begins, so that nothing is seeded again at once."""
        with self._database.transaction("reset"):
            for table in ("memory_stage1_outputs", "memory_findings", "memory_jobs", "memory_citation_usage"):
                self._database.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
            self._database.execute("UPDATE consolidation_progress SET max_thread_count = 0")
            self._database.execute(
                "INSERT INTO memory_jobs (kind, job_key, status, finished_at, retry_remaining, input_watermark,"
                " last_success_watermark) VALUES (?, ?, 'done', ?, ?, 0, 0)",
                (CONSOLIDATION, GLOBAL, seconds(self._clock), RETRIES),
            )

    def _cutoff(self, days: int) -> int:
        return self._clock.now_ms() - days * DAY_MS

    def _row(self, key: tuple[str, str]) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(
            f"SELECT {_COLUMNS} {_FROM} WHERE o.host = ? AND o.session_id = ?",
            key,
        ).fetchone()
        return row

    def _held(self, key: Key) -> bool:
        row = self._database.execute(
            "SELECT selected_for_phase2 FROM memory_stage1_outputs WHERE host = ? AND session_id = ?", key
        ).fetchone()
        return bool(row and row[0])

    def _use(self, key: tuple[str, str]) -> int:
        return self._database.execute(
            "UPDATE memory_stage1_outputs SET usage_count = usage_count + 1, last_usage = ?"
            " WHERE host = ? AND session_id = ?",
            (self._clock.now_ms(), *key),
        ).rowcount

    def _delete(self, key: tuple[str, str]) -> None:
        for table in ("memory_stage1_outputs", "memory_findings"):
            self._database.execute(f"DELETE FROM {table} WHERE host = ? AND session_id = ?", key)  # noqa: S608


def _stored(row: tuple[Any, ...]) -> StoredOutput:
    return StoredOutput(
        host=row[0],
        id=row[1],
        locator=row[2],
        cwd=row[3] or "",
        source_updated_at=row[4],
        generated_at=row[5],
        raw_memory=row[6],
        rollout_summary=row[7],
        rollout_slug=row[8] or "",
        extra=json.loads(row[9]),
        usage_count=row[10],
        last_usage=row[11] or 0,
        selected=bool(row[12]),
        findings=None if row[13] is None else bytes(row[13]),
    )
