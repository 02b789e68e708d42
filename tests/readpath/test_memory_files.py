"""memory_read, memory_list and memory_add_note on real files."""

from __future__ import annotations

import os

import pytest

from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.listing import list_entries
from codexmem_core.readpath.notes import add_note
from codexmem_core.readpath.reading import OUTPUT_BYTES, FolderListing, read_window
from codexmem_core.readpath.roots import memory_folder

NOON_MS = 1_796_040_000_000  # 2026-11-30 12:00 UTC


@pytest.fixture
def folder(root):
    return memory_folder(str(root), write=True)


@pytest.fixture
def note(folder):
    def write(text, **given):
        return add_note(folder, text, **{"now_ms": NOON_MS, "said_in": "codex:1", **given})

    return write


def test_a_window_says_where_it_begins_and_how_to_go_on(put, folder):
    put({"a.md": "one\r\ntwo\nthree\nfour"})
    window = read_window(folder, "a.md", line_offset=2, max_lines=2)
    assert (window.start, window.end, window.total, window.content) == (2, 3, 4, "two\nthree\n")
    assert window.text().splitlines() == [
        "[a.md, lines 2-3 of 4]", "two", "three", "[1 more lines: read on with line_offset 4]",
    ]  # fmt: skip
    assert read_window(folder, "a.md").text() == "one\ntwo\nthree\nfour"


def test_lines_far_behind_the_byte_cap_are_reached(put, folder):
    put({"big.md": "".join(f"{number:>9}\n" for number in range(60_000))})
    window = read_window(folder, "big.md", line_offset=59_999)
    assert window.content == "    59998\n    59999\n"
    whole = read_window(folder, "big.md")
    assert whole.truncated
    assert len(whole.content.encode()) <= OUTPUT_BYTES
    assert f"line_offset {whole.next_offset}" in whole.text()
    assert read_window(folder, "big.md", line_offset=whole.next_offset).content.startswith(f"{whole.end:>9}\n")


def test_one_line_over_the_cap_is_cut_between_characters_and_said_so(put, folder):
    put({"a.md": "清" * 100_000 + "\nnext\n"})
    window = read_window(folder, "a.md")
    assert window.cut
    assert set(window.content.strip()) == {"清"}
    assert "was cut" in window.text()
    assert read_window(folder, "a.md", line_offset=window.next_offset).content == "next\n"


def test_a_folder_is_answered_with_its_names_and_a_hint(put, folder):
    put({"skills/b/SKILL.md": "x", "skills/a.md": "x", "skills/.hidden": "x"})
    listing = read_window(folder, "skills")
    assert isinstance(listing, FolderListing)
    assert listing.names == ("a.md", "b/")
    assert "memory_list" in listing.text()


def test_what_cannot_be_read_is_said(put, folder, root, tmp_path):
    put({"a.md": "one\ntwo\n", ".git/config": "x", "empty.md": ""})
    (tmp_path / "secret").write_text("outside")
    os.symlink(tmp_path / "secret", root / "link.md")
    os.mkfifo(root / "pipe")
    for path, why in {
        "nope.md": "Not found", ".git/config": "Not found", "a.md/b": "folder should be", "link.md": "a link",
        "pipe": "regular file", "../x": "escapes", "/etc/passwd": "escapes",
    }.items():  # fmt: skip
        with pytest.raises(ToolError, match=why):
            read_window(folder, path)
    with pytest.raises(ToolError, match="has 2 lines"):
        read_window(folder, "a.md", line_offset=3)
    assert read_window(folder, "empty.md").text() == ""


def test_reading_shows_no_secret(put, folder, secret):
    put({"a.md": f"one\nkey {secret}\nthree\n"})
    assert secret not in read_window(folder, "a.md").content
    assert secret not in read_window(folder, "a.md", line_offset=2, max_lines=1).content


