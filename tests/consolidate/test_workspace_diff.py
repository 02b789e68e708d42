"""Patches that git itself accepts, and the text of the workspace diff file."""

import os
import re

import pytest
from codexmem_hookspecs.values.consolidate import Change
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.consolidate.diff import file_patch, render_workspace_diff

IDS = (b"1" * 40, b"2" * 40)


def headers(patch):
    """Everything but hunks; git adds a section name behind @@, and finds its own shortest hunks."""
    kinds = ("diff ", "new ", "deleted ", "index ", "--- ", "+++ ", "Binary ")
    return [line for line in patch.split("\n") if line.startswith(kinds)]


def test_headers_are_those_of_git(baseline, put, root, git):
    baseline.ensure()
    put({"edited.md": "a\nb\n", "gone.md": "x\n", "binary.bin": b"\0\1", "emptied.md": "x\n", "ends.md": "no end"})
    put({"two words.md": "x\n", 'q"uote.md': "x\n", "设备.md": "x\n"})
    baseline.commit("first")
    put({"edited.md": "a\nc\n", "binary.bin": b"\0\2", "emptied.md": "", "ends.md": "no end still", "new.md": "n\n"})
    put({"two words.md": "y\n", 'q"uote.md': "y\n", "设备.md": "y\n", "empty.md": "", "new.bin": b"\0"})
    (root / "gone.md").unlink()
    ours = baseline.diff().patch

    git("add", "-A", "--intent-to-add")
    theirs = git("-c", "core.quotePath=false", "-c", "core.abbrev=7", "diff", "HEAD", "--no-renames", "--no-ext-diff")

    assert headers(ours) == headers(theirs)
    assert ours.count("\\ No newline at end of file") == theirs.count("\\ No newline at end of file") == 2


LINES = [f"line {number}" for number in range(60)]


def edited(*edits):
    lines = list(LINES)
    for edit in edits:
        edit(lines)
    return lines


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(edited(lambda lines: lines.__setitem__(30, "changed")), id="middle"),
        pytest.param(edited(lambda lines: lines.__setitem__(0, "changed")), id="first"),
        pytest.param(edited(lambda lines: lines.__setitem__(59, "changed")), id="last"),
        pytest.param(edited(lambda lines: lines.insert(0, "added")), id="before the first"),
        pytest.param(edited(lambda lines: lines.append("added")), id="after the last"),
        pytest.param(
            edited(lambda lines: lines.pop(20), lambda lines: lines.insert(40, "added"), lambda lines: lines.pop(1)),
            id="several",
        ),
        pytest.param([], id="emptied"),
    ],
)
def test_hunks_are_those_of_git_where_there_is_only_one_way_to_show_a_change(baseline, put, root, git, after):
    baseline.ensure()
    put({"MEMORY.md": "\n".join(LINES) + "\n", "gone.md": "one\ntwo\n"})
    baseline.commit("first")
    put({"MEMORY.md": "".join(f"{line}\n" for line in after), "new.md": "one\ntwo\n"})
    (root / "gone.md").unlink()
    ours = baseline.diff().patch
    git("add", "-A", "--intent-to-add")
    theirs = git("-c", "core.abbrev=7", "diff", "HEAD", "--no-renames")
    assert ours == re.sub(r"(@@ .* @@).*", r"\1", theirs)


_LINES = st.lists(st.sampled_from(["", "a", "b", "c", "\r", "- x", "@@", "```"]), max_size=30)
_TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, _LINES, st.sampled_from(["", "\n"]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(st.sampled_from(["a.md", "b c.md", "d/e.md"]), st.tuples(_TEXTS, _TEXTS), min_size=1))
def test_git_can_apply_the_patch_to_the_old_files_and_gets_the_new_ones(files, tmp_path_factory, make_git):
    folder = tmp_path_factory.mktemp("apply")
    patch = b""
    for path, (old, new) in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(old.encode())
        if old != new:
            patch += file_patch(path.encode(), old.encode(), new.encode(), IDS)
    if not patch:
        return
    make_git(folder)("apply", "--unidiff-zero", "-", stdin=patch)
    assert {path: (folder / path).read_bytes() for path in files} == {
        path: new.encode() for path, (_, new) in files.items()
    }


@pytest.fixture
def make_git(git, tmp_path):
    return lambda root: type(git)(root, tmp_path)


def test_a_large_patch_is_shown_whole(baseline, put):
    text = "".join(f"{number} {os.urandom(20).hex()}\n" for number in range(20_000))
    baseline.ensure()
    put({"raw_memories.md": text})
    patch = baseline.diff().patch
    assert patch.count("\n+") == 20_001


def test_files_of_many_repeated_lines_are_shown_whole_instead_of_compared_for_minutes():
    block = [f"line {number}\n" for number in range(150)]
    old, new = "".join(block * 150), "".join(block[::-1] * 150)
    patch = file_patch(b"a.md", old.encode(), new.encode(), IDS).decode()
    hunk = patch.split("@@\n", 1)[1].split("\n")[:-1]
    assert [line[1:] + "\n" for line in hunk if line.startswith("-")] == block * 150
    assert [line[1:] + "\n" for line in hunk if line.startswith("+")] == block[::-1] * 150


def test_the_file_lists_states_and_fences_the_patch():
    changes = [Change(status="A", path="a.md"), Change(status="D", path="b/c.md")]
    text = render_workspace_diff(changes, "diff --git a/a.md b/a.md\n+x\n").decode()
    assert text.startswith("# Memory Workspace Diff\n")
    assert "\n## Status\n- A a.md\n- D b/c.md\n\n## Diff\n\n```diff\ndiff --git a/a.md b/a.md\n+x\n```\n" in text


def test_without_changes_it_says_so_and_has_no_diff():
    text = render_workspace_diff([], "").decode()
    assert "## Status\n- none\n" in text
    assert "## Diff" not in text


def test_no_file_can_close_the_fence():
    patch = " ```\n+````\n ~~~\n"
    text = render_workspace_diff([Change(status="M", path="a.md")], patch).decode()
    assert "\n`````diff\n" in text
    assert text.endswith("\n`````\n")


def test_a_path_cannot_forge_a_status_line():
    text = render_workspace_diff([Change(status="A", path="a\n- D MEMORY.md")], "").decode()
    assert "\n- D MEMORY.md" not in text


@given(text=st.text(min_size=1, max_size=200), limit=st.integers(min_value=0, max_value=300))
def test_the_cap_counts_bytes_and_splits_no_character(text, limit):
    text = text.replace("`", "'").replace("\r", "").replace("\ud800", "")
    rendered = render_workspace_diff([Change(status="M", path="a.md")], text, limit)
    rendered.decode("utf-8")
    body = rendered.split(b"```diff\n", 1)[1].rsplit(b"```", 1)[0]
    note = f"[workspace diff truncated at {limit} bytes]\n".encode()
    if len(text.encode()) <= limit:
        assert note not in body
        assert body.removesuffix(b"\n") == text.encode().removesuffix(b"\n")
    else:
        kept = body.removesuffix(note)
        assert kept != body
        assert len(kept.removesuffix(b"\n")) <= limit
        assert text.encode().startswith(kept.removesuffix(b"\n"))
        assert len(kept) >= limit - 3


def test_the_default_cap_is_four_mebibytes():
    text = render_workspace_diff([Change(status="M", path="a.md")], "é" * 3_000_000).decode()
    assert text.count("é") == 4 * 1024 * 1024 // 2
    assert "[workspace diff truncated at 4194304 bytes]" in text
