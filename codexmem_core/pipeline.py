"""The whole pipeline on one page: capture → a lane for each memory (extract → consolidate) → payloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core import lanes
from codexmem_core.capture import events, selection, sessions
from codexmem_core.capture.selection import DAY_MS, HOUR_MS, Selection, SelectionRules
from codexmem_core.host import payloads
from codexmem_core.lanes import LaneWork
from codexmem_core.memory_lane import MemoryLane
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.report import RunReport, report_of
from codexmem_core.services.processes import CHILD_MARK

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_core.capture.sessions import Discovery
    from codexmem_core.engine import Engine
    from codexmem_core.request import RunRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; for a progress bar."""

    done: int
    total: int


def run(
    engine: Engine, request: RunRequest, progress: Callable[[Progress], None] = lambda _progress: None
) -> RunReport:
    """One pass. Every failure stays in its lane and is in the report. Raises UnknownNameError for a wrong name."""
    if engine.environ.get(CHILD_MARK):
        return report_of(0, {}, [], [], errors=[f"{CHILD_MARK} is set: a model's own session learns nothing"])
    if request.host:
        engine.host(request.host)
    take_in_events(engine)
    found = sessions.discover(engine.stages, engine.catalogue, host=request.host, folder=request.folder)
    chosen, unknown = choose(engine, request, found)
    memories = [MemoryLane(engine, plugin, request, chosen.eligible) for plugin in engine.memories]
    results = lanes.run_all(
        [LaneWork(lane.memory.name, len(chosen.eligible), lane.work, lane.abandon) for lane in memories],
        stall_s=60.0 * engine.config.decimal("models", "job_minutes"),
        progress=lambda done, total: progress(Progress(done=done, total=total)),
    )
    publish_payloads(engine)
    return report_of(
        found.count,
        chosen.refused,
        [(session.host, session.id) for session in chosen.eligible],
        results,
        warnings=(*found.warnings, *engine.warnings),
        errors=[f"no host knows a session {name}" for name in unknown],
    )


def take_in_events(engine: Engine) -> None:
    """The spool first: the file of an event is the only sign of it."""
    log = engine.log("capture")
    taken = events.take_in(
        engine.spool, engine.hosts, engine.stages.reactions(), engine.catalogue, engine.deliveries, engine.guards, log
    )
    for plugin in engine.memories if taken.deleted else ():
        with engine.jobs(plugin) as jobs:
            for session in taken.deleted:
                jobs.delete_session(session.host, session.id)
    events.deliver(engine.stages, engine.deliveries, log)


def choose(engine: Engine, request: RunRequest, found: Discovery) -> tuple[Selection, list[str]]:
    """Which sessions are offered to the memories; and the named ones that nobody knows."""
    keys = [(session.host, session.id) for session in found.changed] if request.folder else None
    seen = engine.catalogue.candidates(host=request.host, keys=keys)
    unknown: list[str] = []
    if request.sessions:
        seen = [known for known in seen if known.session.id in request.sessions]
        unknown = sorted(set(request.sessions) - {known.session.id for known in seen})
    return selection.select(seen, engine.guards, selection_rules(engine, request)), unknown


def selection_rules(engine: Engine, request: RunRequest) -> SelectionRules:
    """The limits that hold for a request."""
    config, now_ms = engine.config, engine.clock.now_ms()
    age_ms = config.number("memories", "max_rollout_age_days") * DAY_MS
    hours = request.idle_hours if request.idle_hours >= 0 else config.number("memories", "min_rollout_idle_hours")
    return SelectionRules(
        now_ms=now_ms,
        explicit=request.explicit,
        since_ms=request.since_ms or (0 if request.all_ages else now_ms - age_ms),
        idle_ms=int(hours * HOUR_MS),
    )


def publish_payloads(engine: Engine) -> None:
    """What hooks print from now on."""
    if not engine.memories:
        return
    memory = engine.memories[engine.memory_plugin()].name
    payloads.publish(
        engine.home.payloads,
        engine.hosts.values(),
        memory,
        lambda host: session_start_context(engine, host=host.name),
    )