def test_a_list_is_one_level_sorted_by_code_points_without_hidden_and_linked_things(put, folder, root):
    put({"b.md": "x", "B.md": "x", "a/deep/x.md": "x", ".git/config": "x"})
    os.symlink(root / "b.md", root / "link.md")
    os.mkfifo(root / "pipe")
    listing = list_entries(folder)
    assert [(entry.entry_type, entry.path) for entry in listing.entries] == [
        ("file", "B.md"), ("directory", "a"), ("file", "b.md"),
    ]  # fmt: skip
    assert listing.text() == "f B.md\nd a\nf b.md"
    assert [entry.path for entry in list_entries(folder, "a/").entries] == ["a/deep"]
    assert [entry.path for entry in list_entries(folder, "b.md").entries] == ["b.md"]


def test_lists_have_pages(put, folder):
    put({f"{number}.md": "x" for number in range(5)})
    first = list_entries(folder, max_results=3)
    assert (len(first.entries), first.truncated, first.next_cursor) == (3, True, "3")
    assert [entry.path for entry in list_entries(folder, cursor="3").entries] == ["3.md", "4.md"]
    assert list_entries(folder, cursor="5").text() == "No entries at cursor 5: the list has 5"
    for wrong in ("6", "x", "-1", "1.0"):
        with pytest.raises(ToolError, match="cursor"):
            list_entries(folder, cursor=wrong)


def test_an_empty_memory_lists_nothing_and_a_missing_path_is_said(put, folder, root, tmp_path):
    assert list_entries(folder).text() == ". is empty"
    assert list_entries(memory_folder(str(tmp_path / "none"))).total == 0
    for path, why in {"nope": "Not found", ".git": "Not found", "../x": "escapes"}.items():
        with pytest.raises(ToolError, match=why):
            list_entries(folder, path)
    os.symlink(tmp_path, root / "link")
    with pytest.raises(ToolError, match="link"):
        list_entries(folder, "link")


def test_a_note_is_a_file_of_its_own_with_time_and_title_in_its_name(note, root):
    added = note("Deploy on Mondays only.\n  and keep  spacing\n", title="Deploy days!")
    assert added.path == "extensions/ad_hoc/notes/2026-11-30T12-00-00-deploy-days.md"
    assert (root / added.path).read_text() == (
        "# Deploy days!\n\n- created: 2026-11-30T12:00:00Z\n- session: codex:1\n\n"
        "Deploy on Mondays only.\n  and keep  spacing\n"
    )
    untitled = note("清单")
    assert untitled.path.endswith("/2026-11-30T12-00-00-note-2026-11-30t12-00-00z.md")
    assert (root / untitled.path).read_text().startswith("# Ad-hoc note\n")
    assert (root / untitled.path).read_text().endswith("\n\n清单\n")


def test_a_note_never_replaces_another(note, root):
    paths = [note(f"number {number}", title="same").path for number in range(1, 21)]
    assert [path.rpartition("-same")[2] for path in paths] == [".md", *(f"-{number}.md" for number in range(2, 21))]
    assert [(root / path).read_text().splitlines()[-1] for path in paths] == [f"number {n}" for n in range(1, 21)]
    with pytest.raises(ToolError, match="another title"):
        note("one too many", title="same")


def test_a_secret_in_a_note_is_not_written_and_the_answer_says_so(note, root, secret):
    added = note(f"token: {secret}", title=f"key {secret}")
    assert added.redacted
    assert "REDACTED" in added.text()
    assert secret not in (root / added.path).read_text()
    assert secret[4:12].lower() not in added.path
    assert not note("nothing to hide").redacted


def test_limits_of_notes(note):
    for text, given, why in (
        (" \n", {}, "empty"), ("x" * 4001, {}, "4001"), ("x", {"title": "t" * 121}, "121"),
    ):  # fmt: skip
        with pytest.raises(ToolError, match=why):
            note(text, **given)
    assert len(os.path.basename(note("x" * 4000, title="t" * 120).path)) <= 128
    assert note("x", title="设备").path.endswith("-note.md")
    note("half a character \ud800")


def test_a_note_is_not_written_through_a_linked_folder(note, put, root, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    put({"extensions/ad_hoc/instructions.md": "x"})
    os.symlink(tmp_path / "elsewhere", root / "extensions/ad_hoc/notes")
    with pytest.raises(ToolError, match="link"):
        note("x")
    assert list((tmp_path / "elsewhere").iterdir()) == []
