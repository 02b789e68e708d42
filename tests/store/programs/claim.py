# ruff: noqa: T201 - programs answer on their output
"""Claim and finish extractions until none is left to claim."""

import json
import sys
import time

from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.rules import CAP_REACHED, RUNNING_ELSEWHERE
from codexmem_core.store.values import Candidate, Output
from codexmem_core.store.workers import worker_identity


class SystemClock:
    def now_ms(self):
        return time.time_ns() // 1_000_000


task = json.loads(sys.argv[1])
clock = SystemClock()
database = open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock)
jobs, worker = Jobs(database, clock), worker_identity()
candidates = [Candidate(host="codex", id=f"s{n}", watermark_ms=1_000) for n in range(task["sessions"])]
claimed, most_running = [], 0
while candidates:
    result = jobs.claim_extractions(candidates, limit=task["limit"], running_cap=task["cap"], worker=worker)
    most_running = max(most_running, jobs.extraction_snapshot().by_status.get("running", 0))
    for claim in result.claims:
        assert jobs.finish_extraction(claim, Output(rollout_summary=f"by {worker}", raw_memory=claim.id))
        claimed.append(claim.id)
    again = (CAP_REACHED, RUNNING_ELSEWHERE)
    candidates = [*(one for one in candidates if result.refused.get(one.key) in again), *result.rest]
database.close()
print(json.dumps({"claimed": claimed, "most_running": most_running}))
