"""The baseline: what changed since the last success, over real git objects that the git program can read."""

import errno
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.consolidate.baseline import Baseline, Outdated
from codexmem_core.consolidate.repository import Damaged


def test_a_new_root_starts_from_an_empty_tree_so_that_everything_in_it_is_new(baseline, put, git, changes):
    put({"MEMORY.md": "old handbook\n", "extensions/ad_hoc/notes/one.md": "a note\n"})

    assert baseline.ensure() == "created"

    assert changes(baseline.diff()) == [("A", "MEMORY.md"), ("A", "extensions/ad_hoc/notes/one.md")]
    assert git("ls-tree", "-r", "HEAD") == ""
    git.check()


def test_additions_edits_and_deletions_are_seen_over_several_commits(baseline, put, root, changes, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n", "raw_memories.md": "raw\n", "rollout_summaries/a.md": "a\n"})
    baseline.commit("first")
    assert changes(baseline.diff()) == []

    put({"MEMORY.md": "one\ntwo\n", "rollout_summaries/b.md": "b\n"})
    (root / "rollout_summaries/a.md").unlink()
    diff = baseline.diff()

    assert changes(diff) == [
        ("M", "MEMORY.md"),
        ("D", "rollout_summaries/a.md"),
        ("A", "rollout_summaries/b.md"),
    ]
    assert "@@ -1 +1,2 @@\n one\n+two\n" in diff.patch
    assert "deleted file mode 100644" in diff.patch
    assert "--- /dev/null\n+++ b/rollout_summaries/b.md\n" in diff.patch
    baseline.commit("second")
    assert changes(baseline.diff()) == []
    assert git("status", "--porcelain") == ""
    git.check()


def test_each_success_adds_a_commit_by_codexmem_whatever_the_user_configured(baseline, put, git, clock):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    clock.now += 5_000
    newest = baseline.commit("memory baseline: é")

    log = git("log", "--format=%H|%an|%ae|%cn|%ce|%ct|%s")
    assert log.splitlines()[0] == (
        f"{newest}|codexmem|memory@codexmem.local|codexmem|memory@codexmem.local|1780000005|memory baseline: é"
    )
    assert len(log.splitlines()) == 2


def test_a_commit_without_a_difference_adds_nothing(baseline, put, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    assert baseline.commit("first") == baseline.commit("again")
    assert len(git("log", "--format=%H").splitlines()) == 2


def test_an_existing_baseline_is_kept_so_that_pending_changes_stay_pending(baseline, put, changes, git):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    baseline.commit("first")
    put({"MEMORY.md": "edited by hand\n"})
    head = git("rev-parse", "HEAD")

    assert baseline.ensure() == "kept"

    assert git("rev-parse", "HEAD") == head
    assert changes(baseline.diff()) == [("M", "MEMORY.md")]


def test_a_history_that_a_user_packed_and_committed_to_is_understood(baseline, put, git, changes):
    baseline.ensure()
    put({"MEMORY.md": "one\n", "skills/x/SKILL.md": "skill\n"})
    git("add", "-A")
    git("commit", "-q", "-m", "by hand")
    git("gc", "-q")

    assert baseline.ensure() == "kept"
    assert changes(baseline.diff()) == []
    put({"MEMORY.md": "two\n"})
    baseline.commit("ours")
    assert [entry.message for entry in baseline.history()] == ["ours", "by hand", "memory baseline: empty"]
    git.check()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda git: (git / "HEAD").unlink(), id="no HEAD"),
        pytest.param(lambda git: (git / "refs/heads/main").write_text("0" * 40), id="reference to nothing"),
        pytest.param(lambda git: (git / "refs/heads/main").write_bytes(b"\xff\x00"), id="reference of garbage"),
        pytest.param(
            lambda git: [pack.write_bytes(b"") for pack in (git / "objects/pack").iterdir()], id="empty packs"
        ),
        pytest.param(
            lambda git: [os.truncate(pack, 20) for pack in (git / "objects/pack").glob("*.pack")], id="cut packs"
        ),
        pytest.param(lambda git: [one.unlink() for one in (git / "objects/pack").iterdir()], id="no packs"),
        pytest.param(lambda git: (git / "objects").rename(git / "elsewhere"), id="no objects"),
    ],
)
def test_a_damaged_repository_is_started_anew(baseline, put, root, changes, git, damage):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    baseline.commit("first")
    damage(root / ".git")

    assert baseline.ensure() == "replaced"

    assert changes(baseline.diff()) == [("A", "MEMORY.md")]
    git.check()


