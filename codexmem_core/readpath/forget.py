"""Surgical forgetting: one session, file or text goes from every store of the home, and does not come back.

First it is written down that it must not be learned again, and that forgetting has begun: whatever a crash leaves, the
next pass finishes. Then rows, files, history, traces, and what plugins keep; last the databases are written anew.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import Selector

from codexmem_core.consolidate.agent import Limits
from codexmem_core.consolidate.work import Bench, Place
from codexmem_core.models.selection import ModelSettingsError
from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.forgetting import pending as pending_
from codexmem_core.readpath.forgetting import targets, traces
from codexmem_core.readpath.forgetting.exported import export_anew
from codexmem_core.readpath.forgetting.memory import MemoryFiles, Rebuild
from codexmem_core.readpath.forgetting.rows import clean_rows
from codexmem_core.readpath.forgetting.wanted import Removed, Wanted
from codexmem_core.readpath.tombstones import Tombstones, digests
from codexmem_core.safety.redaction import redact
from codexmem_core.store.errors import StoreError
from codexmem_core.store.on_disk import compact
from codexmem_core.store.scrubbing import places_holding
from codexmem_core.store.workers import worker_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.values.records import Forgotten

    from codexmem_core.engine import Engine
    from codexmem_core.readpath.forgetting.wanted import Target
    from codexmem_core.store.forgetting import ForgettingClaim
    from codexmem_core.store.jobs import Jobs

IN_FLIGHT = "a consolidation is in flight; nothing was forgotten. Try again when it has ended."


class ConsolidationRuns(ToolError):  # noqa: N818 - a state that a caller handles
    """Files are being rewritten by somebody else now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What was removed where, and what was not."""

    kind: str
    name: str
    removed: tuple[Removed, ...]
    left: tuple[str, ...] = ()
    """What still holds it, with the reason."""
    pending: tuple[str, ...] = ()
    """What could not be done now and is tried again by the next runs."""
    closed: tuple[str, ...] = ()
    """Databases among that which cannot be written, with the reason: their rows still hold it."""

    def text(self) -> str:
        """For the user."""
        lines = [f"forgotten: {self.name or 'the text'}"]
        lines += [f"  {one.store}: {f'{one.count} ' if one.count != 1 else ''}{one.what}" for one in self.removed]
        if not self.removed:
            lines.append("  nothing of it was kept yet; it will not be learned")
        lines += [f"  left: {one}" for one in self.left]
        lines += [f"  to be tried again: {one}" for one in self.pending]
        return "\n".join(lines)


@dataclass(slots=True)
class _Store:
    """One memory's database while something is forgotten."""

    path: str
    plugin: str
    jobs: Jobs
    claim: ForgettingClaim


def forget(engine: Engine, target: Target, *, insist: bool = True) -> ForgetReport:
    """Forget it everywhere. The caller publishes ready answers afterwards.

    A memory whose database cannot be written keeps its rows, and it stays pending; the others forget all the same.
    Raises ToolError: nothing matched (unless not ``insist``), a memory root is a link. Raises ConsolidationRuns, with
    nothing changed, while a consolidation runs.
    """
    catalogue = engine.catalogue
    key = engine.tombstones.key() if target.windows else b""
    hashes = digests(key, target.windows)
    wanted = Wanted(target, Tombstones.of(key, hashes))
    selector = _selector(target)
    with ExitStack() as opened:
        stores, closed = _claimed(engine, opened)
        work = _Forgetting(engine, wanted, stores)
        if selector:
            catalogue.keep_forgetting(pending_.ENGINE, selector, "not finished")
        new_texts = catalogue.forget_texts(hashes)
        new_sessions = catalogue.forget_sessions(target.keys)
        engine.__dict__.pop("guards", None)
        work.everywhere()
        pending = _plugins(engine, target, work.removed, work.left) + export_anew(engine.access)
    catalogue.keep_forgetting(pending_.ENGINE, pending_.COMPACT, "not finished")
    if selector and closed:
        catalogue.keep_forgetting(pending_.ENGINE, selector, "; ".join(closed))
    elif selector:
        catalogue.forgotten(pending_.ENGINE, selector)
    pending += closed
    if not (work.removed or pending or new_sessions) and insist:
        catalogue.lift_texts(new_texts)
        compacted(engine)
        raise ToolError("nothing matched: nothing that is kept holds it, and nothing was changed")
    pending += compacted(engine)
    engine.log("forget").info("forgotten", kind=target.kind, stores=len(work.removed), pending=len(pending))
    places = places_holding(engine.home.catalogue, wanted.texts.holds)
    work.left += [f"{place}: the agent's own transcript is called so; it is never changed" for place in places]
    left = (*work.left, *traces.leftovers(engine.home, wanted, list(work.roots)))
    return ForgetReport(
        kind=target.kind,
        name=target.name,
        removed=tuple(work.removed),
        left=left,
        pending=tuple(pending),
        closed=tuple(closed),
    )


def lift(engine: Engine, target: Target) -> int:
    """Let it be learned again; returns how many sessions and runs of words that concerns. Raises ToolError."""
    lifted = engine.catalogue.lift_sessions(target.keys)
    if target.windows:
        hashes = digests(engine.tombstones.key(), target.windows)
        lifted += engine.catalogue.lift_texts([digest.window for digest in hashes])
    engine.__dict__.pop("guards", None)
    if not lifted:
        raise ToolError("nothing matched: it was not forgotten")
    return lifted


