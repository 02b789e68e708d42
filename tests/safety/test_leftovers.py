"""What a killed writer left goes, what a living one is writing stays."""

from __future__ import annotations

import os
import subprocess
import sys

from codexmem_core.safety.leftovers import sweep_leftovers


def dead_pid():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_only_temporary_files_of_dead_writers_are_removed(tmp_path):
    inner = tmp_path / "folder"
    inner.mkdir()
    gone = inner / f".MEMORY.md.{dead_pid()}.0123456789ab.tmp"
    kept = [
        inner / f".MEMORY.md.{os.getpid()}.0123456789ab.tmp",
        inner / "notes.tmp",
        inner / ".hidden",
        inner / f".x.{dead_pid()}.tmp",
    ]
    for path in (gone, *kept):
        path.write_bytes(b"")
    assert sweep_leftovers(str(tmp_path)) == 1
    assert sorted(inner.iterdir()) == sorted(kept)


def test_a_link_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    left = outside / f".a.{dead_pid()}.0123456789ab.tmp"
    left.write_bytes(b"")
    root = tmp_path / "root"
    root.mkdir()
    os.symlink(outside, root / "link")
    assert sweep_leftovers(str(root)) == 0
    assert left.exists()


def test_a_missing_folder_is_empty(tmp_path):
    assert sweep_leftovers(str(tmp_path / "none")) == 0
