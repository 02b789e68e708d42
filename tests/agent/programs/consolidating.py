"""A home with one memory and a scripted model. As a program: consolidate once, and be killed on the way.

python consolidating.py HOME
"""

import os
import signal
import sys

from codexmem_hookspecs.testing.services import PlainServices
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import ToolCall, Turn
from codexmem_hookspecs.values.records import ModelBackend
from codexmem_memory_v1 import MEMORY
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.consolidate.consolidation import Consolidation, Rules
from codexmem_core.consolidate.work import Bench, Place
from codexmem_core.plugins.discovery import Plugins, in_process
from codexmem_core.plugins.stages import Stages
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.log import LogBook
from codexmem_core.services.models import ChosenModel
from codexmem_core.store.database import open_memory
from codexmem_core.store.jobs import Jobs
from codexmem_core.store.values import Candidate, Output
from codexmem_core.store.workers import worker_identity

HANDBOOK = "# Task Group: harbor\nscope: the uploader\n\n- retries are in place [Task 1]\n"
SUMMARY = "v1\n\n## User Profile\nWorks on harbor.\n\n## User preferences\n- run the linter first\n"


class SetClock:
    """Stands still until it is moved."""

    def __init__(self, ms=1_790_000_000_000):
        self.ms = ms

    def now_ms(self):
        return self.ms


class ScriptedBackend:
    """Takes the steps in order: a turn is given, an exception raised, anything else asked with the request.

    Past the last step it calls no more tools; with ``again`` it begins anew instead, and never ends.
    """

    def __init__(self, *steps, again=False):
        self.steps = steps
        self.again = again
        self.requests = []

    def turn(self, request, services):
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self.steps) and not self.again:
            return Turn(text="nothing more to do")
        step = self.steps[number % len(self.steps)]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Turn) else step(request)

    @property
    def results(self):
        """What the tools answered, in order."""
        return [message.text for message in self.requests[-1].messages if message.role == "tool"]

    def record(self):
        return ModelBackend(
            name="scripted", summary="does as it is told", costs=False, ask=lambda *_: Reply(data={}), turn=self.turn
        )


def calling(tool, **arguments):
    """A turn that calls one tool."""
    return Turn(calls=(ToolCall(id="call-1", name=tool, arguments=arguments),))


def good_steps(handbook=HANDBOOK, summary=SUMMARY):
    return (
        calling("read", path="phase2_workspace_diff.md"),
        calling("write", path="MEMORY.md", content=handbook),
        calling("write", path="memory_summary.md", content=summary),
    )


class Den:
    """A home: its database, its memory, its log."""

    def __init__(self, home, memory=memory_v1):
        self.home = str(home)
        self.clock = SetClock()
        self.root = os.path.join(self.home, "memories")
        self.log = LogBook(os.path.join(self.home, "logs"), self.clock)
        os.makedirs(self.home, exist_ok=True)
        self.database = open_memory(
            os.path.join(self.home, "memory.db"), backups=os.path.join(self.home, "backups"), clock=self.clock
        )
        self.jobs = Jobs(self.database, self.clock)
        services = PlainServices(self.home)
        plugins = Plugins(in_process([("memory-v1", memory)]), services_for=lambda *_: services)
        self.stages = Stages(plugins.hooks, {})
        self.services = services
        self.deadline = WorkDeadline(600)

    def learn(self, session, recap="The user asked for retries in the uploader.", raw="- retries in the uploader"):
        """A finished extraction."""
        at_ms = self.clock.now_ms() - 60_000
        claims = self.jobs.claim_extractions(
            [Candidate(host="codex", id=session, watermark_ms=at_ms)], limit=1, running_cap=9, worker="test"
        ).claims
        self.jobs.finish_extraction(claims[0], Output(rollout_summary=recap, raw_memory=raw, rollout_slug="uploader"))

    def consolidate(self, backend, jobs=None, *, at_once=True, **bench):
        """One consolidation, whose model is the backend; ``at_once``: as a user asks for it."""
        place = Place(plugin="memory-v1", memory=MEMORY, root=self.root, locks=os.path.join(self.home, "locks"))
        made = Bench(
            stages=self.stages,
            model=ChosenModel(backend.record()),
            services_for=lambda *_: self.services,
            clock=self.clock,
            log=self.log.bound("memory-v1"),
            **bench,
        )
        rules = Rules(max_inputs=256, max_unused_days=30, cooldown_s=0, at_once=at_once, allowed=list)
        return Consolidation(place, jobs or self.jobs, made, rules).run(worker_identity(), self.deadline)

    def close(self):
        self.database.close()
        self.log.close()


if __name__ == "__main__":
    den = Den(sys.argv[1])
    den.consolidate(
        ScriptedBackend(
            *good_steps(handbook="# half\n", summary="v1\nhalf\n"), lambda _: os.kill(os.getpid(), signal.SIGKILL)
        )
    )
