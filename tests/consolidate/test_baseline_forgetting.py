"""Squashing and folding: what is forgotten cannot be found any more, and nothing else is lost."""

import contextlib
import os
import zlib

import pytest

from codexmem_core.consolidate.repository import Repository

DAY_MS = 24 * 60 * 60 * 1000
SECRET = "marigold-7731"


def everything_in(git_folder, git):
    """All bytes below .git: files as they are, inflated where they are loose objects, and every object git can list."""
    found = b""
    for folder, _, names in os.walk(git_folder):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            found += name.encode() + b"\n" + content
            with contextlib.suppress(zlib.error):
                found += zlib.decompress(content)
    listed = git("cat-file", "--batch-all-objects", "--batch-check", "--unordered").splitlines()
    ids = "".join(line.split()[0] + "\n" for line in listed)
    return found + git("cat-file", "--batch", stdin=ids.encode()).encode()


def test_after_a_squash_nothing_of_the_deleted_text_can_be_found(baseline, put, root, git, changes):
    baseline.ensure()
    put({"MEMORY.md": f"keep\n{SECRET}\n", f"rollout_summaries/{SECRET}.md": "recap\n", "other.md": "other\n"})
    baseline.commit(f"about {SECRET}")
    put({"more.md": f"{SECRET}\n"})
    git("add", "more.md")
    git("stash")
    put({"more.md": f"{SECRET} again\n"})
    git("checkout", "-q", "-b", "side")
    git("add", "-A")
    git("commit", "-q", "-m", SECRET)
    git("tag", "-a", "-m", SECRET, "mark")
    git("checkout", "-q", "main")
    assert SECRET.encode() in everything_in(root / ".git", git)

    put({"MEMORY.md": "keep\n"})
    (root / f"rollout_summaries/{SECRET}.md").unlink()
    newest = baseline.squash("forgotten")

    assert SECRET.encode() not in everything_in(root / ".git", git)
    assert git("log", "--all", "--format=%H %s").split("\n") == [f"{newest} forgotten", ""]
    assert git("show", "HEAD:MEMORY.md") == "keep\n"
    assert git("show", "HEAD:other.md") == "other\n"
    assert changes(baseline.diff()) == []
    assert git("status", "--porcelain") == ""
    git.check()
    assert baseline.ensure() == "kept"


def test_a_squash_leaves_pending_notes_pending(baseline, put, root, changes):
    notes = "extensions/ad_hoc/notes"
    baseline.ensure()
    put({"MEMORY.md": "one\n", f"{notes}/old.md": "old\n", f"{notes}/edited.md": "before\n"})
    baseline.commit("first")
    put({"MEMORY.md": "two\n", f"{notes}/new.md": "new\n", f"{notes}/edited.md": "after\n", "users_own.md": "mine\n"})

    baseline.squash("forgotten")

    assert changes(baseline.diff()) == [
        ("A", f"{notes}/edited.md"),
        ("A", f"{notes}/new.md"),
        ("A", "users_own.md"),
    ]


def test_a_squash_does_not_need_the_old_objects_to_be_readable(baseline, put, root, git, changes):
    text = f"{SECRET}\n" * 50
    baseline.ensure()
    put({"MEMORY.md": text, "other.md": "other\n" * 50})
    baseline.commit("first")
    with Repository(str(root)) as repository:
        blobs = repository.files(repository.head())
    pack = max((root / ".git/objects/pack").glob("*.pack"), key=lambda path: path.stat().st_size)
    pack.chmod(0o600)
    content = bytearray(pack.read_bytes())
    for one in (text, "other\n" * 50):
        place = content.find(zlib.compress(one.encode())[:12])
        assert place > 0, "the blob is not where this test thinks it is"
        content[place + 4 : place + 12] = b"\xff" * 8
    pack.write_bytes(content)
    with Repository(str(root)) as repository:
        assert [repository.content(blob) for blob in blobs.values()] == [None, None]

    put({"MEMORY.md": "keep\n"})
    assert changes(baseline.diff()) == [("M", "MEMORY.md")]
    baseline.squash("forgotten")

    git.check()
    assert git("show", "HEAD:other.md") == "other\n" * 50
    assert changes(baseline.diff()) == []


