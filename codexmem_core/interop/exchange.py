"""Other tools' memories in and ours out, one plugin at a time: what fails is told, and stops nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.places import overlap
from codexmem_hookspecs.values.interop import Snapshot

from codexmem_core.interop.given_out import place_of
from codexmem_core.interop.mirror import apply_mirror, is_applied
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.safety.leftovers import sweep_leftovers
from codexmem_core.safety.redaction import redact, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.services import Log, Workspace
    from codexmem_hookspecs.values.interop import Mirror

    from codexmem_core.plugins.stages import Stages
    from codexmem_core.readpath.tombstones import Tombstones

LOCK_WAIT_S = 0.5
"""How long an export waits for the other tool's lock. That tool may hold it for minutes; the next pass tries again."""
TURN = "exchange"
"""Lock of our own, held over each import and export: one after the other they never wait for each other at another
tool's lock, and an export gives out what the memory holds then, not what was there before something was forgotten."""
TURN_S = 900.0
"""Longest wait for a turn, the time of a job; who hangs in one keeps nobody from his."""
_LOCK_ENDING = ".lock"


class Exchange:
    """Imports into one memory and exports out of it.

    ``tombstones``: what was forgotten, and does not come back from another tool. ``roots``: folders of all memories
    here; what another tool has in one of them is no other tool's. ``locks``: our folder of locks.
    ``remember`` is told of each place to which something goes out.
    """

    def __init__(
        self,
        stages: Stages,
        tombstones: Tombstones,
        roots: Iterable[str],
        locks: str,
        log: Log,
        remember: Callable[[Mirror], None],
    ) -> None:
        self._stages = stages
        self._tombstones = tombstones
        self._roots = tuple(roots)
        self._locks = locks
        self._log = log
        self._remember = remember
        self.places: set[str] = set()
        """Where exports wanted to go so far."""

    def take_in(self, folder: GuardedFolder, workspace: Workspace) -> None:
        """Imports, each mirrored into the memory root."""
        if not self._stages.hooks.with_hook("codexmem_interop_import"):
            return
        with self._turn():
            for outcome in self._stages.interop_import(workspace):
                if outcome.error is not None:
                    self._log.warning("import failed, nothing removed", error=str(outcome.error))
                for mirror in outcome.value or ():
                    try:
                        apply_mirror(folder, self._known(mirror))
                    except Exception as error:  # noqa: BLE001 - exchange never stops consolidation
                        self._log.warning("exchange failed", extension=mirror.extension, error=str(error))

    def give_out(self, folder: GuardedFolder, workspace: Workspace, *, forgotten: bool = False) -> list[str]:
        """Exports; returns what could not be done, which the log says too."""
        if not self._stages.hooks.with_hook("codexmem_interop_export"):
            return []
        with self._turn():
            return self._given_out(folder, workspace, forgotten=forgotten)

    def _given_out(self, folder: GuardedFolder, workspace: Workspace, *, forgotten: bool) -> list[str]:
        problems: list[str] = []
        # What lies in the extensions is not the memory's own.
        files = {path: folder.read(path) for path in workspace.walk() if not path.startswith("extensions/")}
        snapshot = Snapshot(memory=workspace.memory, files=files, forgotten=forgotten)
        for outcome in self._stages.interop_export(snapshot):
            if outcome.error is not None:
                self._log.warning("export failed", error=str(outcome.error))
                problems.append(str(outcome.error))
            problems += self._all_put(outcome.value or (), f"{outcome.plugin}: ")
        return problems

    def withdraw(self, mirrors: Iterable[Mirror]) -> list[str]:
        """Take copies out of places that no export names any more; returns what could not be done."""
        with self._turn():
            return self._all_put(mirrors)

    def _all_put(self, mirrors: Iterable[Mirror], whose: str = "") -> list[str]:
        problems = []
        for mirror in mirrors:
            self.places.add(place_of(mirror))
            try:
                self._put(self._known(mirror))
            except Exception as error:  # noqa: BLE001 - exchange never stops anything else
                self._log.warning("exchange failed", extension=mirror.extension, error=str(error))
                problems.append(redact(f"{whose}{place_of(mirror)}: {error}"))
        return problems

    def _put(self, mirror: Mirror) -> None:
        """Write into another tool's folder, and only where something differs: its lock is not taken for nothing.

        Raises Refused and OSError.
        """
        if not os.path.isabs(mirror.root):
            raise Refused(f"{mirror.root!r} is no absolute folder")
        ours = next((root for root in self._roots if overlap(root, mirror.root)), "")
        if ours:
            raise Refused(f"{mirror.root} overlaps with codexmem's own {ours}")
        folder = GuardedFolder(mirror.root, write=True)
        extension = place_of(mirror)
        if mirror.files:
            self._remember(mirror)
        if is_applied(folder, mirror) and not _unfinished(extension):
            return
        if not mirror.lock:
            _write(folder, mirror, extension)
            return
        place, name = os.path.split(mirror.lock)
        if not name.endswith(_LOCK_ENDING):
            raise Refused(f"{mirror.lock} is no lock")
        with GuardedFolder(place, write=True).lock(name.removesuffix(_LOCK_ENDING), LOCK_WAIT_S) as held:
            if not held:
                raise Refused(f"{mirror.lock} is held: the other tool is at work there; the next pass tries again")
            _write(folder, mirror, extension)

    def _turn(self) -> AbstractContextManager[bool]:
        return GuardedFolder(self._locks, write=True).lock(TURN, TURN_S)

    def _known(self, mirror: Mirror) -> Mirror:
        """Without secrets, private spans and what was forgotten: another tool's memory does not bring that back."""
        files = {
            path: fit_to_keep(content, self._tombstones)
            for path, content in mirror.files.items()
            if not self._tombstones.holds(path)
        }
        return replace(mirror, files=files)


def fit_to_keep(content: bytes, tombstones: Tombstones) -> bytes:
    """A file of another tool's without secrets, private spans and what was forgotten; else byte for byte as it is."""
    text = content.decode("utf-8", "surrogateescape")
    left = tombstones.without(safe(text), lines=True)
    return content if left == text else left.encode("utf-8", "surrogateescape")


def _write(folder: GuardedFolder, mirror: Mirror, extension: str) -> None:
    sweep_leftovers(extension)
    apply_mirror(folder, mirror)


def _unfinished(extension: str) -> bool:
    """Whether a writer that was killed may have left a file behind."""
    return any(name.endswith(".tmp") for _, _, names in os.walk(extension) for name in names)
