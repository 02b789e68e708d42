"""Files of hosts are read as they are and written whole or not at all, whatever happens in between."""

from __future__ import annotations

import os

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.setup import Edit
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core.setup.diffs import unified
from codexmem_core.setup.files import ChangedMeanwhileError, read_file, write_file

CODEX, CONFIG = ".codex/hooks.json", ".codex/config.toml"
KILLED = """
import os, sys
left = int(sys.argv.pop(1))
def count(event, _arguments):
    global left
    if event == "codexmem.instant" and _arguments[0].startswith("rename:"):
        left -= 1
        if left < 0:
            os._exit(9)
sys.addaudithook(count)
from codexmem_core.cli import main
main()
"""


def test_what_is_no_readable_file_is_refused_by_its_name(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    for name in ("fifo", "folder", "loop", "file/below"):
        with pytest.raises(Refused, match=str(tmp_path / name)):
            read_file(str(tmp_path / name))
    assert read_file(str(tmp_path / "nothing")) is None
    (tmp_path / "dangling").symlink_to("nothing")
    assert read_file(str(tmp_path / "dangling")) is None


def test_a_link_to_nothing_is_filled_where_it_leads_if_the_folder_is_there(tmp_path):
    (tmp_path / "hooks.json").symlink_to("dotfiles/hooks.json")
    (tmp_path / "agent").symlink_to("dotfiles")
    for path in (tmp_path / "hooks.json", tmp_path / "agent" / "hooks.json"):
        with pytest.raises(Refused, match=r"a link to .*/dotfiles, which does not exist"):
            write_file(Edit(path=str(path), before=None, after=b"{}", summary=""), str(tmp_path / "backups"), 0)
    (tmp_path / "dotfiles").mkdir()
    edit = Edit(path=str(tmp_path / "hooks.json"), before=None, after=b"{}", summary="")
    assert write_file(edit, str(tmp_path / "backups"), 0) == ""
    assert (tmp_path / "dotfiles" / "hooks.json").read_bytes() == b"{}"
    assert (tmp_path / "hooks.json").is_symlink()


def test_a_file_that_is_not_what_was_shown_is_not_written(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"other")
    for before in (b"shown", None):
        with pytest.raises(ChangedMeanwhileError, match=str(path)):
            write_file(Edit(path=str(path), before=before, after=b"new", summary=""), str(tmp_path / "backups"), 0)
    assert path.read_bytes() == b"other"


@pytest.mark.parametrize("renames", range(8))
def test_a_kill_at_any_rename_leaves_files_whole_and_setup_mends_the_rest(machine, renames):
    machine.write(CODEX, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "chime"}]}]}})
    machine.write(CONFIG, 'model = "x"\n')
    before = machine.tree()
    assert machine.program(KILLED, renames, "setup", "codex", "--yes") in (0, 9)
    assert machine.json(CODEX)["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "chime"}]}
    assert machine.read(CONFIG).startswith('model = "x"\n')
    machine.set_up("codex")
    assert machine.doctor() == []
    assert set(machine.tree()) == set(before)


@given(
    st.lists(st.sampled_from("abc\u2028\r\x0b"), max_size=9), st.lists(st.sampled_from("abc\u2028\r\x0b"), max_size=9)
)
def test_a_diff_has_a_line_for_each_line_of_the_files(before, after):
    edit = Edit(path="/f", before="\n".join(before).encode(), after="\n".join(after).encode(), summary="")
    lines = [line for line in unified(edit).split("\n") if not line.startswith("\\")]
    assert all(line[:1] in ("-", "+", " ", "@", "") for line in lines)
    removed, added = (sum(line.startswith(sign) for line in lines[2:]) for sign in "-+")
    assert added - removed == lines_in(edit.after) - lines_in(edit.before)


def lines_in(content):
    return content.count(b"\n") + (not content.endswith(b"\n") if content else 0)
