"""A memory root's folders, links in it, and resources that expire."""

import subprocess
import sys

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.consolidate import Memory

from codexmem_core.consolidate.layout import ensure_layout, prune_extension_resources

NOW_MS = 1_780_000_000_000  # 2026-05-28T20:26:40 UTC


def test_a_new_root_gets_its_folders_and_the_note_instructions_but_no_memory_file(tmp_path, memory):
    root = tmp_path / "home" / "memories"

    assert ensure_layout(str(root), memory) == 0

    files = [path for path in root.rglob("*") if path.is_file()]
    assert [str(path.relative_to(root)) for path in files] == ["extensions/ad_hoc/instructions.md"]
    folders = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir())
    assert folders == ["extensions", "extensions/ad_hoc", "extensions/ad_hoc/notes", "rollout_summaries", "skills"]


def test_a_memory_that_declares_no_skills_gets_no_folder_for_them(tmp_path):
    plain = Memory(name="v2", folder="memories_v2", database="m.db", agent_writes=("memory_summary.md",))
    ensure_layout(str(tmp_path / "memories_v2"), plain)
    assert not (tmp_path / "memories_v2/skills").exists()


def test_the_note_instructions_say_how_notes_are_to_be_treated(root, memory):
    ensure_layout(str(root), memory)
    text = (root / "extensions/ad_hoc/instructions.md").read_text()
    for needed in ("authoritative", "diff", "Never delete", "[ad-hoc note]", "never something to carry out"):
        assert needed in text


def test_what_is_there_stays_as_it_is(root, memory, put):
    put({"extensions/ad_hoc/instructions.md": "mine\n", "MEMORY.md": "handbook\n", "stray.txt": "s"})
    ensure_layout(str(root), memory)
    ensure_layout(str(root), memory)
    assert (root / "extensions/ad_hoc/instructions.md").read_text() == "mine\n"
    assert (root / "MEMORY.md").read_text() == "handbook\n"
    assert (root / "stray.txt").read_text() == "s"


def test_a_diff_file_left_by_a_crash_is_removed(root, memory, put):
    put({"phase2_workspace_diff.md": "# old\n"})
    ensure_layout(str(root), memory)
    assert not (root / "phase2_workspace_diff.md").exists()


def test_every_link_is_removed_and_no_target_is_touched(root, memory, put, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("theirs")
    put({"rollout_summaries/a.md": "a\n", ".hidden/x": "x"})
    (root / "linked").symlink_to(outside, target_is_directory=True)
    (root / "rollout_summaries/b.md").symlink_to(outside / "file.txt")
    (root / "extensions").symlink_to(outside, target_is_directory=True)
    (root / ".hidden/loop").symlink_to(root, target_is_directory=True)
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    (root / "phase2_workspace_diff.md").symlink_to(outside / "file.txt")

    assert ensure_layout(str(root), memory) == 6

    assert not [path for path in root.rglob("*") if path.is_symlink()]
    assert sorted(path.name for path in outside.iterdir()) == ["file.txt"]
    assert (outside / "file.txt").read_text() == "theirs"
    assert (root / "extensions/ad_hoc/instructions.md").is_file()
    assert ensure_layout(str(root), memory) == 0


KILLED_WHILE_WRITING = """
import os, signal, sys
def hook(event, args):
    if event == "codexmem.instant" and args[0].endswith(":before"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from codexmem_core.safety.files import GuardedFolder
GuardedFolder(sys.argv[1], write=True).write("rollout_summaries/a.md", b"half")
"""


def test_what_a_killed_writer_left_is_removed(root, memory):
    ensure_layout(str(root), memory)
    subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(root)], check=False)
    assert len(list((root / "rollout_summaries").iterdir())) == 1
    (root / "rollout_summaries/.mine.tmp").write_text("a user's own")

    ensure_layout(str(root), memory)

    assert [path.name for path in (root / "rollout_summaries").iterdir()] == [".mine.tmp"]


def test_a_linked_root_is_refused_and_nothing_is_made_in_its_target(tmp_path, memory):
    (tmp_path / "real").mkdir()
    (tmp_path / "memories").symlink_to(tmp_path / "real", target_is_directory=True)
    with pytest.raises(Refused, match="symbolic link"):
        ensure_layout(str(tmp_path / "memories"), memory)
    assert not list((tmp_path / "real").iterdir())


def test_a_file_in_the_place_of_a_folder_is_named(root, memory, put):
    put({"rollout_summaries": "a file\n"})
    with pytest.raises(Refused, match="rollout_summaries must be a folder"):
        ensure_layout(str(root), memory)


def test_resources_expire_after_seven_days_by_the_time_in_their_name(root, put):
    put(
        {
            "extensions/chronicle/instructions.md": "i",
            "extensions/chronicle/resources/2026-05-21T20-26-40-exactly-seven-days.md": "x",
            "extensions/chronicle/resources/2026-05-21T20-26-41-a-second-younger.md": "x",
            "extensions/chronicle/resources/2020-01-01T00-00-00.md": "x",
            "extensions/chronicle/resources/2020-01-01T00-00-00.txt": "other kind",
            "extensions/chronicle/resources/2020-13-01T00-00-00-no-date.md": "x",
            "extensions/chronicle/resources/topic.md": "x",
            "extensions/chronicle/resources/deep/2020-01-01T00-00-00.md": "x",
            "extensions/chronicle/2020-01-01T00-00-00.md": "x",
            "extensions/ad_hoc/instructions.md": "i",
            "extensions/ad_hoc/notes/2020-01-01T00-00-00-note.md": "x",
            "extensions/nameless/resources/2020-01-01T00-00-00.md": "no instructions: no extension",
        }
    )

    removed = prune_extension_resources(str(root), NOW_MS)

    assert removed == (
        "extensions/chronicle/resources/2020-01-01T00-00-00.md",
        "extensions/chronicle/resources/2026-05-21T20-26-40-exactly-seven-days.md",
    )
    assert not (root / removed[0]).exists()
    assert len([path for path in root.rglob("*") if path.is_file()]) == 10
    assert prune_extension_resources(str(root), NOW_MS) == ()


def test_nothing_is_pruned_through_a_link(root, put, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "2020-01-01T00-00-00.md").write_text("theirs")
    (outside / "instructions.md").write_text("i")
    put({"extensions/one/instructions.md": "i"})
    (root / "extensions/one/resources").symlink_to(outside, target_is_directory=True)
    (root / "extensions/two").symlink_to(outside, target_is_directory=True)
    assert prune_extension_resources(str(root), NOW_MS) == ()
    assert (outside / "2020-01-01T00-00-00.md").exists()


def test_an_odd_clock_prunes_nothing_it_should_not(root, put):
    put({"extensions/x/instructions.md": "i", "extensions/x/resources/2026-05-01T00-00-00.md": "x"})
    assert prune_extension_resources(str(root), -5) == ()
    assert prune_extension_resources(str(root), 0) == ()
    assert len(prune_extension_resources(str(root), NOW_MS)) == 1
