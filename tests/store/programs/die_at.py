"""Claim and finish one extraction, but be killed at a named instant."""

import json
import os
import signal
import sys

from codexmem_core.safety.instants import EVENT
from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output
from codexmem_core.store.workers import worker_identity


class FixedClock:
    def __init__(self, ms):
        self.ms = ms

    def now_ms(self):
        return self.ms


task = json.loads(sys.argv[1])


def listen(event, arguments):
    if event == EVENT and arguments[0] == task["instant"]:
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(listen)
clock = FixedClock(task["now_ms"])
database = open_memory(task["home"] + "/memory.db", backups=task["home"] + "/backups", clock=clock)
jobs = Jobs(database, clock)
candidates = [Candidate(host="codex", id="s1", watermark_ms=1_000)]
claims = jobs.claim_extractions(candidates, limit=1, running_cap=1, worker=worker_identity()).claims
jobs.finish_extraction(claims[0], Output(rollout_summary="done"))
