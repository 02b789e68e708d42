"""Folders that are the same, or lie in each other, are known as that under whatever names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from codexmem_hookspecs.places import folds_case, overlap


def both(one, other):
    """Which way round they are named makes no difference."""
    found = overlap(str(one), str(other))
    assert found == overlap(str(other), str(one))
    return found


@pytest.fixture
def home(tmp_path):
    (tmp_path / "a" / "memories" / "deep").mkdir(parents=True)
    (tmp_path / "b" / "memories").mkdir(parents=True)
    return tmp_path


def test_a_folder_overlaps_with_itself_and_with_what_lies_below(home):
    assert both(home / "a", home / "a")
    assert both(home / "a", home / "a" / "memories" / "deep")
    assert both(home / "a", f"{home}/b/../a/memories")
    assert both("/", home)


def test_neighbours_do_not_overlap(home):
    assert not both(home / "a" / "memories", home / "b" / "memories")
    (home / "a" / "memories-2").mkdir()
    assert not both(home / "a" / "memories", home / "a" / "memories-2")


def test_links_on_the_way_are_seen_through(home):
    (home / "linked").symlink_to(home / "a", target_is_directory=True)
    assert both(home / "linked" / "memories", home / "a")
    assert both(home / "linked" / "memories", home / "a" / "memories" / "deep")
    assert not both(home / "linked", home / "b")


def test_folders_that_do_not_exist_yet_are_compared_by_name_from_where_something_exists(home):
    (home / "linked").symlink_to(home / "a", target_is_directory=True)
    assert both(home / "linked" / "new" / "er", home / "a" / "new")
    assert both(home / "a" / "new", home / "a")
    assert not both(home / "a" / "new", home / "a" / "newer")
    assert not both(home / "a" / "new", home / "a" / "memories")
    assert not both(home / "x" / "y", home / "z")


def test_letter_case_counts_where_the_file_system_says_so(home):
    folds = (home / "A").exists()
    assert folds_case(str(home / "a")) == folds
    assert folds_case(str(home / "a" / "not" / "there")) == folds
    assert both(home / "NEW", home / "new") == folds
    if not folds:
        (home / "A").mkdir()
    assert both(home / "A", home / "a") == folds


def test_at_the_top_of_a_file_system_the_names_in_it_are_asked():
    name = next(name for name in sorted(os.listdir("/")) if name.swapcase() != name)
    assert folds_case("/000/111") == os.path.exists(f"/{name.swapcase()}")


def test_a_file_in_the_place_of_a_folder_is_compared_too(home):
    Path(home / "a" / "file").write_text("x")
    assert both(home / "a" / "file", home / "a")
    assert not both(home / "a" / "file", home / "b")
