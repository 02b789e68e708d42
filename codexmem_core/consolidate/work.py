"""The steps of one consolidation between the claim and the success, on one memory root."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.agent import Agent, Limits
from codexmem_core.consolidate.agent_paths import Permits
from codexmem_core.consolidate.agent_tools import AgentTools
from codexmem_core.consolidate.baseline import Baseline, Outdated
from codexmem_core.consolidate.diff import DIFF_FILE, render_workspace_diff
from codexmem_core.consolidate.digest import merge
from codexmem_core.consolidate.draft import Draft
from codexmem_core.consolidate.extensions import taken_in
from codexmem_core.consolidate.glob import fits
from codexmem_core.consolidate.layout import INSTRUCTIONS, ensure_layout, prune_extension_resources, remove_links
from codexmem_core.consolidate.recaps import recaps_without_notes, sync_recaps
from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.exchange import Exchange
from codexmem_core.readpath.tombstones import NOTHING_FORGOTTEN
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean
from codexmem_core.store.rules import HEARTBEAT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from codexmem_hookspecs.services import Clock, Deadline, Log, Services
    from codexmem_hookspecs.values.consolidate import Memory, Problem, Stored
    from codexmem_hookspecs.values.interop import Mirror

    from codexmem_core.consolidate.baseline import WorkspaceDiff
    from codexmem_core.consolidate.lease import Lease
    from codexmem_core.plugins.stages import Stages
    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.services.models import ChosenModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory and where it lives."""

    plugin: str
    memory: Memory
    root: str
    locks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every memory's consolidation works with."""

    stages: Stages
    model: ChosenModel
    services_for: Callable[[str, Deadline | None], Services]
    clock: Clock
    log: Log
    limits: Limits = field(default_factory=Limits)
    heartbeat_s: float = HEARTBEAT_S
    tombstones: Callable[[], Tombstones] = lambda: NOTHING_FORGOTTEN
    exported: Callable[[Mirror], None] = lambda _mirror: None
    """Is told of each place to which something goes out."""


class InvalidArtifacts(Exception):  # noqa: N818 - a state that a caller handles
    """The files that came out are not valid; the previous ones stay."""


