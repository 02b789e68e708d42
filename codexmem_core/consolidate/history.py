"""A memory's own history: what each consolidation changed, and how far back it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dulwich.objects import Commit

    from codexmem_core.consolidate.repository import Repository

_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One commit."""

    id: str
    at_ms: int
    """UNIX milliseconds, whole seconds."""
    message: str
    added: int
    """Files, as in ``modified`` and ``deleted``."""
    modified: int
    deleted: int
    folded: bool = False
    """Older commits were folded into this one; its counts are those of all of them together."""


def entries_of(repository: Repository) -> Iterator[HistoryEntry]:
    """Newest first."""
    commits = list(repository.commits())
    listings = [repository.files(commit.id) for commit in commits]
    for number, commit in enumerate(commits):
        new = listings[number]
        old = listings[number + 1] if number + 1 < len(commits) else {}
        yield HistoryEntry(
            id=commit.id.decode(),
            at_ms=commit.commit_time * 1000,
            message=commit.message.decode("utf-8", "replace").strip(),
            added=len(new.keys() - old.keys()),
            modified=sum(1 for path in new.keys() & old.keys() if new[path] != old[path]),
            deleted=len(old.keys() - new.keys()),
            folded=number + 1 == len(commits) and bool(commit.parents),
        )


def oldest_to_keep(commits: Sequence[Commit], now_ms: int, keep: int, days: int) -> int:
    """Index of the last commit, newest first, that stays: within ``keep`` and ``days``, but at least the newest."""
    last = 0
    for number, commit in enumerate(commits[:keep]):
        if now_ms - commit.commit_time * 1000 > days * _DAY_MS:
            break
        last = number
    return last
