"""When a file's stats prove that its content is known, and when it has to be read."""

import os
import time

import pytest
from dulwich.objects import ObjectID

from codexmem_core.consolidate.stat_cache import StatCache, write_stat_cache

BLOB = ObjectID(b"1" * 40)
LATER_NS = 1_000_000_000


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("text\n")
    return path


def cached(file, started_ns):
    """The cache after the file was recorded by a commit that began at ``started_ns``, read a moment later."""
    git = str(file.parent)
    write_stat_cache(git, {"a.md": BLOB}, {"a.md": os.stat(file)}, started_ns)
    later = time.time_ns() + 60 * LATER_NS
    os.utime(os.path.join(git, "index"), ns=(later, later))
    return StatCache(git)


def test_unchanged_stats_of_an_older_file_spare_the_reading(file):
    found = os.stat(file)
    assert cached(file, found.st_mtime_ns + LATER_NS).blob("a.md", found) == BLOB


def test_a_file_written_just_before_the_commit_is_read_again(file):
    found = os.stat(file)
    for started_ns in (found.st_mtime_ns + 10_000_000, found.st_mtime_ns, found.st_mtime_ns - LATER_NS):
        assert cached(file, started_ns).blob("a.md", found) is None


def test_a_file_not_older_than_the_index_is_read_again(file):
    found = os.stat(file)
    cache = cached(file, found.st_mtime_ns + LATER_NS)
    os.utime(file.parent / "index", ns=(found.st_mtime_ns, found.st_mtime_ns))
    assert cache.blob("a.md", found) == BLOB
    assert StatCache(str(file.parent)).blob("a.md", found) is None


def in_place(file):
    with open(file, "r+") as opened:
        opened.write("TEXT")


def by_rename(file):
    (file.parent / "b.md").write_text("TEXT\n")
    os.rename(file.parent / "b.md", file)


@pytest.mark.parametrize("edit", [in_place, by_rename])
def test_an_edit_that_keeps_size_and_modification_time_is_read(file, edit):
    found = os.stat(file)
    cache = cached(file, found.st_mtime_ns + LATER_NS)
    time.sleep(0.02)
    edit(file)
    os.utime(file, ns=(found.st_mtime_ns, found.st_mtime_ns))
    assert cache.blob("a.md", os.stat(file)) is None


def test_files_that_were_not_recorded_or_whose_stats_were_unknown_are_read(file):
    found = os.stat(file)
    assert cached(file, found.st_mtime_ns + LATER_NS).blob("b.md", found) is None
    write_stat_cache(str(file.parent), {"a.md": BLOB}, {}, found.st_mtime_ns + LATER_NS)
    assert StatCache(str(file.parent)).blob("a.md", found) is None


def test_times_before_1970_and_huge_sizes_are_recorded(file):
    os.utime(file, ns=(-5, -5))
    os.truncate(file, 5 * 1024**3)
    found = os.stat(file)
    assert cached(file, found.st_ctime_ns + LATER_NS).blob("a.md", found) == BLOB
