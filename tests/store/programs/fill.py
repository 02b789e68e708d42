# ruff: noqa: T201 - programs answer on their output
"""Store outputs until a file may not grow any more, then say how many were stored and what the error was."""

import json
import os
import resource
import sys

from codexmem_core.store.database import open_memory
from codexmem_core.store.errors import DatabaseUnwritable
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output


class FixedClock:
    def now_ms(self):
        return 1_767_225_600_000


task = json.loads(sys.argv[1])
clock = FixedClock()
database = open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock)
jobs, stored, error = Jobs(database, clock), [], ""
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (task["bytes"], hard))
for number in range(1_000):
    one = Candidate(host="codex", id=f"s{number}", watermark_ms=1_000)
    try:
        claims = jobs.claim_extractions([one], limit=1, running_cap=999, worker="w").claims
        jobs.finish_extraction(claims[0], Output(rollout_summary="x" * 50_000))
    except DatabaseUnwritable as full:
        error = str(full)
        break
    stored.append(one.id)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
after = jobs.claim_extractions(
    [Candidate(host="codex", id="after", watermark_ms=1)], limit=1, running_cap=999, worker="w"
)
print(json.dumps({"stored": stored, "error": error, "after": jobs.finish_empty(after.claims[0])}), flush=True)
os._exit(0)  # like a worker that is ended without closing anything