def test_commits_beyond_the_count_are_folded_and_the_rest_keep_their_ids(baseline, put, root, git):
    baseline.ensure()
    ids = []
    for number in range(6):
        put({"MEMORY.md": f"version {number} {SECRET if number == 1 else ''}\n", f"{number}.md": "x\n"})
        ids.append(baseline.commit(f"commit {number}"))

    assert baseline.fold(keep=3, days=30) == 4

    assert [entry.id for entry in baseline.history()] == ids[:2:-1]
    assert [entry.folded for entry in baseline.history()] == [False, False, True]
    assert git("log", "--format=%H").split() == ids[:2:-1]
    assert SECRET.encode() not in everything_in(root / ".git", git)
    git.check()
    assert baseline.ensure() == "kept"
    assert baseline.diff().changes == ()
    assert baseline.fold(keep=3, days=30) == 0
    put({"MEMORY.md": "next\n"})
    ids.append(baseline.commit("next"))
    assert baseline.fold(keep=3, days=30) == 1
    assert [entry.id for entry in baseline.history()] == ids[:3:-1]
    git.check()


def test_commits_older_than_the_days_are_folded_but_never_the_newest(baseline, put, clock):
    baseline.ensure()
    for number in range(3):
        clock.now += 10 * DAY_MS
        put({"MEMORY.md": f"version {number}\n"})
        baseline.commit(f"commit {number}")
    # Exactly 30 days old stays, anything older goes.
    assert baseline.fold(days=30) == 0
    clock.now += 1000
    assert baseline.fold(days=30) == 1
    assert [entry.message for entry in baseline.history()] == ["commit 2", "commit 1", "commit 0"]
    clock.now += 400 * DAY_MS
    assert baseline.fold(days=30) == 2
    assert [entry.message for entry in baseline.history()] == ["commit 2"]
    assert baseline.fold(days=30) == 0


def test_a_clock_that_was_wrong_once_folds_nothing_that_is_still_wanted(baseline, put, clock):
    right = clock.now
    baseline.ensure()
    for number, now in enumerate((right, right + 4000 * DAY_MS, 0, -5, right)):
        clock.now = now
        put({"MEMORY.md": f"version {number}\n"})
        baseline.commit(f"commit {number}")
    baseline.fold(keep=30, days=30)
    assert baseline.history()[0].message == "commit 4"
    assert baseline.diff().changes == ()


def test_folding_keeps_what_a_users_own_branch_or_tag_holds(baseline, put, git):
    baseline.ensure()
    put({"MEMORY.md": "version 0\n"})
    baseline.commit("commit 0")
    git("checkout", "-q", "-b", "mine")
    put({"MEMORY.md": "on my branch\n"})
    git("commit", "-q", "-a", "-m", "mine")
    put({"MEMORY.md": "under my tag\n"})
    git("commit", "-q", "-a", "-m", "tagged")
    git("tag", "-a", "-m", "a mark", "mark")
    git("reset", "-q", "--hard", "HEAD~1")
    git("checkout", "-q", "main")
    for number in range(4):
        put({"MEMORY.md": f"version {number + 1}\n"})
        baseline.commit(f"commit {number + 1}")

    assert baseline.fold(keep=2) == 4

    assert git("show", "mine:MEMORY.md") == "on my branch\n"
    assert git("show", "mark:MEMORY.md") == "under my tag\n"
    git.check()


@pytest.mark.parametrize("forget", [lambda baseline: baseline.fold(keep=1), lambda baseline: baseline.squash("f")])
def test_caches_that_git_made_do_not_name_what_is_gone(baseline, put, git, forget):
    baseline.ensure()
    for number in range(3):
        put({"MEMORY.md": f"version {number}\n"})
        baseline.commit(f"commit {number}")
    git("commit-graph", "write", "--reachable")
    git("multi-pack-index", "write")
    git("update-server-info")
    forget(baseline)
    assert len(git("log", "--format=%H").split()) == 1
    git("commit-graph", "verify")
    git.check()
    assert baseline.ensure() == "kept"


def test_squashing_from_a_detached_or_renamed_branch_ends_on_a_branch(baseline, put, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    baseline.commit("first")
    git("branch", "-m", "renamed")
    assert baseline.ensure() == "kept"
    put({"MEMORY.md": "two\n"})
    baseline.commit("second")
    git("checkout", "-q", "--detach")
    put({"MEMORY.md": "three\n"})
    newest = baseline.commit("third")
    assert git("rev-parse", "HEAD", "main").split() == [newest, newest]
    newest = baseline.squash("forgotten")
    assert git("rev-parse", "HEAD", "main").split() == [newest, newest]
    assert git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    git.check()


@pytest.mark.parametrize("message", ["", "two\nlines", "\ud83d lone"])
def test_odd_messages_do_no_harm(baseline, put, git, message):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    baseline.commit(message)
    baseline.squash(message)
    assert len(baseline.history()) == 1
    git.check()
