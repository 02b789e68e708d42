"""The git directory of a memory root, read and written at the object level: no git program, no user configuration.

Objects go into packs, and references, index and marks are replaced by rename. Git's own lock files are honoured but
never made, because a killed process could not take one back.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING, Self

from dulwich.errors import NotCommitError, NotTreeError
from dulwich.index import commit_tree
from dulwich.object_store import DiskObjectStore, MemoryObjectStore
from dulwich.objects import S_ISGITLINK, Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.pack import Pack, full_unpacked_object
from dulwich.refs import HEADREF, DiskRefsContainer

from codexmem_core.consolidate.worktree import survey
from codexmem_core.safety.files import atomic_write
from codexmem_core.safety.instants import instant
from codexmem_core.safety.leftovers import sweep_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

GIT = ".git"
FILE_MODE = 0o100644
"""Every file of a memory is plain text to read; whether it is executable is not kept."""

_NEW = ".git.new"
_BRANCH = "refs/heads/main"
_IDENTITY = b"codexmem <memory@codexmem.local>"
_CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = false
"""
# A reader that finds one of these would look for objects or references somewhere else.
_REDIRECTIONS = ("commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates", "reftable")
FORGETTING_MARK = "codexmem-forgetting"
"""Stands in ``.git`` while a squash is under way, and holds its message."""
_KEPT_BY_FORGETTING = frozenset({FORGETTING_MARK, "HEAD", "config", "description", "hooks", "info", "objects", "refs"})
_LABEL = "baseline"


class Damaged(Exception):  # noqa: N818 - a state that a caller handles
    """The git directory cannot be used; the message says why."""


