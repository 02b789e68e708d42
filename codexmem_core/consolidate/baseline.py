"""The last consolidated state of a memory root, kept as git history: what changed since, and each success a commit."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.consolidate import Change
from dulwich.objects import ObjectID
from filelock import FileLock

from codexmem_core.consolidate.diff import DIFF_FILE, file_patch
from codexmem_core.consolidate.git_locks import wait_for_git
from codexmem_core.consolidate.history import HistoryEntry, entries_of, oldest_to_keep
from codexmem_core.consolidate.repository import FORGETTING_MARK, GIT, Damaged, Repository, remove_entry
from codexmem_core.consolidate.stat_cache import StatCache, write_stat_cache
from codexmem_core.consolidate.worktree import refuse_linked_root, survey
from codexmem_core.safety.files import GuardedFolder, atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Clock

EXTENSIONS = "extensions/"
_FIRST_MESSAGE = "memory baseline: empty"
_ATTEMPTS = 10
_NO_BLOB = ObjectID(b"0" * 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceDiff:
    """What differs from the last consolidated state, and what extensions/ held when it was looked at."""

    changes: tuple[Change, ...]
    """Sorted by path."""
    patch: str
    """Unified, three lines of context, git's headers."""
    commit: str = ""
    """Id of the commit that was compared with."""
    extensions: Mapping[str, ObjectID] = field(default_factory=dict, repr=False)
    """Path to blob of every file below extensions/."""
    contents: Mapping[ObjectID, bytes] = field(default_factory=dict, repr=False)
    """Content of those blobs that the baseline does not hold."""


class Outdated(Exception):  # noqa: N818 - a state that a caller handles
    """The baseline moved since the diff was taken: what it saw may have been forgotten, and must be looked at anew."""


@dataclass(frozen=True, slots=True)
class _Worktree:
    blobs: dict[str, ObjectID]
    stats: dict[str, os.stat_result]
    contents: dict[ObjectID, bytes]
    """Of files that differ from the known blob at their path."""


