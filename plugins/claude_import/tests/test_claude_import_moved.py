"""Memories that a setting of Claude Code's keeps elsewhere."""

import json
import os

import pytest
from codexmem_claude_import import moved
from codexmem_claude_import.scope import key_of


@pytest.fixture(autouse=True)
def shop(claude):
    """A project with a session, whose own memory folder is not in use any more."""
    return claude.project("shop", **{"MEMORY.md": "from before\n"})


def settings(folder, value, name="settings.local.json"):
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"autoMemoryDirectory": value}, file)
    return path


def kept_in(claude, name, text="moved\n"):
    folder = claude.directory(name)
    with open(os.path.join(folder, "note.md"), "w", encoding="utf-8") as file:
        file.write(text)
    return folder


def test_a_folder_that_a_project_names_is_imported_under_that_projects_key(claude, shop):
    kept_in(claude, "kept")
    settings(f"{shop}/.claude", "~/kept")
    assert claude.imported() == {
        f"{key_of(shop)}/note.md": "moved\n",
        f"{key_of(shop)}/scope.json": f'{{"cwd":"{shop}"}}',
    }


def test_a_projects_own_settings_are_stronger_than_those_it_shares(claude, shop):
    kept_in(claude, "shop/docs/memory", "shared\n")
    settings(f"{shop}/.claude", f"{shop}/docs/memory", "settings.json")
    assert claude.imported()[f"{key_of(shop)}/note.md"] == "shared\n"
    settings(f"{shop}/.claude", kept_in(claude, "kept"))
    assert claude.imported()[f"{key_of(shop)}/note.md"] == "moved\n"


def test_settings_that_are_shared_lead_nowhere_outside_of_their_project(claude, shop):
    before = claude.imported()
    settings(f"{shop}/.claude", kept_in(claude, "private"), "settings.json")
    assert claude.imported() == before
    assert any("may only name folders of its project" in line for _, line in claude.state())


@pytest.mark.parametrize("wide", ["/", "{home}", "{shop}", "{home}/.claude", "{home}/codexmem"])
def test_a_folder_that_holds_far_more_than_memories_is_not_read(claude, shop, wide):
    before = claude.imported()
    settings(f"{shop}/.claude", wide.format(home=claude.user, shop=shop))
    assert claude.imported() == before
    assert any("not imported" in line for _, line in claude.state())


def test_a_named_folder_that_is_away_removes_nothing(claude, shop):
    folder = kept_in(claude, "kept")
    settings(f"{shop}/.claude", folder)
    before = claude.imported()
    os.rename(folder, f"{folder}-away")
    assert claude.imported() == before
    assert any("it is not there" in line for _, line in claude.state())


def test_a_folder_for_the_whole_user_is_told_and_not_imported(claude, shop):
    settings(claude.home, kept_in(claude, "all"), "settings.json")
    assert claude.imported()[f"{key_of(shop)}/MEMORY.md"] == "from before\n"
    assert f"{key_of(shop)}/note.md" not in claude.imported()
    assert any("to which project one belongs is not known" in line for _, line in claude.state())


@pytest.mark.parametrize("value", [7, "", "relative/folder", "~other/folder", "/half \ud83d", "/zero\0", None])
def test_a_value_that_claude_code_would_not_take_counts_for_nothing(claude, shop, value):
    before = claude.imported()
    settings(f"{shop}/.claude", value)
    assert claude.imported() == before


def test_settings_that_cannot_be_read_count_for_nothing(claude, shop):
    before = claude.imported()
    for text in ("{", "[]", "\udcff", "[" * 100_000):
        os.makedirs(f"{shop}/.claude", exist_ok=True)
        with open(f"{shop}/.claude/settings.local.json", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        assert claude.imported() == before


def test_an_administrators_folder_counts_before_all_others(claude, tmp_path):
    managed = tmp_path / "managed"
    (managed / "managed-settings.d").mkdir(parents=True)
    settings(managed / "managed-settings.d", "/srv/b", "20.json")
    settings(managed / "managed-settings.d", "/srv/a", "10.json")
    settings(claude.home, "/srv/user", "settings.json")
    named = list(moved.for_everybody(str(claude.home), claude.services, (str(managed),)))
    assert [one.folder for one in named] == ["/srv/a", "/srv/b", "/srv/user"]
