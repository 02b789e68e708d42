"""Which files come in, how they lie there, and what takes them out again."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from codexmem_claude_import.scope import key_of

NOBODY = 65_534


def test_nested_memories_come_in_byte_for_byte_with_the_directory_they_are_about(claude):
    shop = claude.project("shop", **{"MEMORY.md": "- [Tabs](deep/tabs.MD)\n", "deep/tabs.MD": "\ufeffUse tabs.\r\n"})
    key = key_of(shop)
    assert claude.imported() == {
        f"{key}/MEMORY.md": "- [Tabs](deep/tabs.MD)\n",
        f"{key}/deep/tabs.MD": "\ufeffUse tabs.\n",  # as read_text gives it
        f"{key}/scope.json": f'{{"cwd":"{shop}"}}',
    }
    source = claude.home / "projects" / key / "memory/deep/tabs.MD"
    copy = claude.root / "extensions/external_agent_import/resources" / key / "deep/tabs.MD"
    assert copy.read_bytes() == source.read_bytes()
    instructions = (claude.root / "extensions/external_agent_import/instructions.md").read_text()
    assert "`[from claude]`" in instructions
    assert "scope.json" in instructions


def test_a_second_import_writes_nothing(claude):
    claude.project("shop")
    claude.imported()
    before = [(path, path.stat().st_mtime_ns) for path in sorted(claude.root.rglob("*"))]
    claude.imported()
    assert [(path, path.stat().st_mtime_ns) for path in sorted(claude.root.rglob("*"))] == before


def test_other_files_links_and_unsafe_names_stay_out(claude, tmp_path):
    shop = claude.project("shop", **{"good.md": "good\n"})
    memory = claude.home / "projects" / key_of(shop) / "memory"
    (memory / "notes.txt").write_text("no markdown")
    (memory / ".hidden.md").write_text("hidden")
    (memory / ".git").mkdir()
    (memory / ".git/x.md").write_text("hidden")
    (tmp_path / "outside.md").write_text("outside")
    (memory / "link.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "elsewhere/memory").mkdir(parents=True)
    (tmp_path / "elsewhere/memory/far.md").write_text("far")
    (memory / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (claude.home / "projects/-linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (claude.home / "projects/.dotted/memory").mkdir(parents=True)
    (claude.home / "projects/.dotted/memory/x.md").write_text("x")
    (memory / "new\nline.md").write_text("odd")
    (memory / "back\\slash.md").write_text("odd")
    (memory / "scope.json").mkdir()
    (memory / "scope.json/x.md").write_text("in the way")
    assert set(claude.imported()) == {f"{key_of(shop)}/good.md", f"{key_of(shop)}/scope.json"}
    assert any("3 files are left out for their names" in line for _, line in claude.state())


def test_it_does_nothing_until_it_is_turned_on(claude):
    claude.project("shop")
    claude.services.settings["enabled"] = False
    assert claude.mirrors() == []
    ((level, line),) = claude.state()
    assert (level, line[:4]) == ("info", "off:")


@pytest.mark.parametrize("home", ["missing", "empty", "file"])
def test_a_home_that_is_not_there_removes_nothing(claude, home):
    claude.project("shop")
    before = claude.imported()
    claude.home.rename(claude.user / "away")
    if home == "empty":
        claude.home.mkdir()  # a disk that is not mounted
    elif home == "file":
        claude.home.write_text("")
    assert claude.mirrors() == []
    assert claude.resources() == before
    assert any("is not there; what was imported stays" in line for _, line in claude.state())


def test_changed_memories_follow_and_removed_ones_go(claude):
    shop = claude.project("shop", **{"a.md": "old\n", "b.md": "b\n", "deep/c.md": "c\n"})
    claude.imported()
    claude.memory(shop, "a.md", "new\n")
    (claude.home / "projects" / key_of(shop) / "memory/b.md").unlink()
    (claude.home / "projects" / key_of(shop) / "memory/deep/c.md").unlink()
    assert claude.imported() == {
        f"{key_of(shop)}/a.md": "new\n",
        f"{key_of(shop)}/scope.json": f'{{"cwd":"{shop}"}}',
    }


def test_a_project_that_is_gone_is_forgotten_and_its_neighbours_stay(claude):
    shop, web = claude.project("shop"), claude.project("web")
    claude.imported()
    (claude.home / "projects" / key_of(shop) / "memory/MEMORY.md").unlink()
    assert {path.split("/")[0] for path in claude.imported()} == {key_of(web)}
    os.rename(claude.home / "projects" / key_of(web), claude.user / "gone")
    assert claude.imported() == {}


def test_without_its_projects_a_home_that_is_there_has_no_memories(claude):
    claude.project("shop")
    claude.put("settings.json", "{}")
    claude.imported()
    os.rename(claude.home / "projects", claude.user / "gone")
    assert claude.imported() == {}


@pytest.mark.parametrize("there", [False, True])
def test_projects_on_a_disk_that_is_away_remove_nothing(claude, tmp_path, there):
    """Linked to from the home; of the disk not even the place where it is mounted is left, or only that."""
    claude.project("shop")
    claude.put("settings.json", "{}")
    disk = tmp_path / "disk"
    os.rename(claude.home / "projects", disk)
    (claude.home / "projects").symlink_to(disk)
    before = claude.imported()
    assert before
    os.rename(disk, tmp_path / "away")
    if there:
        disk.mkdir()
    assert claude.imported() == before
    assert claude.state() == [
        ("info", f"{claude.home}/projects leads to {disk}, which is not there; what was imported stays"),
    ]


def test_a_list_of_projects_chooses_by_directory_or_by_key_and_what_leaves_it_goes(claude):
    shop, web, app = claude.project("shop"), claude.project("web"), claude.project("app")
    assert {path.split("/")[0] for path in claude.imported()} == {key_of(shop), key_of(web), key_of(app)}
    claude.services.settings["projects"] = ("~/shop", key_of(web), "", "-never-seen")
    assert {path.split("/")[0] for path in claude.imported()} == {key_of(shop), key_of(web)}
    claude.services.settings["projects"] = (shop,)
    assert {path.split("/")[0] for path in claude.imported()} == {key_of(shop)}


def test_a_project_that_is_not_to_be_learned_from_stays_out_and_goes(claude):
    shop, web = claude.project("shop"), claude.project("web")
    claude.imported()
    claude.services.apart.add(shop)
    assert {path.split("/")[0] for path in claude.imported()} == {key_of(web)}


def test_a_list_that_names_nothing_possible_removes_nothing(claude):
    claude.project("shop")
    before = claude.imported()
    for listed in (("..",), (".hidden",), ("back\\slash",)):
        claude.services.settings["projects"] = listed
        assert claude.imported() == before
    assert "nothing is imported" in claude.state()[0][1]


def test_what_others_put_beside_the_imports_stays(claude):
    shop = claude.project("shop")
    claude.imported()
    base = claude.root / "extensions/external_agent_import/resources"
    (base / "mine").mkdir()
    (base / "mine/note.md").write_text("mine")
    (base / "loose.md").write_text("loose")
    (claude.home / "projects" / key_of(shop) / "memory/MEMORY.md").unlink()
    assert claude.imported() == {"loose.md": "loose", "mine/note.md": "mine"}


@pytest.mark.parametrize("level", ["projects", "projects/{key}", "projects/{key}/memory", "projects/{key}/memory/deep"])
@pytest.mark.parametrize("mode", [0, 0o400])
def test_what_cannot_be_read_is_not_taken_for_deleted(claude, level, mode):
    """At every level, whether a folder cannot be listed or its files cannot be looked at."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        claude.home = Path(place, "claude")
        claude.services.settings["claude_home"] = str(claude.home)
        shop = claude.project("shop", **{"deep/a.md": "a\n"})
        before = claude.imported()
        folder = claude.home / level.format(key=key_of(shop))
        folder.chmod(mode)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(NOBODY)  # root may read everything
            with pytest.raises(Exception, match=r"cannot be read|Permission denied"):
                claude.mirrors()
            assert claude.state()[0][0] == "warn"
        finally:
            os.seteuid(user)
            folder.chmod(stat.S_IRWXU)
        assert claude.imported() == before


def test_a_memory_that_is_too_long_stays_out_and_is_told(claude):
    shop = claude.project("shop", **{"a.md": "a\n", "long.md": "x" * (1024 * 1024 + 1)})
    assert f"{key_of(shop)}/long.md" not in claude.imported()
    ((_, fields),) = claude.services.log.warnings
    assert "long.md" in fields["reason"]


def test_a_home_that_is_our_own_memory_is_refused(claude):
    shop = claude.project("shop")
    claude.services.memories["v1"] = str(claude.home / "projects" / key_of(shop) / "memory")
    assert claude.mirrors() == []
    assert "overlaps with codexmem's own memory v1" in claude.state()[0][1]