class Baseline:
    """The baseline of one memory root, in ``<root>/.git``.

    Every method that writes holds a lock in the folder ``locks`` (by default ``locks`` beside the root), which a crash
    frees. Raises TimeoutError when another process holds it, or a lock of git's, for longer than ``patience_s``;
    Refused when the root or anything in it is a link; and all but :meth:`ensure` raise Damaged when the repository is
    missing or cannot be used.
    """

    def __init__(self, root: str, clock: Clock, *, locks: str = "", patience_s: float = 30.0) -> None:
        self.root = root
        self._clock = clock
        parent, name = os.path.split(os.path.abspath(root))
        self._lock = os.path.join(locks or os.path.join(parent, "locks"), f"{name}.baseline.lock")
        self._patience_s = patience_s
        self._git = os.path.join(root, GIT)

    def ensure(self) -> Literal["kept", "created", "replaced"]:
        """Make sure that there is a usable baseline; a usable one is left alone.

        A missing one starts from an empty tree, so that everything in the root is new in the first diff (Codex
        0.171). One that is damaged, a link, or leads elsewhere is deleted and started anew. A squash that a crash
        interrupted is finished.
        """
        with self._exclusive(usable=False):
            existed = os.path.lexists(self._git)
            try:
                with Repository(self.root) as repository:
                    repository.check()
                    repository.sweep()
            except Damaged:
                Repository.create(self.root, _FIRST_MESSAGE, self._clock.now_ms())
                return "replaced" if existed else "created"
            unfinished = self._read_mark()
            if unfinished:
                self._squash(unfinished)
            return "kept"

    def diff(self) -> WorkspaceDiff:
        """Compare the root with the newest commit. Writes nothing; dotfiles and the diff file itself do not count."""
        with Repository(self.root) as repository:
            head = repository.head()
            known = repository.files(head)
            now = self._worktree(known)
            changes, patches = [], []
            for path in sorted(known.keys() | now.blobs.keys()):
                old, new = known.get(path), now.blobs.get(path)
                if old == new or not _counts(path):
                    continue
                changes.append(Change(status="A" if old is None else "D" if new is None else "M", path=path))
                content = None if new is None else now.contents[new]
                ids = (old or _NO_BLOB, new or _NO_BLOB)
                before = (repository.content(old) or b"") if old else None
                patches.append(file_patch(os.fsencode(path), before, content, ids))
        extensions = {path: blob for path, blob in now.blobs.items() if path.startswith(EXTENSIONS)}
        return WorkspaceDiff(
            changes=tuple(changes),
            patch=b"".join(patches).decode("utf-8", "replace"),
            commit=head.decode(),
            extensions=extensions,
            contents={blob: now.contents[blob] for blob in extensions.values() if blob in now.contents},
        )

    def commit(self, message: str, *, seen: WorkspaceDiff | None = None) -> str:
        """Make the root's state the baseline; returns the commit's id, the newest one's when nothing differs.

        With ``seen``, extensions/ goes in as that diff saw it: a note that was added, edited or removed since then
        stays in the next diff. Raises Outdated when the baseline is not the one that it was compared with.
        """
        with self._exclusive(), Repository(self.root) as repository:
            head = repository.head()
            if seen is not None and seen.commit != head.decode():
                raise Outdated(f"the baseline of {self.root} moved since the diff was taken; consolidate again")
            known = repository.files(head)
            started_ns = self._file_system_now()
            now = self._worktree(known)
            files, contents = dict(now.blobs), dict(now.contents)
            if seen is not None:
                files = {path: blob for path, blob in files.items() if not path.startswith(EXTENSIONS)}
                files.update(seen.extensions)
                contents.update(seen.contents)
            new = head
            if files != known:
                commit, _ = repository.write_commit(files, contents, (head,), message, self._clock.now_ms())
                new = commit.id
                repository.move_head(new, "commit")
            self._cache(files, now, started_ns)
            return new.decode()

    def squash(self, message: str) -> str:
        """Forget history: one commit remains, and nothing else can be found in ``.git``, packed or loose.

        It holds every file that the baseline knew as it stands now. What is still pending stays pending, though
        shown whole: new files, and edited ones below extensions/. Deletions are settled by it. A crash in between is
        made good by :meth:`ensure`.
        """
        with self._exclusive():
            atomic_write(os.path.join(self._git, FORGETTING_MARK), message.encode("utf-8", "replace"), "baseline")
            return self._squash(message)

    def fold(self, keep: int = 30, days: int = 30) -> int:
        """Fold commits beyond the newest ``keep`` or older than ``days`` into the oldest one kept.

        Their own objects are deleted. Returns how many were folded away; the newest commit always stays.
        """
        with self._exclusive(), Repository(self.root) as repository:
            commits = list(repository.commits())
            kept = oldest_to_keep(commits, self._clock.now_ms(), keep, days)
            folded = len(commits) - 1 - kept
            if folded:
                repository.cut_after(commits[kept].id)
                repository.delete_unreachable()
            return folded

    def history(self) -> tuple[HistoryEntry, ...]:
        """All commits, newest first."""
        with Repository(self.root) as repository:
            return tuple(entries_of(repository))

    def _squash(self, message: str) -> str:
        with Repository(self.root) as repository:
            known = repository.files(repository.head())
            started_ns = self._file_system_now()
            # Everything is read again: the new pack must not depend on a single old object.
            now = self._worktree(dict.fromkeys(known, _NO_BLOB))
            files = {
                path: blob
                for path, blob in now.blobs.items()
                if path in known and (blob == known[path] or not path.startswith(EXTENSIONS))
            }
            commit, pack = repository.write_commit(files, now.contents, (), message, self._clock.now_ms())
            repository.move_head(commit.id, "squash")
            repository.forget_all_but(pack)
            self._cache(files, now, started_ns)
        remove_entry(os.path.join(self._git, FORGETTING_MARK))
        return commit.id.decode()

    def _worktree(self, known: Mapping[str, ObjectID]) -> _Worktree:
        """Blob ids of all files; only those are read whose stats do not prove that they are as ``known``."""
        seen = survey(self.root)
        if seen.links:
            raise Refused(
                f"{os.path.join(self.root, min(seen.links))} is a symbolic link; memory files must be real files"
            )
        cache = StatCache(self._git)
        folder = GuardedFolder(self.root, write=False)
        tree = _Worktree({}, {}, {})
        for path, found in seen.files.items():
            if not _counts(path):
                continue
            blob = known.get(path)
            if blob is None or cache.blob(path, found) != blob:
                content = _read(folder, path)
                if content is None:
                    continue
                blob = _blob_id(content)
                if blob != known.get(path):
                    tree.contents[blob] = content
            tree.blobs[path] = blob
            tree.stats[path] = found
        return tree

    def _cache(self, files: Mapping[str, ObjectID], now: _Worktree, started_ns: int) -> None:
        stats = {path: stat for path, stat in now.stats.items() if files.get(path) == now.blobs[path]}
        write_stat_cache(self._git, files, stats, started_ns)

    def _file_system_now(self) -> int:
        """The time that a file written now gets: the only clock that file times can be compared with."""
        with tempfile.TemporaryFile(dir=self._git) as file:
            return os.fstat(file.fileno()).st_mtime_ns

    def _read_mark(self) -> str:
        try:
            with open(os.path.join(self._git, FORGETTING_MARK), encoding="utf-8") as file:
                return file.read() or _FIRST_MESSAGE
        except FileNotFoundError:
            return ""

    @contextmanager
    def _exclusive(self, *, usable: bool = True) -> Iterator[None]:
        refuse_linked_root(self.root)
        os.makedirs(os.path.dirname(self._lock), mode=0o700, exist_ok=True)
        with FileLock(self._lock, timeout=self._patience_s):
            wait_for_git(self._git, self._patience_s)
            if usable:
                with Repository(self.root) as repository:
                    repository.check()
                    repository.sweep()
            yield


def _read(folder: GuardedFolder, path: str) -> bytes | None:
    """A file's content; None when it is gone. One that is replaced while it is opened is opened again."""
    attempts = 0
    while True:
        attempts += 1
        try:
            return folder.read(path)
        except FileNotFoundError:
            return None
        except Refused:
            if attempts == _ATTEMPTS or not os.path.isfile(os.path.join(folder.root, path)):
                raise


def _counts(path: str) -> bool:
    # A name with a backslash is nothing that the path guard could open.
    return "\\" not in path and path != DIFF_FILE and not any(part.startswith(".") for part in path.split("/"))


def _blob_id(content: bytes) -> ObjectID:
    # Git names objects by SHA-1; nothing is protected by it.
    return ObjectID(hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest().encode())
