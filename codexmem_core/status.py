"""The state of everything, as plain values: what waits, what failed and why, what it cost, when hooks last fired."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from codexmem_core.capture.selection import Key, select
from codexmem_core.engine import BUILT_IN
from codexmem_core.host.findings import hook_notices
from codexmem_core.host.state import LAST_PASS, worker_state
from codexmem_core.models.day import DayLimits, day_of, spent_on
from codexmem_core.plugins.checks import plugins_say
from codexmem_core.readpath.readiness import readiness
from codexmem_core.request import RunRequest
from codexmem_core.store.errors import StoreError
from codexmem_core.store.on_disk import memory_databases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.records import Finding

    from codexmem_core.engine import Engine
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.ledger import Breaker
    from codexmem_core.store.sessions import KnownSession


def status_of(engine: Engine) -> dict[str, Any]:
    """Times are UNIX milliseconds. Looking changes nothing but that a missing home's databases are made."""
    known, frozen = engine.catalogue.candidates(), engine.catalogue.frozen()
    chosen = select(known, engine.guards, RunRequest().rules(engine.config, engine.clock.now_ms(), costs=engine.costs))
    return {
        "home": engine.home.root,
        "model": engine.config.text("models", "backend"),
        "model_problem": _model_problem(engine),
        "reads": engine.memories[engine.memory_plugin()].name if engine.memories else "",
        "hosts": sorted(engine.hosts),
        "sessions": {
            "known": len(known),
            "eligible": len(chosen.eligible),
            "left_out": _counted(_unread(engine, known, chosen.refused)),
        },
        "memories": {
            memory.name: {**_memory(engine, plugin, chosen.eligible), "sessions_reading": frozen.pop(memory.name, 0)}
            for plugin, memory in engine.memories.items()
        },
        "not_installed": frozen,
        "on_disk": _of_no_memory(engine),
        "events": {
            "spooled": len(engine.spool.names()),
            "last_fired": {" ".join(key): at_ms for key, at_ms in sorted(engine.catalogue.last_fired().items())},
            "deliveries": [asdict(count) for count in engine.deliveries.counts()],
            "lost": [asdict(notice) for notice in hook_notices(engine.catalogue, engine.clock.now_ms())],
        },
        "worker": _worker(engine),
        "plugins": [{"check": name, **asdict(found)} for name, found in _plugins(engine)],
        "spending": _spending(engine),
        "breakers": [asdict(breaker) for breaker in open_breakers(engine)],
        "usage": [asdict(usage) for usage in engine.catalogue.usage()],
        "warnings": list(engine.warnings),
    }


def _of_no_memory(engine: Engine) -> list[str]:
    """Databases of memories that are not installed now."""
    installed = {engine.home.below(memory.database) for memory in engine.memories.values()}
    return [path for path in memory_databases(engine.home.root) if path not in installed]


def _worker(engine: Engine) -> dict[str, Any]:
    """Whether one runs, and when one last made a pass (0: never)."""
    last_pass = engine.catalogue.mark(LAST_PASS)
    return {**asdict(worker_state(engine.home, engine.clock.now_ms())), "last_pass_ms": int(last_pass or 0)}


def _plugins(engine: Engine) -> Iterator[tuple[str, Finding]]:
    return plugins_say(engine.plugins.hooks, engine.services_for, in_status=True)


def open_breakers(engine: Engine) -> list[Breaker]:
    """What is stopped now; the backends, which know the credentials that count, are only made when something is."""
    return engine.model_choice.breaker.open_now() if engine.catalogue.breakers() else []


def _spending(engine: Engine) -> dict[str, Any]:
    """Of today, in UTC, and what today allows."""
    day = day_of(engine.clock)
    calls, tokens = spent_on(engine.catalogue, day)
    limits = DayLimits.of(engine.config)
    return {
        "day": day,
        "calls": calls,
        "calls_per_day": limits.calls,
        "tokens": tokens,
        "tokens_per_day": limits.tokens,
    }


def _model_problem(engine: Engine) -> str:
    """The built-in one has none, and nothing is loaded to say so."""
    return "" if engine.config.text("models", "backend") == BUILT_IN else engine.model_choice.problem


def _memory(engine: Engine, plugin: str, eligible: Sequence[Session]) -> dict[str, Any]:
    try:
        with engine.jobs(plugin) as jobs:
            state = readiness(engine.access, plugin, sessions=jobs.progress())
            return {**_jobs(jobs, eligible), **_files(engine, plugin), "readiness": state.as_json()}
    except StoreError as error:
        return {"error": str(error), **_files(engine, plugin)}


def _jobs(jobs: Jobs, eligible: Sequence[Session]) -> dict[str, Any]:
    extraction, consolidation = jobs.extraction_snapshot(), jobs.consolidation_snapshot()
    settled = jobs.settled()
    waiting = [s for s in eligible if settled.get((s.host, s.id), -1) < s.updated_at_ms]
    return {
        "notes": extraction.outputs,
        "waiting": len(waiting),
        "extraction": asdict(extraction),
        "consolidation": asdict(consolidation),
    }


def _files(engine: Engine, plugin: str) -> dict[str, Any]:
    root = engine.memory_root(plugin)
    count = size = 0
    for parent, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        count += len(names)
        size += sum(os.lstat(os.path.join(parent, name)).st_size for name in names)
    summary = os.path.join(root, engine.memories[plugin].summary)
    return {
        "root": root,
        "files": count,
        "bytes": size,
        "summary_bytes": os.path.getsize(summary) if os.path.isfile(summary) else 0,
    }


def _unread(engine: Engine, known: Sequence[KnownSession], refused: dict[Key, str]) -> dict[Key, str]:
    """Without the sessions that every memory has read as far as they go: nothing is left out there."""
    settled = []
    for plugin in engine.memories:
        try:
            with engine.jobs(plugin) as jobs:
                settled.append(jobs.settled())
        except StoreError:
            return refused
    at = {(one.session.host, one.session.id): one.session.updated_at_ms for one in known}
    return {
        key: why for key, why in refused.items() if not settled or any(done.get(key, -1) < at[key] for done in settled)
    }


def _counted(refused: dict[tuple[str, str], str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for reason in refused.values():
        counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
