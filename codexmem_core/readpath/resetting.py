"""Reset: every memory's notes, jobs and files go; session modes and the memory that each session reads stay."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.forgetting.exported import export_anew
from codexmem_core.readpath.roots import roots_on_disk
from codexmem_core.store.on_disk import compact, memory_databases
from codexmem_core.store.workers import worker_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.values import ConsolidationClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPlan:
    """What a reset takes: of installed memories, and of those that are only on disk any more."""

    databases: tuple[str, ...]
    roots: tuple[str, ...]
    leftovers: tuple[str, ...]
    """Ready answers for hooks, and older copies of the databases."""

    def text(self) -> str:
        """For the user who is asked."""
        return "\n".join(
            [
                "This deletes everything that was remembered, for every memory, with its history:",
                *(f"  files in  {root}" for root in self.roots),
                *(f"  notes in  {database}" for database in self.databases),
                "Session modes stay, and so do the agents' own transcripts: they can be learned from again.",
            ]
        )

    def done(self) -> str:
        """That it happened."""
        return f"deleted: {len(self.roots)} memory folders' files, notes of {len(self.databases)} databases"


def reset_plan(access: MemoryAccess) -> ResetPlan:
    """Looking changes nothing. Raises ToolError when a root is a link."""
    home = access.home
    databases = {home.below(memory.database) for memory in access.memories.values()} | set(memory_databases(home.root))
    roots = {access.root(plugin) for plugin in access.memories} | set(roots_on_disk(home.root))
    for root in sorted(roots):
        if os.path.islink(root):
            raise ToolError(f"{root} is a symbolic link; nothing was reset. Remove the link first.")
    for root in sorted(roots):
        if _names(root) and not _ours(root, databases):
            raise ToolError(f"{root} was not made by codexmem; nothing was reset. Is {home.root} the right --home?")
    if not any(os.path.exists(path) for path in (home.catalogue, *databases, *roots)):
        raise ToolError(f"nothing is kept in {home.root}; nothing was reset")
    names = tuple(os.path.basename(database) for database in sorted(databases))
    copies = [
        *(os.path.join(home.payloads, name) for name in _names(home.payloads)),
        *(os.path.join(home.backups, name) for name in _names(home.backups) if name.startswith(names)),
        *(home.below(name) for name in _names(home.root) if name.startswith(tuple(f"{one}.corrupt-" for one in names))),
    ]
    return ResetPlan(
        databases=tuple(sorted(path for path in databases if os.path.exists(path))),
        roots=tuple(sorted(root for root in roots if os.path.isdir(root))),
        leftovers=tuple(sorted(copies)),
    )


def _ours(root: str, databases: Iterable[str]) -> bool:
    """A memory has a baseline, its database beside it, or a summary; a folder of the user's has neither."""
    return (
        os.path.isdir(os.path.join(root, ".git"))
        or os.path.isfile(os.path.join(root, "memory_summary.md"))
        or any(os.path.exists(path) for path in databases)
    )


def reset(access: MemoryAccess, confirm: Callable[[ResetPlan], bool]) -> ResetPlan:
    """Ask, then wipe. While it works no consolidation can begin; afterwards a cooldown holds for models that cost.

    Raises ToolError: a root is a link, a consolidation is in flight, the user said no, or something could not be
    removed (then what is left is named, and everything else is gone).
    """
    plan = reset_plan(access)
    with ExitStack() as opened:
        stores = [opened.enter_context(access.jobs_at(path)) for path in plan.databases]
        for jobs in stores:
            jobs.release_orphans(fresh_s=0)
            attempt = jobs.consolidation_snapshot().attempt
            if attempt is not None and attempt.outcome == "running":
                raise ToolError("a consolidation is in flight; nothing was reset. Try again when it has ended.")
        if not confirm(plan):
            raise ToolError("not confirmed; nothing was reset")
        plan = reset_plan(access)
        claims = _claimed(stores)
        left = [*_wiped(plan.roots), *_removed(plan.leftovers)]
        left += export_anew(access)
        for jobs in stores:
            jobs.clear()
        del claims
    for path in plan.databases:
        compact(path)
    if left:
        raise ToolError(f"not everything could be removed: {'; '.join(left)}")
    return plan


def _claimed(stores: Sequence[Jobs]) -> list[ConsolidationClaim]:
    """The consolidation of every memory, so that none runs into the wipe; clearing ends the claims."""
    claims: list[tuple[Jobs, ConsolidationClaim]] = []
    for jobs in stores:
        claim = jobs.claim_consolidation(worker=worker_identity(), at_once=True)
        if claim == "skipped_running":
            for other, taken in claims:
                other.release_consolidation(taken, "a reset was refused")
            raise ToolError("a consolidation is in flight; nothing was reset. Try again when it has ended.")
        if not isinstance(claim, str):
            claims.append((jobs, claim))
    return [claim for _, claim in claims]


def _wiped(roots: Iterable[str]) -> list[str]:
    """Remove every entry of the folders, .git too, no link followed; returns what could not be removed."""
    left: list[str] = []
    for root in roots:
        for name in _names(root):
            path = os.path.join(root, name)
            try:
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)
            except OSError as error:
                left.append(f"{error.filename or path}: {error.strerror}")
    return left


def _removed(paths: Iterable[str]) -> list[str]:
    left: list[str] = []
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            left.append(f"{path}: {error.strerror}")
    return left


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