def test_a_damaged_index_costs_nothing_but_time(baseline, put, root, changes):
    baseline.ensure()
    put({"MEMORY.md": "one\n", "a.md": "a\n"})
    baseline.commit("first")
    put({"a.md": "b\n"})
    for garbage in (b"", b"DIRC\0\0\0\2\xff\xff\xff\xff", b"x" * 400):
        (root / ".git/index").write_bytes(garbage)
        assert baseline.ensure() == "kept"
        assert changes(baseline.diff()) == [("M", "a.md")]


def test_what_stands_in_place_of_the_repository_is_replaced_and_a_link_is_not_written_through(
    baseline, put, root, tmp_path, git
):
    target = tmp_path / "somebody's repository"
    (target / "objects").mkdir(parents=True)
    (target / "HEAD").write_text("ref: refs/heads/theirs\n")
    (root / ".git").symlink_to(target, target_is_directory=True)

    assert baseline.ensure() == "replaced"

    assert not (root / ".git").is_symlink()
    assert sorted(path.name for path in target.iterdir()) == ["HEAD", "objects"]
    assert (target / "HEAD").read_text() == "ref: refs/heads/theirs\n"

    for part in ("HEAD", "refs/heads", "objects"):
        moved = tmp_path / part.replace("/", "-")
        (root / ".git" / part).rename(moved)
        (root / ".git" / part).symlink_to(moved)
        assert baseline.ensure() == "replaced"
        assert not (root / ".git" / part).is_symlink()
    (root / ".git/objects/info/alternates").write_text(f"{target}/objects\n")
    assert baseline.ensure() == "replaced"
    git.check()


FEW_DESCRIPTORS = """
import resource, sys
from codexmem_core.consolidate.baseline import Baseline, Outdated
from codexmem_core.consolidate.repository import Damaged
class Clock:
    def now_ms(self): return 1_780_000_000_000
baseline = Baseline(sys.argv[1], Clock())
for limit in range(4, 14):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, 100))
    try:
        print(baseline.ensure())
    except OSError as error:
        print("failed", error.errno)
"""


def test_a_repository_that_cannot_be_read_now_is_not_taken_for_a_damaged_one(baseline, put, root):
    baseline.ensure()
    put({"MEMORY.md": "one\n"})
    first = baseline.commit("first")

    done = subprocess.run(
        [sys.executable, "-c", FEW_DESCRIPTORS, str(root)], capture_output=True, text=True, check=True
    )

    told = done.stdout.splitlines()
    assert f"failed {errno.EMFILE}" in told
    assert "replaced" not in told
    assert baseline.history()[0].id == first


def test_a_file_that_becomes_a_folder_is_a_deletion_and_an_addition(baseline, put, root, changes):
    baseline.ensure()
    put({"topic": "a\n"})
    baseline.commit("first")
    (root / "topic").unlink()
    put({"topic/a.md": "a\n"})
    assert changes(baseline.diff()) == [("D", "topic"), ("A", "topic/a.md")]
    baseline.commit("second")
    assert changes(baseline.diff()) == []


def test_an_edit_that_keeps_size_and_modification_time_is_still_seen(baseline, put, root, changes):
    baseline.ensure()
    put({"a.md": "aaaa\n", "b.md": "bbbb\n"})
    os.utime(root / "b.md", ns=(10**18, 10**18))
    baseline.commit("first")
    # At once after the commit, in place: within the tick of the kernel's clock.
    before = os.stat(root / "a.md")
    (root / "a.md").write_text("AAAA\n")
    os.utime(root / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root / "b.md").write_text("BBBB\n")
    os.utime(root / "b.md", ns=(10**18, 10**18))

    assert changes(baseline.diff()) == [("M", "a.md"), ("M", "b.md")]


def test_a_touched_or_restored_file_is_no_change(baseline, put, root, changes):
    baseline.ensure()
    put({"a.md": "a\n", "b.md": "b\n"})
    baseline.commit("first")
    os.utime(root / "a.md", ns=(10**18, 10**18))
    (root / "b.md").unlink()
    put({"b.md": "b\n"})
    assert changes(baseline.diff()) == []


def test_what_changes_in_extensions_after_the_diff_stays_for_the_next_one(baseline, put, root, changes):
    notes = "extensions/ad_hoc/notes"
    baseline.ensure()
    put({f"{notes}/kept.md": "k\n", f"{notes}/edited.md": "v0\n", f"{notes}/removed.md": "r\n"})
    baseline.commit("first")
    put({f"{notes}/edited.md": "v1\n", f"{notes}/seen.md": "s\n"})
    seen = baseline.diff()
    assert changes(seen) == [("M", f"{notes}/edited.md"), ("A", f"{notes}/seen.md")]

    # While consolidation runs:
    put({f"{notes}/late.md": "l\n", f"{notes}/edited.md": "v2\n", "MEMORY.md": "written by consolidation\n"})
    (root / notes / "removed.md").unlink()
    (root / notes / "seen.md").unlink()
    baseline.commit("second", seen=seen)

    later = baseline.diff()
    assert changes(later) == [
        ("M", f"{notes}/edited.md"),
        ("A", f"{notes}/late.md"),
        ("D", f"{notes}/removed.md"),
        ("D", f"{notes}/seen.md"),
    ]
    assert "-v1\n+v2\n" in later.patch
    assert baseline.diff() == later
    baseline.commit("third", seen=later)
    assert changes(baseline.diff()) == []


