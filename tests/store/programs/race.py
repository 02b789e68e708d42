# ruff: noqa: T201 - programs answer on their output
"""Give back orphans, then try to become the owner of the consolidation."""

import json
import sys

from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.workers import worker_identity


class FixedClock:
    def __init__(self, ms):
        self.ms = ms

    def now_ms(self):
        return self.ms


task = json.loads(sys.argv[1])
clock = FixedClock(task["now_ms"])
database = open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock)
jobs = Jobs(database, clock)
print("ready", flush=True)
sys.stdin.readline()
released = jobs.release_orphans()
claim = jobs.claim_consolidation(worker=worker_identity())
print(json.dumps({"released": released, "claim": claim if isinstance(claim, str) else "claimed"}), flush=True)
sys.stdin.readline()