class _Forgetting:
    """The steps while no consolidation can run."""

    def __init__(self, engine: Engine, wanted: Wanted, stores: Sequence[_Store]) -> None:
        self._engine = engine
        self._wanted = wanted
        self.stores = stores
        self.roots = {
            root: (plugin, MemoryFiles(root, wanted, engine.clock, engine.home.locks))
            for root, plugin in targets.roots_of(engine.access).items()
        }
        self.removed: list[Removed] = []
        self.left: list[str] = []

    def everywhere(self) -> None:
        """Rows first, so that nothing makes files of them again."""
        engine, wanted = self._engine, self._wanted
        held = {root for root, (_, files) in self.roots.items() if files.holds()}
        theirs = self._texts(of_target=True)
        touched = set()
        for store in self.stores:
            told = self._rows(store)
            if told:
                touched.add(store.plugin)
            self.removed += told
        others = self._texts(of_target=False)
        for root, (plugin, files) in self.roots.items():
            if root in held or (plugin and plugin in touched):
                self.removed += files.forget(self._rebuild(plugin), theirs, others)
                self.left += [files.problem] if files.problem else []
        engine.log_book.close()
        self.removed += traces.forget_traces(engine.home, wanted)
        self.removed += traces.rows(engine.home, engine.home.catalogue, wanted)

    def _rows(self, store: _Store) -> list[Removed]:
        wanted, stages = self._wanted, self._engine.stages
        told: list[Removed] = []
        if wanted.texts.by_words:
            count = clean_rows(
                store.jobs,
                wanted.texts,
                frozenset(word for window in wanted.target.windows for word in window),
                lambda request, reply: stages.extract_result(store.plugin, request, reply),
            )
            told += [Removed(store=store.path.rpartition("/")[2], what="notes rewritten", count=count)] if count else []
        told += traces.rows(self._engine.home, store.path, wanted)
        return told

    def _texts(self, *, of_target: bool) -> list[str]:
        keys = set(self._wanted.target.keys)
        return [
            "\n".join((row.raw_memory, row.rollout_summary, (row.findings or b"").decode("utf-8", "replace")))
            for store in self.stores
            for row in (store.jobs.outputs() if keys else ())
            if (tuple(row.key) in keys) == of_target
        ]

    def _rebuild(self, plugin: str) -> Rebuild | None:
        engine, config = self._engine, self._engine.config
        store = next((store for store in self.stores if plugin and store.plugin == plugin), None)
        if store is None:
            return None
        try:
            model = engine.model
        except ModelSettingsError as error:
            self.left.append(f"{plugin} could not be made anew ({error}); it was cleaned line by line")
            return None
        return Rebuild(
            place=Place(
                plugin=plugin,
                memory=engine.memories[plugin],
                root=engine.memory_root(plugin),
                locks=engine.home.locks,
            ),
            bench=Bench(
                stages=engine.stages,
                model=model,
                services_for=engine.services_for,
                clock=engine.clock,
                log=engine.log(plugin),
                limits=Limits(),
                tombstones=engine.tombstones.current,
            ),
            jobs=store.jobs,
            claim=store.claim,
            selected=store.jobs.select_inputs(
                config.number("memories", "max_raw_memories_for_consolidation"),
                config.number("memories", "max_unused_days"),
                allowed=engine.catalogue.remembered,
            ),
        )


def _claimed(engine: Engine, opened: ExitStack) -> tuple[list[_Store], list[str]]:
    """Every memory's consolidation, installed or not, given back when the stack ends; and what cannot be written.

    Where nothing can be written, no consolidation can run either.
    """
    stores: list[_Store] = []
    closed: list[str] = []
    for path, plugin in targets.databases_of(engine.access).items():
        try:
            jobs = opened.enter_context(engine.jobs_at(path))
            jobs.release_orphans(fresh_s=0)
            claim = jobs.claim_for_forgetting(worker_identity())
        except StoreError as error:
            closed.append(str(error))
            continue
        if claim is None:
            raise ConsolidationRuns(IN_FLIGHT)
        opened.callback(jobs.end_forgetting, claim)
        stores.append(_Store(path, plugin, jobs, claim))
    return stores, closed


def _plugins(engine: Engine, target: Target, removed: list[Removed], left: list[str]) -> list[str]:
    """Ask plugins; adds to what was removed and what is left, and returns what stays pending."""
    selector = Selector(sessions=target.sessions, text=target.text)
    pending: list[str] = []
    if not (selector.sessions or selector.text):
        return pending
    for outcome in engine.stages.forget(selector):
        if outcome.error is not None:
            engine.catalogue.keep_forgetting(outcome.plugin, _selector(target), redact(str(outcome.error)))
            pending.append(f"{outcome.plugin}: {redact(str(outcome.error))}")
            continue
        if outcome.value is None:
            continue
        told: Forgotten = outcome.value
        if told.removed:
            removed.append(Removed(store=f"{outcome.plugin}: {told.store}", what="removed", count=told.removed))
        left += [f"{outcome.plugin}: {told.store}: {one}" for one in told.left]
    return pending


def compacted(engine: Engine) -> list[str]:
    """Write the databases anew, so that no free page holds what was deleted; what is in use is tried again later."""
    paths = [*targets.databases_of(engine.access), engine.home.catalogue]
    busy = [path for path in paths if not compact(path)]
    if busy:
        engine.catalogue.keep_forgetting(pending_.ENGINE, pending_.COMPACT, f"in use: {', '.join(busy)}")
    else:
        engine.catalogue.forgotten(pending_.ENGINE, pending_.COMPACT)
    return [f"{path}: other processes use it, and its free pages may still hold it" for path in busy]


def _selector(target: Target) -> str:
    """For a retry; empty when there is nothing but files, which are deleted at once."""
    selector = Selector(sessions=target.sessions, text=target.text)
    return pending_.encoded(selector) if selector.sessions or selector.text else ""
