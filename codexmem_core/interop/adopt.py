"""Taking over another tool's memory, as often as wanted: what is here already stays, what was taken stays taken.

Notes come with their uses, and with how far each session was read, so that none is learned a second time; files as they
are. Where both sides have a file, ours stays, and theirs comes as an extension from which consolidation takes it in.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.places import overlap

from codexmem_core.interop.adopt_files import FilesPlan, has_files, plan_files, write_files
from codexmem_core.readpath.errors import ToolError
from codexmem_core.safety.redaction import safe
from codexmem_core.store.workers import worker_identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.values.capture import MemoryMode

    from codexmem_core.interop.adoptable import Adoptable, AdoptableMemory
    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.store.values import AdoptedNote, Key

FORGOTTEN = "forgotten here"
NOT_INSTALLED = "its memory is not installed here"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """What comes into one memory."""

    memory: str
    installed: bool
    """When not, nothing comes."""
    notes: tuple[AdoptedNote, ...] = ()
    """New here, or newer than what is here."""
    uses: tuple[AdoptedNote, ...] = ()
    """Known here, but used more often or later there."""
    known: int = 0
    """Notes that are here as new or newer."""
    left_out: Mapping[str, int]
    """Reasons why notes do not come → how many."""
    settled: Mapping[Key, int]
    files: FilesPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What comes, or came, and what was in the way."""

    source: str
    place: str
    memories: tuple[MemoryPlan, ...]
    modes: Mapping[Key, MemoryMode]
    """Sessions that will not be remembered here either."""
    reads: Mapping[Key, str]
    """The memory that sessions go on reading."""
    conflicts: tuple[str, ...]
    """Where both sides say something else: ours stays."""
    skipped: tuple[str, ...]
    """What could not be understood at the source."""

    @property
    def empty(self) -> bool:
        """Whether nothing comes."""
        return not (
            self.modes
            or self.reads
            or any(
                plan.notes or plan.uses or plan.settled or plan.files.written
                for plan in self.memories
                if plan.installed
            )
        )


def plan_adoption(access: MemoryAccess, found: Adoptable) -> Adoption:
    """What would come now. Changes nothing. Raises ToolError when the source is a memory of ours."""
    catalogue = access.catalogue()
    plugins = {memory.name: plugin for plugin, memory in access.memories.items()}
    for theirs in found.memories:
        if any(overlap(theirs.root, access.root(plugin)) for plugin in access.memories):
            raise ToolError(f"{theirs.root} is a memory of codexmem's own; there is nothing to take over")
    memories = [_planned(access, found, memory, plugins.get(memory.memory, "")) for memory in found.memories]
    conflicts = [one for plan in memories for one in plan.files.conflicts]
    modes: dict[Key, MemoryMode] = {}
    for key, mode in found.modes.items():
        if not catalogue.is_mode_stated(*key):
            modes[key] = mode
        elif catalogue.mode_of(*key) != mode:
            conflicts.append(f"{':'.join(key)} is {mode} there and {catalogue.mode_of(*key)} here: that stays")
    reads = {key: name for key, name in found.reads.items() if name in plugins and not catalogue.memory_of(*key)}
    skipped = (*found.skipped, *(one for memory in found.memories for one in memory.skipped))
    return Adoption(
        source=found.source,
        place=found.place,
        memories=tuple(memories),
        modes=modes,
        reads=reads,
        conflicts=tuple(conflicts),
        skipped=skipped,
    )


def adopt(access: MemoryAccess, found: Adoptable) -> Adoption:
    """Take it over, while no consolidation runs. Raises ToolError, with nothing changed, when one does.

    Rows first, then files, each file in one step: what a crash leaves undone the next time does.
    """
    catalogue = access.catalogue()
    with ExitStack() as opened:
        stores = {}
        for plugin in access.memories:
            jobs = opened.enter_context(access.jobs(plugin))
            jobs.release_orphans(fresh_s=0)
            claim = jobs.claim_for_forgetting(worker_identity())
            if claim is None:
                raise ToolError("a consolidation is in flight; nothing was taken over. Try again when it has ended.")
            opened.callback(jobs.end_forgetting, claim)
            stores[access.memories[plugin].name] = jobs
        plan = plan_adoption(access, found)
        # Modes before rows: nothing of a session that is kept out is selected in between.
        for key, mode in plan.modes.items():
            catalogue.set_mode(*key, mode)
        for memory, coming in zip(found.memories, plan.memories, strict=True):
            if coming.installed:
                stores[memory.memory].adopt((*coming.notes, *coming.uses), coming.settled, memory.covered)
                write_files(access, found.source, coming.memory, coming.files)
        for key, name in plan.reads.items():
            catalogue.freeze_memory(*key, name)
    return plan


def _planned(access: MemoryAccess, found: Adoptable, memory: AdoptableMemory, plugin: str) -> MemoryPlan:
    if not plugin:
        count = {NOT_INSTALLED: len(memory.notes)} if memory.notes else {}
        files = FilesPlan(conflicts=(f"{memory.root} stays there: {NOT_INSTALLED}",) if has_files(memory) else ())
        return MemoryPlan(memory=memory.memory, installed=False, left_out=count, settled={}, files=files)
    tombstones, left_out = access.tombstones(), dict[str, int]()
    with access.jobs(plugin) as jobs:
        ours = {row.key: row for row in jobs.outputs()}
        settled = jobs.settled()
    notes: list[AdoptedNote] = []
    uses: list[AdoptedNote] = []
    known = 0
    for note in memory.notes:
        rules = access.rules(note.cwd)
        reason = FORGOTTEN if note.key in tombstones.sessions else rules.reason if not rules.learns else ""
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        here = ours.get(note.key)
        if here is None or here.source_updated_at < note.source_updated_at:
            notes.append(_fit_to_keep(note, tombstones))
            continue
        known += 1
        if here.usage_count < note.usage_count or here.last_usage < note.last_usage:
            uses.append(note)
    return MemoryPlan(
        memory=memory.memory,
        installed=True,
        notes=tuple(notes),
        uses=tuple(uses),
        known=known,
        left_out=left_out,
        settled={
            key: until_ms
            for key, until_ms in memory.settled.items()
            if settled.get(key, -1) < until_ms and key not in tombstones.sessions
        },
        files=plan_files(access, found, memory, plugin),
    )


def _fit_to_keep(note: AdoptedNote, tombstones: Tombstones) -> AdoptedNote:
    """Without secrets, private spans and what was forgotten here."""
    return replace(
        note,
        raw_memory=tombstones.without(safe(note.raw_memory), lines=True),
        rollout_summary=tombstones.without(safe(note.rollout_summary), lines=True),
        rollout_slug=tombstones.without(note.rollout_slug, lines=True),
    )