class Work:
    """Call the methods in their order. Up to :meth:`publish` no file that a reader is given has changed."""

    def __init__(self, place: Place, bench: Bench) -> None:
        self._place = place
        self._bench = bench
        self._stages = bench.stages
        self._log = bench.log
        removed = ensure_layout(place.root, place.memory)
        if removed:
            self._log.warning("links removed: a memory holds files only", place=place.root, count=removed)
        self._folder = GuardedFolder(place.root, write=True)
        self._workspace = MemoryWorkspace(place.memory, place.root)
        self._tombstones = bench.tombstones()
        self._draft = Draft(place.memory.name, self._folder, self._without_forgotten)
        self._permits = Permits(place.memory)
        self._exchange = Exchange(
            bench.stages,
            self._tombstones,
            bench.services_for(place.plugin, None).memories.values(),
            place.locks,
            bench.log,
            bench.exported,
        )
        self._baseline = Baseline(place.root, bench.clock, locks=place.locks)
        self._diff: WorkspaceDiff | None = None
        self._generated = frozenset[str]()

    def recaps_without_notes(self, noted: Collection[tuple[str, str]]) -> int:
        """Of sessions that are not among ``noted``, (host, id) each; before anything is written."""
        return recaps_without_notes(self._folder, noted)

    def prepare(self, stored: Sequence[Stored]) -> int:
        """Baseline, inputs, imports and the diff; returns how many changes there are."""
        place = self._place
        self._baseline.ensure()
        generated = self._stages.consolidate_files(place.plugin, stored)
        self._generated = frozenset(generated)
        for path, text in generated.items():
            self._write_generated(path, text)
        sync_recaps(self._folder, stored)
        prune_extension_resources(place.root, self._bench.clock.now_ms())
        self._exchange.take_in(self._folder, self._workspace)
        diff = self._baseline.diff()
        if diff.changes or self._stages.consolidate_check(place.plugin, self._workspace):
            self._diff = diff
        return len(diff.changes)

    @property
    def needed(self) -> bool:
        """Whether something changed, or what there is is not valid."""
        return self._diff is not None

    @property
    def bare(self) -> bool:
        """Whether nothing is there but what every memory begins with: no recap, note, import or memory file."""
        return all(path in self._generated or path.endswith(f"/{INSTRUCTIONS}") for path in self._workspace.walk())

    @property
    def by_agent(self) -> bool:
        """Whether a model is asked."""
        return self._bench.model.backend.turn is not None

    def consolidate(self, stored: Sequence[Stored], lease: Lease) -> None:
        """Write the draft: by an agent where the model can be one, else by the memory itself."""
        assert self._diff is not None
        if self.by_agent:
            self._by_agent(self._diff, lease)
            return
        digest = merge(stored, taken_in(self._draft, self._without_forgotten))
        for path, text in self._stages.consolidate_offline(
            self._place.plugin, self._draft, stored, self._diff.changes, digest
        ).items():
            try:
                self._draft.write(self._permits.writable(path), text)
            except Refused as refused:
                raise PermissionError(f"{self._place.plugin} may not write {path}: {refused}") from refused

    def publish(self) -> None:
        """Check the draft, put it in place and make it the baseline. Notes written meanwhile stay in the next diff.

        Raises InvalidArtifacts, EditedMeanwhile and Outdated, all before the first file is written.
        """
        assert self._diff is not None
        self._remove_diff_file()
        links = remove_links(self._place.root)
        if links:
            raise InvalidArtifacts(f"{links} links appeared in the memory and were removed")
        problems = self._stages.consolidate_check(self._place.plugin, self._draft)
        if problems:
            raise InvalidArtifacts(_told(problems))
        if self._baseline.history()[0].id != self._diff.commit:
            raise Outdated("something was forgotten meanwhile; what was written may still hold it")
        self._draft.apply()
        self._baseline.commit("consolidation", seen=self._diff)
        self._baseline.fold()

    def export(self) -> None:
        """Ours for other tools; what fails is a warning and tried again after the next success."""
        self._exchange.give_out(self._folder, self._workspace)

    def abandon(self, *, ours: bool) -> None:
        """After a failure: no link stays, and no diff file, unless another worker may have written it."""
        try:
            remove_links(self._place.root)
            if ours:
                self._remove_diff_file()
        except (OSError, Refused) as error:  # the next run begins with the same
            self._log.warning("could not tidy up", place=self._place.root, error=str(error))

    def _by_agent(self, diff: WorkspaceDiff, lease: Lease) -> None:
        bench, place = self._bench, self._place
        self._part_from_copies(diff)
        request = self._stages.consolidate_request(place.plugin, self._workspace, diff.changes)
        document = render_workspace_diff(diff.changes, diff.patch).decode("utf-8", "replace")
        self._folder.write(DIFF_FILE, clean(redact(document)).encode())
        services = bench.services_for(place.plugin, lease)
        tools = AgentTools(self._draft, self._permits, self._log, lease.go_on)
        agent = Agent(lambda asked: bench.model.turn(asked, services), tools, lease, bench.limits, self._log)
        try:
            done = agent.run(request, self._permits.declared, bench.model.backend.budget_bytes)
        finally:
            if tools.refusals:
                self._log.warning(
                    "the agent asked for what it may not do", times=len(tools.refusals), first=tools.refusals[0]
                )
        self._log.info("agent done", turns=done.turns, calls=done.calls, tokens=done.tokens, files=self._draft.written)

    def _part_from_copies(self, diff: WorkspaceDiff) -> None:
        """Make files of ours single again where a backup made hard links to them.

        The agent is refused files with a second name, for that may be outside; what the baseline knows is ours.
        """
        changed = {change.path for change in diff.changes}
        for path in self._workspace.walk():
            if path not in changed and os.lstat(os.path.join(self._place.root, path)).st_nlink > 1:
                self._folder.write(path, self._folder.read(path))

    def _write_generated(self, path: str, text: str) -> None:
        if not fits(path, self._place.memory.generated):
            declared = ", ".join(self._place.memory.generated)
            raise PermissionError(f"{self._place.plugin} may not write {path}; it declares {declared}")
        content = self._without_forgotten(clean(redact(text))).encode()
        if not self._workspace.exists(path) or self._folder.read(path) != content:
            self._folder.write(path, content)

    def _without_forgotten(self, text: str) -> str:
        return self._tombstones.without(text, lines=True)

    def _remove_diff_file(self) -> None:
        self._folder.remove(DIFF_FILE)


def _told(problems: Sequence[Problem]) -> str:
    return "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
