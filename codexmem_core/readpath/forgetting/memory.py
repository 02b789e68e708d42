"""One memory's files and their history without what is forgotten: made anew where the memory can, else line by line."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.consolidate.baseline import Baseline
from codexmem_core.consolidate.diff import DIFF_FILE
from codexmem_core.consolidate.digest import merge
from codexmem_core.consolidate.extensions import is_note, taken_in
from codexmem_core.consolidate.inputs import stored_rows
from codexmem_core.consolidate.layout import EXTENSIONS, RECAPS
from codexmem_core.consolidate.lease import Lease
from codexmem_core.consolidate.recaps import parse_recap
from codexmem_core.consolidate.repository import GIT, Damaged, Repository
from codexmem_core.consolidate.work import Work
from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.consolidate.worktree import survey
from codexmem_core.readpath.forgetting.lines import Provenance, without_raw_sections, without_sessions
from codexmem_core.readpath.forgetting.wanted import Removed
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.services.deadline import WorkDeadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from codexmem_hookspecs.services import Clock
    from codexmem_hookspecs.values.consolidate import Stored

    from codexmem_core.consolidate.work import Bench, Place
    from codexmem_core.readpath.forgetting.wanted import Wanted
    from codexmem_core.store.forgetting import ForgettingClaim
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.values import StoredOutput

_RAW = "raw_memories.md"
_NO_LINES = ("generated_lines.txt", DIFF_FILE)
"""Files of which no line is anybody's words."""
_OWN = ("extensions/", "skills/")
"""Files that stand for themselves: one of which nothing is left goes."""
MESSAGE = "forgetting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """How an installed memory is made anew."""

    place: Place
    bench: Bench
    jobs: Jobs
    claim: ForgettingClaim
    selected: Sequence[StoredOutput]
    """Rows that stay, as consolidation would take them in."""


class MemoryFiles:
    """One memory root, of an installed memory or of one that is only on disk."""

    def __init__(self, root: str, wanted: Wanted, clock: Clock, locks: str) -> None:
        self.root = root
        self._wanted = wanted
        self._baseline = Baseline(root, clock, locks=locks)
        self._folder = GuardedFolder(root, write=True)
        self._before = self._hashes()
        self.problem = ""
        """Why the memory was not made anew; empty when it was."""

    def holds(self) -> bool:
        """Whether anything in the files, their names or their history is meant. Raises Refused for a linked root."""
        for path in self._before:
            if self._wanted.holds(path) or self._absolute(path) in self._wanted.target.files:
                return True
            if self._wanted.holds(self._read(path)):
                return True
        return self._history_holds()

    def recap_names(self) -> list[str]:
        """Recaps of the sessions."""
        keys = set(self._wanted.target.keys)
        ids = {session for _, session in keys}
        found = []
        for path in self._before:
            folder, _, name = path.rpartition("/")
            if folder == RECAPS:
                recap = parse_recap(self._read(path))
                key = (recap.host, recap.session_id)
                if key in keys or (not recap.host and recap.session_id in ids):
                    found.append(name)
        return found

    def forget(self, rebuild: Rebuild | None, theirs: Sequence[str], others: Sequence[str]) -> list[Removed]:
        """Rewrite what holds it, then squash the history.

        ``theirs`` are texts of the forgotten sessions, ``others`` of everything that stays.
        """
        recaps = self.recap_names()
        theirs = [*theirs, *(self._read(f"{RECAPS}/{name}") for name in recaps)]
        for name in recaps:
            self._folder.remove(f"{RECAPS}/{name}")
        for path in self._hashes():
            if path.startswith(f"{EXTENSIONS}/"):
                self._clean(path)
        exempt = self._made_anew(rebuild) if rebuild is not None else frozenset[str]()
        ids = [session for _, session in self._wanted.target.keys]
        gone = Provenance.of(ids, recaps, theirs, [*others, *self._notes()])
        for path in self._hashes():
            if path.rpartition("/")[2] not in _NO_LINES:
                self._clean(path, lambda path, text: self._without_sessions(path, text, gone, exempt))
        self._folder.remove(DIFF_FILE)
        return [*self._told(), *self._squashed()]

    def _without_sessions(self, path: str, text: str, gone: Provenance, exempt: frozenset[str]) -> str:
        if not gone.ids or path.startswith((f"{RECAPS}/", f"{EXTENSIONS}/")):
            return text
        if os.path.basename(path) == _RAW:
            return without_raw_sections(text, gone)
        return without_sessions(text, gone, exempt)

    def _squashed(self) -> list[Removed]:
        if not os.path.lexists(os.path.join(self.root, GIT)):
            return []
        self._baseline.ensure()
        self._baseline.squash(MESSAGE)
        return [Removed(store=os.path.basename(self.root), what="history reduced to its present state")]

    def _made_anew(self, rebuild: Rebuild) -> frozenset[str]:
        try:
            return self._rebuilt(rebuild)
        except Exception as error:  # noqa: BLE001 - what cannot be made anew is cleaned line by line
            self.problem = f"{self.root} could not be made anew ({error}); it was cleaned line by line"
            return frozenset()

    def _rebuilt(self, rebuild: Rebuild) -> frozenset[str]:
        """Consolidate without a model; returns the lines that come from what stays.

        Of an agent's memory only the generated files are made: asking a model would send it what is to be forgotten.
        """
        stored = stored_rows(rebuild.selected)
        work = Work(rebuild.place, rebuild.bench)
        work.prepare(stored)
        if rebuild.bench.model.backend.turn is not None:
            return frozenset()
        if work.needed:
            deadline = WorkDeadline(rebuild.bench.limits.seconds)
            lease = Lease(
                lambda: rebuild.jobs.heartbeat(rebuild.claim.token), deadline, seconds=rebuild.bench.limits.seconds
            )
            with lease:
                work.consolidate(stored, lease)
            work.publish()
        return self._generated(rebuild, stored)

    def _generated(self, rebuild: Rebuild, stored: Sequence[Stored]) -> frozenset[str]:
        extensions = taken_in(MemoryWorkspace(rebuild.place.memory, self.root), lambda text: text)
        files = rebuild.bench.stages.consolidate_offline(
            rebuild.place.plugin, _Empty(rebuild.place.memory.name), stored, (), merge(stored, extensions)
        )
        return frozenset(line for text in files.values() for line in text.split("\n") if line.strip())

    def _clean(self, path: str, also: Callable[[str, str], str] = lambda _path, text: text) -> None:
        if self._absolute(path) in self._wanted.target.files or self._wanted.texts.holds(path):
            self._folder.remove(path)
            return
        old = self._read(path)
        new = also(path, self._wanted.texts.without(old, lines=True))
        if new == old:
            return
        if path.startswith(_OWN) and not _says_something(new):
            self._folder.remove(path)
        else:
            self._folder.write(path, new.encode("utf-8", "replace"))

    def _told(self) -> list[Removed]:
        after = self._hashes()
        name = os.path.basename(self.root)
        return [
            Removed(store=f"{name}/{path}", what="deleted" if path not in after else "rewritten")
            for path, digest in sorted(self._before.items())
            if after.get(path) != digest and path.rpartition("/")[2] not in _NO_LINES
        ]

    def _history_holds(self) -> bool:
        try:
            with Repository(self.root) as repository:
                # Everything that is stored, also what no commit reaches any more.
                return any(self._wanted.holds_bytes(repository.store[one].as_raw_string()) for one in repository.store)
        except (Damaged, FileNotFoundError):
            return False
        except Exception:  # noqa: BLE001 - what cannot be read may hold it
            return True

    def _notes(self) -> list[str]:
        return [self._read(path) for path in self._hashes() if path.startswith(f"{EXTENSIONS}/") and is_note(path)]

    def _hashes(self) -> dict[str, str]:
        found = survey(self.root)
        return {path: hashlib.sha256(self._read(path).encode("utf-8", "replace")).hexdigest() for path in found.files}

    def _read(self, path: str) -> str:
        try:
            return self._folder.read(path).decode("utf-8", "replace")
        except (FileNotFoundError, Refused):
            return ""

    def _absolute(self, path: str) -> str:
        return os.path.join(self.root, path)


class _Empty:
    """A root without files: what is made of it is generated. Implements services.Workspace."""

    def __init__(self, memory: str) -> None:
        self.memory = memory

    def read(self, path: str) -> str:  # noqa: ARG002 - the contract's signature
        return ""

    def exists(self, path: str) -> bool:  # noqa: ARG002 - as above
        return False

    def walk(self, under: str = "") -> Iterator[str]:  # noqa: ARG002 - as above
        return iter(())


def _says_something(text: str) -> bool:
    """Whether more than headings and a note's header is left."""
    header = ("#", "- created:", "- session:")
    return any(line.strip() and not line.startswith(header) for line in text.split("\n"))