def test_a_diff_taken_before_something_was_forgotten_cannot_bring_it_back(baseline, put, root):
    baseline.ensure()
    put({"extensions/ad_hoc/notes/n.md": "to be forgotten\n"})
    seen = baseline.diff()
    (root / "extensions/ad_hoc/notes/n.md").unlink()
    baseline.squash("forgotten")
    with pytest.raises(Outdated, match="consolidate again"):
        baseline.commit("late", seen=seen)
    assert [entry.message for entry in baseline.history()] == ["forgotten"]


def test_a_root_without_a_baseline_says_so(baseline, put):
    put({"MEMORY.md": "one\n"})
    for ask in (
        baseline.diff,
        baseline.history,
        baseline.fold,
        lambda: baseline.commit("x"),
        lambda: baseline.squash("x"),
    ):
        with pytest.raises(Damaged, match=r"memories/\.git"):
            ask()


def test_history_tells_when_what_and_how_much(baseline, put, root, clock):
    baseline.ensure()
    put({"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"})
    clock.now += 60_000
    baseline.commit("first")
    put({"a.md": "A\n", "d.md": "d\n"})
    (root / "b.md").unlink()
    (root / "c.md").unlink()
    clock.now += 60_000
    newest = baseline.commit("second")

    entries = baseline.history()

    assert [(entry.message, entry.added, entry.modified, entry.deleted) for entry in entries] == [
        ("second", 1, 1, 2),
        ("first", 3, 0, 0),
        ("memory baseline: empty", 0, 0, 0),
    ]
    assert entries[0].id == newest
    assert not [entry for entry in entries if entry.folded]
    assert entries[0].at_ms - entries[2].at_ms == 120_000


def test_names_with_blanks_quotes_and_other_scripts_survive(baseline, put, git, changes):
    files = {"two words.md": "a\n", 'say "hi".md': "b\n", "设备/清单.md": "c\n", "tab\tname.md": "d\n"}
    baseline.ensure()
    put(files)
    assert [path for _, path in changes(baseline.diff())] == sorted(files)
    baseline.commit("first")
    assert sorted(git("ls-tree", "-rz", "--name-only", "HEAD").split("\0")[:-1]) == sorted(files)
    assert changes(baseline.diff()) == []


def test_a_name_that_the_path_guard_cannot_open_is_passed_over(baseline, put, changes):
    baseline.ensure()
    put({"a\\b.md": "x\n", "a/b.md": "y\n"})
    assert changes(baseline.diff()) == [("A", "a/b.md")]


def test_a_branch_whose_folder_git_packed_away_can_be_committed_to(baseline, put, git, root):
    baseline.ensure()
    git("checkout", "-q", "-b", "topic/one")
    git("pack-refs", "--all", "--prune")
    assert not (root / ".git/refs/heads/topic").exists()
    put({"a.md": "a\n"})
    newest = baseline.commit("first")
    assert git("rev-parse", "topic/one").strip() == newest
    git.check()


_NAMES = st.sampled_from(["a", "b", "B", "a.md", "ü.md", "rollout_summaries", "extensions", "x y"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)
_TREES = st.dictionaries(_PATHS, st.binary(max_size=40), max_size=8).map(
    # No path may be a folder of another one.
    lambda files: {
        path: content for path, content in files.items() if not any(one.startswith(path + "/") for one in files)
    }
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees=st.lists(_TREES, min_size=1, max_size=3))
def test_any_sequence_of_file_sets_is_diffed_exactly_and_committed_to_an_empty_diff(trees, tmp_path_factory, clock):
    root = tmp_path_factory.mktemp("sets") / "memories"
    root.mkdir()
    baseline = Baseline(str(root), clock)
    baseline.ensure()
    before = {}
    for tree in trees:
        for path in before:
            (root / path).unlink()
        for folder, _, _ in sorted(os.walk(root), reverse=True):
            if ".git" not in folder and folder != str(root):
                os.rmdir(folder)
        for path, content in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        expected = [
            ("A" if path not in before else "D" if path not in tree else "M", path)
            for path in sorted(before.keys() | tree.keys())
            if before.get(path) != tree.get(path)
        ]
        assert [(change.status, change.path) for change in baseline.diff().changes] == expected
        baseline.commit("next")
        assert baseline.diff().changes == ()
        assert baseline.diff().patch == ""
        before = tree
