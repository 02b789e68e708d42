"""Workers that take every job of one database, each in a process of its own: the product's, and bare sqlite3's."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_bench.standing_clock import StandingClock
from codexmem_core.store.database import open_memory
from codexmem_core.store.errors import DatabaseBusy
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output
from codexmem_core.store.workers import worker_identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.synchronize import Barrier

BATCH = 8
"""As in the product's extraction lane."""
CAP = 1_000
WAIT_S = 30.0
TOGETHER_S = 60.0
"""Until the slowest process has started."""

SCHEMA = """
CREATE TABLE jobs(id INTEGER PRIMARY KEY, session TEXT, state TEXT, token TEXT, lease REAL);
CREATE INDEX jobs_state ON jobs(state, id);
CREATE TABLE done(job INTEGER, token TEXT, at REAL);
"""
CLAIM = (
    "UPDATE jobs SET token = ?, lease = ?, state = 'running'"
    " WHERE id = (SELECT id FROM jobs WHERE state = 'pending' ORDER BY id LIMIT 1) RETURNING id"
)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What one worker did. Times are seconds."""

    finished: int = 0
    locked: int = 0
    longest_claim: float = 0.0
    longest_finish: float = 0.0
    started: float = 0.0
    """By a clock that all processes share."""
    ended: float = 0.0


def product_worker(path: str, count: int, work_s: float, barrier: Barrier) -> Tally:
    """Claim in batches as an extraction lane does, and store a small output for each claim."""
    tally, worker, clock = Tally(), worker_identity(), StandingClock()
    with open_memory(path, backups=path + "-backups", clock=clock) as database:
        jobs = Jobs(database, clock)
        waiting: Sequence[Candidate] = [
            Candidate(host="codex", id=f"s{number:05d}", watermark_ms=1_000) for number in range(count)
        ]
        barrier.wait(TOGETHER_S)
        tally.started = time.monotonic()
        while waiting:
            begun = time.monotonic()
            try:
                result = jobs.claim_extractions(waiting, limit=BATCH, running_cap=CAP, worker=worker)
            except DatabaseBusy:
                tally.locked += 1
                continue
            tally.longest_claim = max(tally.longest_claim, time.monotonic() - begun)
            waiting = result.rest
            for claim in result.claims:
                time.sleep(work_s)
                begun = time.monotonic()
                try:
                    tally.finished += jobs.finish_extraction(claim, Output(rollout_summary="note", raw_memory="note"))
                except DatabaseBusy:
                    tally.locked += 1
                tally.longest_finish = max(tally.longest_finish, time.monotonic() - begun)
        tally.ended = time.monotonic()
    return tally


def prepare_bare(path: str, count: int) -> None:
    """The yardstick's own table, filled."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(SCHEMA)
        rows = ((f"s{number:05d}",) for number in range(count))
        database.executemany("INSERT INTO jobs(session, state) VALUES (?, 'pending')", rows)
        database.commit()


def bare_worker(path: str, _count: int, work_s: float, barrier: Barrier) -> Tally:
    """Two short transactions a job, nothing checked but the token."""
    tally = Tally()
    with closing(sqlite3.connect(path, isolation_level=None, timeout=WAIT_S)) as database:
        database.execute("PRAGMA synchronous = NORMAL")
        barrier.wait(TOGETHER_S)
        tally.started = time.monotonic()
        while True:
            token, begun = f"{id(tally)}-{tally.finished}", time.monotonic()
            database.execute("BEGIN IMMEDIATE")
            row = database.execute(CLAIM, (token, time.time() + 3_600)).fetchone()
            database.execute("COMMIT")
            tally.longest_claim = max(tally.longest_claim, time.monotonic() - begun)
            if row is None:
                break
            time.sleep(work_s)
            database.execute("BEGIN IMMEDIATE")
            own = "UPDATE jobs SET state = 'done' WHERE id = ? AND token = ?"
            if database.execute(own, (row[0], token)).rowcount:
                database.execute("INSERT INTO done VALUES (?, ?, ?)", (row[0], token, time.time()))
                tally.finished += 1
            database.execute("COMMIT")
        tally.ended = time.monotonic()
    return tally
