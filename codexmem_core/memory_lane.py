"""One memory's part of a pass: extract, then consolidate, within the limits that its model asks for."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from codexmem_core.consolidate.agent import JOB_SECONDS, Limits
from codexmem_core.consolidate.consolidation import Consolidated, Consolidation, Rules
from codexmem_core.consolidate.work import Bench as ConsolidationBench
from codexmem_core.consolidate.work import Place
from codexmem_core.extract.extraction import SWITCHED_OFF, Bench, Extracted, ExtractionLane
from codexmem_core.interop.given_out import GivenOut
from codexmem_core.lanes import LaneResult
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.store.rules import COOLDOWN_S
from codexmem_core.store.values import Key
from codexmem_core.store.workers import worker_identity
from codexmem_core.switches import Learning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_hookspecs.services import Deadline
    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.engine import Engine
    from codexmem_core.request import RunRequest
    from codexmem_core.store.jobs import Jobs

NO_LIMIT = 1_000_000_000


class MemoryLane:
    """Runs in a thread of its own, with its own database connection, deadline and name in claims."""

    def __init__(
        self,
        engine: Engine,
        plugin: str,
        request: RunRequest,
        eligible: Sequence[Session],
        deadline: Deadline | None = None,
    ) -> None:
        self._engine = engine
        self._plugin = plugin
        self._request = request
        self._eligible = eligible
        self._deadline = WorkDeadline(NO_LIMIT, within=deadline)
        self._worker = worker_identity()
        self._costs = engine.model.backend.costs
        self._learning = Learning(engine.config, engine.environ)
        self.memory = engine.memories[plugin]

    def work(self, moved: Callable[[], None]) -> LaneResult:
        """The stages that are asked for; ``moved`` is told of every session that is done."""
        try:
            with self._engine.jobs(self._plugin) as jobs:
                jobs.release_orphans(fresh_s=0)
                extracted = self._extract(jobs, moved) if self._request.extract else Extracted()
                consolidated = self._consolidate(jobs) if self._request.consolidate else None
                return LaneResult(memory=self.memory.name, extracted=extracted, consolidated=consolidated)
        except Exception:
            self._engine.log(self._plugin).info("lane failed", traceback=traceback.format_exc())
            raise

    def abandon(self, reason: str, hung: bool) -> None:  # noqa: FBT001 - LaneWork's signature
        """What the lane still holds is taken from it; what it finishes later changes nothing.

        A session on which it hung counts as failed, so that it cannot hang every pass; a lane that broke, on a full
        disk for example, gives everything back untouched.
        """
        self._deadline.cancel()
        with self._engine.jobs(self._plugin) as jobs:
            if hung:
                jobs.fail_claims_of(self._worker, reason)
            else:
                jobs.release_claims_of(self._worker, reason)

    def _extract(self, jobs: Jobs, moved: Callable[[], None]) -> Extracted:
        engine, config = self._engine, self._engine.config
        if not self._learning():
            return Extracted(refused={Key(session.host, session.id): SWITCHED_OFF for session in self._eligible})
        jobs.prune(config.number("memories", "max_unused_days"))
        bench = Bench(
            stages=engine.stages,
            transcripts=engine.transcripts,
            model=engine.model,
            services_for=engine.services_for,
            register_own=engine.catalogue.register_own,
            learning=self._learning,
            remembered=engine.catalogue.remembered,
            tombstones=engine.tombstones.current,
            clock=engine.clock,
            log=engine.log(self._plugin),
            worker=self._worker,
            explicit=self._request.explicit,
        )
        # The count limits save money and quota: they bind models that cost, and no explicit choice.
        at_startup = config.number("memories", "max_rollouts_per_startup")
        limit = at_startup if self._costs and not self._request.explicit else NO_LIMIT
        return ExtractionLane(self._plugin, jobs, bench, self._deadline).run(
            self._eligible,
            limit=self._request.limit or limit,
            running_cap=at_startup if self._costs and not self._request.explicit else NO_LIMIT,
            told=lambda _session: moved(),
        )

    def _consolidate(self, jobs: Jobs) -> Consolidated:
        engine, config = self._engine, self._engine.config
        if self._costs and not self._learning():
            # Who switched learning off does not pay for it; forgetting by hand consolidates without a model.
            return Consolidated(status="skipped_generation_disabled")
        place = Place(
            plugin=self._plugin, memory=self.memory, root=engine.memory_root(self._plugin), locks=engine.home.locks
        )
        rules = Rules(
            max_inputs=config.number("memories", "max_raw_memories_for_consolidation"),
            max_unused_days=config.number("memories", "max_unused_days"),
            cooldown_s=COOLDOWN_S if self._costs else 0,
            at_once=self._request.now,
            allowed=engine.catalogue.remembered,
        )
        bench = ConsolidationBench(
            stages=engine.stages,
            model=engine.model,
            services_for=engine.services_for,
            clock=engine.clock,
            log=engine.log(self._plugin),
            # An agent that takes too long ends by itself, with a reason, before the whole lane is given up for it.
            limits=Limits(seconds=min(JOB_SECONDS, 57.0 * config.decimal("models", "job_minutes"))),
            tombstones=engine.tombstones.current,
            exported=GivenOut(engine.catalogue).remember,
        )
        return Consolidation(place, jobs, bench, rules).run(self._worker, self._deadline)