class Repository:
    """An open repository. Use it as a context manager, for it holds packs open.

    Raises Damaged when ``.git`` is missing, a link or no folder.
    """

    def __init__(self, root: str) -> None:
        self.path = os.path.join(root, GIT)
        if os.path.islink(self.path) or not os.path.isdir(self.path):
            raise Damaged(f"{self.path} is missing or no folder")
        self.store = DiskObjectStore(os.path.join(self.path, "objects"), fsync_object_files=True)
        self.references = DiskRefsContainer(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    @classmethod
    def create(cls, root: str, message: str, now_ms: int) -> None:
        """Make ``.git`` with one commit of an empty tree, whole or not at all. What was there is deleted first."""
        new, final = os.path.join(root, _NEW), os.path.join(root, GIT)
        remove_entry(new)
        os.mkdir(new, mode=0o700)
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            os.makedirs(os.path.join(new, folder))
        tree = Tree()
        commit = make_commit(tree.id, (), message, now_ms)
        store = DiskObjectStore(os.path.join(new, "objects"), fsync_object_files=True)
        try:
            store.add_objects([(tree, None), (commit, None)])
        finally:
            store.close()
        atomic_write(os.path.join(new, "config"), _CONFIG, _LABEL)
        atomic_write(os.path.join(new, "HEAD"), f"ref: {_BRANCH}\n".encode(), _LABEL)
        atomic_write(os.path.join(new, _BRANCH), commit.id + b"\n", _LABEL)
        remove_entry(final)
        instant("baseline:create:before")
        os.rename(new, final)
        instant("baseline:create:after")

    def check(self) -> None:
        """Raise Damaged unless the newest commit and all that it names are there, inside this folder."""
        linked = survey(self.path, hidden=True).links
        redirected = [path for path in _REDIRECTIONS if os.path.lexists(os.path.join(self.path, path))]
        if linked or redirected:
            raise Damaged(f"{self.path} leads elsewhere through {(linked + redirected)[0]}")
        try:
            missing = [path for path, blob in self.files(self.head()).items() if blob not in self.store]
            list(self.commits())
        except (Damaged, MemoryError):
            raise
        except OSError as error:
            # Only what is missing is damage. No permission or no descriptors left is no reason to delete history.
            if not isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
                raise
            raise Damaged(f"{self.path}: {error}") from error
        except Exception as error:  # a damaged repository makes the library raise nearly anything
            raise Damaged(f"{self.path}: {type(error).__name__} {error}") from error
        if missing:
            raise Damaged(f"{self.path} has lost the content of {missing[0]}")

    def head(self) -> ObjectID:
        """Id of the newest commit. Raises Damaged when there is none."""
        try:
            return self.references[HEADREF]
        except KeyError:
            raise Damaged(f"{self.path} has no commit") from None

    def commit_at(self, commit_id: ObjectID) -> Commit:
        """The commit. Raises KeyError when it is missing, NotCommitError when it is something else."""
        found = self.store[commit_id]
        if not isinstance(found, Commit):
            raise NotCommitError(commit_id)
        return found

    def parents(self, commit: Commit) -> tuple[ObjectID, ...]:
        """Its parents; none where older commits were folded away."""
        return () if commit.id in self._shallow() else tuple(commit.parents)

    def commits(self) -> Iterator[Commit]:
        """From the newest back, first parents only."""
        following: tuple[ObjectID, ...] = (self.head(),)
        while following:
            commit = self.commit_at(following[0])
            yield commit
            following = self.parents(commit)

    def files(self, commit_id: ObjectID) -> dict[str, ObjectID]:
        """Path to blob of every file of a commit."""
        found: dict[str, ObjectID] = {}
        pending = [("", self.commit_at(commit_id).tree)]
        while pending:
            prefix, tree_id = pending.pop()
            for entry in self._tree(tree_id).iteritems():
                path = prefix + os.fsdecode(entry.path)
                if stat.S_ISDIR(entry.mode):
                    pending.append((path + "/", entry.sha))
                elif stat.S_IFMT(entry.mode) in {stat.S_IFREG, stat.S_IFLNK}:
                    found[path] = entry.sha
        return found

    def content(self, blob_id: ObjectID | None) -> bytes | None:
        """A blob's content; None for none, or when it cannot be read any more (then only the patch is the poorer)."""
        if blob_id is None:
            return None
        try:
            return self.store[blob_id].as_raw_string()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a damaged pack makes the library raise nearly anything
            return None

    def write_commit(
        self,
        files: Mapping[str, ObjectID],
        contents: Mapping[ObjectID, bytes],
        parents: tuple[ObjectID, ...],
        message: str,
        now_ms: int,
    ) -> tuple[Commit, str]:
        """Store a commit of ``files`` and point nothing at it; ``contents`` holds the blobs to write.

        Returns the commit and the pack that it is in. Without parents that pack needs no other object; with parents
        there is none when the store holds everything already, as after a kill within the same second.
        """
        fresh = MemoryObjectStore()
        for blob_id in set(files.values()) & contents.keys():
            fresh.add_object(Blob.from_string(contents[blob_id]))
        tree_id = commit_tree(fresh, [(os.fsencode(path), blob, FILE_MODE) for path, blob in files.items()])
        commit = make_commit(tree_id, parents, message, now_ms)
        fresh.add_object(commit)
        wanted = [object_id for object_id in fresh if not parents or object_id not in self.store]
        if not wanted:
            return commit, ""
        pack = self.store.add_objects([(fresh[object_id], None) for object_id in wanted])
        return commit, _named(pack)

    def move_head(self, commit_id: ObjectID, label: str) -> None:
        """Point the checked-out branch at a commit."""
        chain, _ = self.references.follow(HEADREF)
        branch = os.fsdecode(chain[-1])
        if not branch.startswith("refs/heads/"):
            branch = _BRANCH
        # Git removes the folders of a branch like feature/x when it packs references.
        os.makedirs(os.path.dirname(os.path.join(self.path, branch)), exist_ok=True)
        instant(f"baseline:{label}:before")
        atomic_write(os.path.join(self.path, branch), commit_id + b"\n", _LABEL)
        if os.fsdecode(chain[-1]) != branch:
            atomic_write(os.path.join(self.path, "HEAD"), f"ref: {branch}\n".encode(), _LABEL)
        instant(f"baseline:{label}:after")

    def cut_after(self, commit_id: ObjectID) -> None:
        """Let history end at a commit, by git's own means for it (a shallow repository): ids stay as they are."""
        instant("baseline:fold:before")
        atomic_write(os.path.join(self.path, "shallow"), commit_id + b"\n", _LABEL)
        instant("baseline:fold:after")

    def forget_all_but(self, pack: str) -> None:
        """Delete all references but HEAD's branch, logs, notes of operations, the index, and all other object files."""
        chain, _ = self.references.follow(HEADREF)
        for name in sorted(os.listdir(self.path)):
            if name not in _KEPT_BY_FORGETTING:
                remove_entry(os.path.join(self.path, name))
        for path in sorted(survey(os.path.join(self.path, "refs"), hidden=True).files):
            if f"refs/{path}" != os.fsdecode(chain[-1]):
                os.remove(os.path.join(self.path, "refs", path))
        instant("baseline:forget:before")
        self._delete_objects_but(pack)
        instant("baseline:forget:after")

    def delete_unreachable(self) -> None:
        """Put everything that a reference reaches into one pack and delete all other object files."""
        needed = list(self._reachable())
        pack = self.store.add_pack_data(len(needed), (full_unpacked_object(self.store[one]) for one in needed))
        self._delete_objects_but(_named(pack))

    def _delete_objects_but(self, pack: str) -> None:
        self.store.close()
        packs = os.path.join(self.path, "objects", "pack")
        # Index first: git ignores a pack without an index, but complains about an index without a pack.
        for name in sorted(os.listdir(packs), key=lambda name: (not name.endswith((".idx", "index")), name)):
            if pack not in name:
                remove_entry(os.path.join(packs, name))
        objects = os.path.join(self.path, "objects")
        for name in os.listdir(objects):
            if name not in {"pack", "info"}:
                remove_entry(os.path.join(objects, name))
        # Caches of git's own that name what is gone now.
        for cache in ("info/commit-graph", "info/commit-graphs", "info/packs"):
            remove_entry(os.path.join(objects, cache))

    def sweep(self) -> None:
        """Remove what a killed process of ours left; only for the holder of the baseline lock."""
        sweep_leftovers(self.path)
        packs = os.path.join(self.path, "objects", "pack")
        for name in os.listdir(packs):
            if name.endswith(".idx.lock") or (name.startswith("tmp") and name.endswith(".pack")):
                remove_entry(os.path.join(packs, name))

    def _reachable(self) -> Iterator[ObjectID]:
        seen: set[ObjectID] = set()
        pending: list[ObjectID] = [*self.references.as_dict().values()]
        while pending:
            object_id = pending.pop()
            if object_id in seen:
                continue
            seen.add(object_id)
            yield object_id
            found = self.store[object_id]
            pending.extend(_named_by(found, self.parents(found) if isinstance(found, Commit) else ()))

    def _tree(self, tree_id: ObjectID) -> Tree:
        found = self.store[tree_id]
        if not isinstance(found, Tree):
            raise NotTreeError(tree_id)
        return found

    def _shallow(self) -> frozenset[bytes]:
        try:
            with open(os.path.join(self.path, "shallow"), "rb") as file:
                return frozenset(file.read().split())
        except FileNotFoundError:
            return frozenset()


def _named(pack: Pack | None) -> str:
    """The part of a pack's file names that tells it from others."""
    if pack is None:
        raise Damaged("there was nothing to put into a pack")
    return pack.name().decode()


def _named_by(found: ShaFile, parents: Iterable[ObjectID]) -> list[ObjectID]:
    if isinstance(found, Commit):
        return [found.tree, *parents]
    if isinstance(found, Tree):
        return [entry.sha for entry in found.iteritems() if not S_ISGITLINK(entry.mode)]
    target = getattr(found, "object", None)
    return [target[1]] if target else []


def make_commit(tree_id: ObjectID, parents: tuple[ObjectID, ...], message: str, now_ms: int) -> Commit:
    """A commit by codexmem, in UTC."""
    commit = Commit()
    commit.tree = tree_id
    commit.parents = list(parents)
    commit.author = commit.committer = _IDENTITY
    commit.author_time = commit.commit_time = max(now_ms, 0) // 1000
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = message.encode("utf-8", "replace") + b"\n"
    return commit


def remove_entry(path: str) -> None:
    """Delete a file, a link itself or a whole folder, whichever it is; nothing is fine too."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)
