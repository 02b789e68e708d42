# ruff: noqa: T201 - programs answer on their output
"""Store one output that ranks above all others, and change another."""

import json
import sys

from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output


class FixedClock:
    def __init__(self, ms):
        self.ms = ms

    def now_ms(self):
        return self.ms


task = json.loads(sys.argv[1])
clock = FixedClock(task["now_ms"])
with open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock) as database:
    jobs = Jobs(database, clock)
    for name in ("best", "s3"):
        one = Candidate(host="codex", id=name, watermark_ms=task["now_ms"])
        claim = jobs.claim_extractions([one], limit=1, running_cap=9, worker="w").claims[0]
        jobs.finish_extraction(claim, Output(rollout_summary="written meanwhile"))
print(json.dumps({}))
