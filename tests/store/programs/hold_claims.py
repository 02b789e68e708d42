# ruff: noqa: T201 - programs answer on their output
"""Claim some extractions, or the consolidation, at a given time; say so; then wait to be killed."""

import json
import os
import sys

from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate
from codexmem_core.store.workers import worker_identity


class FixedClock:
    def __init__(self, ms):
        self.ms = ms

    def now_ms(self):
        return self.ms


task = json.loads(sys.argv[1])
clock = FixedClock(task["now_ms"])
database = open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock)
jobs, worker = Jobs(database, clock), worker_identity()
said = {"worker": worker, "pid": os.getpid()}
if task.get("consolidation"):
    said["token"] = jobs.claim_consolidation(worker=worker).token
else:
    candidates = [Candidate(host="codex", id=f"s{n}", watermark_ms=1_000) for n in range(task["sessions"])]
    claims = jobs.claim_extractions(candidates, limit=99, running_cap=99, worker=worker).claims
    said["tokens"] = {claim.id: claim.token for claim in claims}
print(json.dumps(said), flush=True)
sys.stdin.readline()
