"""A memory's own history: which consolidations are kept, and what each of them, or nobody yet, has changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.consolidate import Change
from dulwich.objects import ObjectID

from codexmem_core.consolidate.baseline import Baseline
from codexmem_core.consolidate.diff import file_patch
from codexmem_core.consolidate.repository import Damaged, Repository
from codexmem_core.readpath.errors import ToolError
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from codexmem_core.consolidate.history import HistoryEntry
    from codexmem_core.readpath.access import MemoryAccess

SHORTEST_ID = 4
_NO_BLOB = ObjectID(b"0" * 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDiff:
    """What differs. ``commit`` is the consolidation that changed it; empty: nobody has consolidated it yet."""

    commit: str
    changes: tuple[Change, ...]
    patch: str
    """Unified, without secrets."""


def history_of(access: MemoryAccess, plugin: str) -> tuple[HistoryEntry, ...]:
    """Kept consolidations, newest first; none for a memory that was never consolidated. Raises ToolError."""
    try:
        return _baseline(access, plugin).history()
    except Damaged as damaged:
        if not os.path.lexists(os.path.join(access.root(plugin), ".git")):
            return ()
        raise ToolError(f"{damaged}; codexmem run begins a new history") from damaged


def diff_of(access: MemoryAccess, plugin: str, commit: str = "") -> MemoryDiff:
    """What a consolidation changed against the one before it, named by its id or the beginning of it.

    Without one: what has changed since the last. Raises ToolError.
    """
    try:
        if commit:
            return _of_commit(access.root(plugin), _named(history_of(access, plugin), commit))
        seen = _baseline(access, plugin).diff()
    except Damaged as damaged:
        name = access.memories[plugin].name
        raise ToolError(f"{name} has no history yet ({damaged}); codexmem run begins one") from damaged
    return MemoryDiff(commit="", changes=seen.changes, patch=redact(seen.patch))


def _baseline(access: MemoryAccess, plugin: str) -> Baseline:
    return Baseline(access.root(plugin), access.clock, locks=access.home.locks)


def _named(entries: tuple[HistoryEntry, ...], commit: str) -> str:
    wanted = commit.lower()
    found = [entry.id for entry in entries if entry.id.startswith(wanted)] if len(wanted) >= SHORTEST_ID else []
    if len(found) != 1:
        problem = "several commits begin" if found else "no kept commit begins"
        raise ToolError(f"{problem} with {commit} (at least {SHORTEST_ID} characters); see codexmem history")
    return found[0]


def _of_commit(root: str, commit: str) -> MemoryDiff:
    changes, patches = [], []
    with Repository(root) as repository:
        found = repository.commit_at(ObjectID(commit.encode()))
        parents = repository.parents(found)
        new = repository.files(found.id)
        old = repository.files(parents[0]) if parents else {}
        for path in sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)):
            before, after = old.get(path), new.get(path)
            changes.append(Change(status="A" if before is None else "D" if after is None else "M", path=path))
            contents = _content(repository, before), _content(repository, after)
            patches.append(file_patch(os.fsencode(path), *contents, ids=(before or _NO_BLOB, after or _NO_BLOB)))
    return MemoryDiff(commit=commit, changes=tuple(changes), patch=redact(b"".join(patches).decode("utf-8", "replace")))


def _content(repository: Repository, blob: ObjectID | None) -> bytes | None:
    return None if blob is None else repository.content(blob) or b""
