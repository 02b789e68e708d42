"""The whole pipeline on one page: capture → a lane for each memory (extract → consolidate) → payloads."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codexmem_core import lanes
from codexmem_core.capture import events, selection, sessions
from codexmem_core.capture.selection import Selection
from codexmem_core.capture.sessions import Discovery
from codexmem_core.host.state import TAKEN_IN
from codexmem_core.lanes import LaneWork
from codexmem_core.memory_lane import MemoryLane
from codexmem_core.publishing import publish_payloads
from codexmem_core.readpath.citing import catch_up, count_taken_out
from codexmem_core.readpath.gone import forget_what_is_gone
from codexmem_core.readpath.modes import asked_to_forget
from codexmem_core.readpath.sieve import watch_tools
from codexmem_core.report import RunReport, report_of
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.services.processes import CHILD_MARK
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.capture.events import TakenIn
    from codexmem_core.engine import Engine
    from codexmem_core.request import RunRequest


NOT_ASKED = "not asked for (--session)"
TAKING_IN_S = 30.0
"""Longest wait for another process or thread that takes events in; longer than that it hangs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; for a progress bar."""

    done: int
    total: int


def run(
    engine: Engine,
    request: RunRequest,
    progress: Callable[[Progress], None] = lambda _progress: None,
    *,
    deadline: Deadline | None = None,
    in_worker: bool = False,
) -> RunReport:
    """One pass. Every failure stays in its lane and is in the report.

    ``deadline``: once it is cancelled, everything is given back and lanes.PassStopped raised.
    ``in_worker``: whether the next pass follows by itself. Raises UnknownNameError for a wrong name.
    """
    if engine.environ.get(CHILD_MARK):
        return report_of(0, {}, [], [], errors=[f"{CHILD_MARK} is set: a model's own session learns nothing"])
    if request.host:
        engine.host(request.host)
    if take_in_events(engine).events and not in_worker:
        # A run may be about less than what has happened, or be broken off: the worker sees to that all the same.
        engine.catalogue.set_mark(TAKEN_IN, uuid.uuid4().hex)
    forget_what_is_gone(engine)
    tell_plugins(engine)
    engine.deliveries.prune(engine.clock.now_ms() - events.KEPT_MS)
    engine.catalogue.prune_hooked(engine.clock.now_ms() - events.KEPT_MS)
    plugins = [engine.memory_plugin(request.memory)] if request.memory else list(engine.memories)
    found = Discovery(changed=(), unchanged=0, warnings=())
    chosen, unknown = Selection(eligible=(), refused={}), list[str]()
    if request.extract:
        found = sessions.discover(engine.stages, engine.catalogue, host=request.host, folder=request.folder)
    # Nobody is told of these a second time, so they are seen to whatever the run is about.
    answered = engine.catalogue.not_looked_at()
    sessions.discover_told(
        engine.stages,
        engine.catalogue,
        [one.session for one in answered],
        lambda name: engine.hosts[name].homes(engine.environ) if name in engine.hosts else (),
    )
    count_new_citations(engine, [(one.session.host, one.session.id) for one in answered])
    if request.extract:
        engine.catalogue.looked_at(answered)
        chosen, unknown = choose(engine, request, found)
    memories = [MemoryLane(engine, plugin, request, chosen.eligible, deadline) for plugin in plugins]
    results = lanes.run_all(
        [LaneWork(lane.memory.name, len(chosen.eligible), lane.work, lane.abandon) for lane in memories],
        stall_s=60.0 * engine.config.decimal("models", "job_minutes"),
        deadline=deadline,
        progress=lambda done, total: progress(Progress(done=done, total=total)),
    )
    publish_payloads(engine)
    return report_of(
        found.count,
        chosen.refused,
        [(session.host, session.id) for session in chosen.eligible],
        results,
        unchanged=found.unchanged,
        warnings=(*found.warnings, *engine.warnings),
        errors=[f"no host knows a session {name}" for name in unknown],
    )


def take_in_events(engine: Engine) -> TakenIn:
    """The spool first: the file of an event is the only sign of it.

    One at a time: who reads an event that another has taken in meanwhile would place it after the later ones, and a
    session that goes on would have ended. Nobody waits for ever: events told twice are better than events not told.
    """
    with GuardedFolder(engine.home.locks, write=True).lock("spool", TAKING_IN_S):
        return _take_in_events(engine)


def _take_in_events(engine: Engine) -> TakenIn:
    engine.spool.sweep()
    records = events.Records(
        catalogue=engine.catalogue,
        deliveries=engine.deliveries,
        reactions=engine.stages.reactions(),
        cited=partial(count_taken_out, engine.access),
        called=lambda event: watch_tools(engine.access, [(event.session, [event.tool])]),
        bypassed=partial(_bypass, engine),
    )
    engine.look_again()  # other processes may have switched sessions off
    now_ms = engine.clock.now_ms()
    taken = events.take_in(engine.spool, engine.hosts, engine.guards, records, engine.log("capture"), now_ms)
    engine.look_again()  # and so may what came in
    return taken


def _bypass(engine: Engine, host: str, session_id: str) -> None:
    engine.catalogue.bypass(host, session_id)
    for plugin in engine.memories:
        asked_to_forget(engine.access, plugin, (host, session_id))


def tell_plugins(engine: Engine, *, wait_s: float = events.DELIVERY_S) -> None:
    """Events that are due for plugins; what is not done within the time goes on by itself."""
    desk = events.Desk(
        stages=engine.stages,
        deliveries=engine.deliveries,
        locks=GuardedFolder(engine.home.locks, write=True),
        may_be_told=lambda event: events.may_be_told(event, engine.guards, engine.catalogue),
        log=engine.log("capture"),
    )
    events.deliver(desk, wait_s=wait_s)


def choose(engine: Engine, request: RunRequest, found: Discovery) -> tuple[Selection, list[str]]:
    """Which sessions are offered to the memories; and the named ones that nobody knows."""
    rules = request.rules(engine.config, engine.clock.now_ms(), costs=engine.costs)
    changed = [(session.host, session.id) for session in found.changed]
    if request.folder:
        seen = engine.catalogue.candidates(host=request.host, keys=changed)
    elif request.sessions:
        seen = engine.catalogue.candidates(host=request.host)
    else:
        # Most passes find ten thousand sessions and nothing to do: only what some memory has not extracted is loaded.
        keys = {*changed, *_behind(engine, rules.since_ms, request.host)}
        seen = engine.catalogue.candidates(host=request.host, keys=sorted(keys)) if keys else []
    if not request.sessions:
        return selection.select(seen, engine.guards, rules), []
    named = {known: {known.session.id, f"{known.session.host}:{known.session.id}"} for known in seen}
    asked = [known for known, names in named.items() if names & set(request.sessions)]
    chosen = selection.select(asked, engine.guards, rules)
    wanted = {(known.session.host, known.session.id) for known in asked}
    refused = {**{key: NOT_ASKED for key in changed if key not in wanted}, **chosen.refused}
    unknown = sorted(set(request.sessions).difference(*(named[known] for known in asked)))
    return Selection(eligible=chosen.eligible, refused=refused), unknown


def _behind(engine: Engine, since_ms: int, host: str) -> set[tuple[str, str]]:
    keys: set[tuple[str, str]] = set()
    for plugin in engine.memories:
        try:
            with engine.jobs(plugin) as jobs:
                keys.update(jobs.behind(engine.home.catalogue, since_ms=since_ms, host=host))
        except StoreError:
            continue  # the memory's own lane meets the same trouble and reports it
    return keys


def count_new_citations(engine: Engine, answered: Sequence[tuple[str, str]]) -> None:
    """What agents cited in answers that they have just given, where no guard speaks against reading them."""
    known = engine.catalogue.candidates(keys=answered) if answered else []
    catch_up(
        engine.access, engine.transcripts, [one.session for one in known if not engine.guards.refusal(one.session)]
    )
