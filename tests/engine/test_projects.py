"""What a project's own file and the user's list of folders say: they only ever switch off."""

from __future__ import annotations

import os
import subprocess
import tempfile

import pytest
from codexmem_hookspecs.values.records import Setting
from hypothesis import given
from hypothesis import strategies as st

from codexmem_core import config as configuration
from codexmem_core.project_files import may_switch_off, project_files
from codexmem_core.projects import Projects


@pytest.fixture
def say(tmp_path):
    """Write a project file: folder below the test's own → its text."""

    def write(files):
        for folder, text in files.items():
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / ".codexmem.toml").write_text(text)

    return write


@pytest.fixture
def projects_of(tmp_path):
    def make(config="", environ=(), **plugin_settings):
        path = tmp_path / "config.toml"
        path.write_text(config)
        given = {"HOME": str(tmp_path / "me"), **dict(environ)}
        loaded = configuration.load(str(path), given, plugin_settings=plugin_settings)
        return Projects(lambda: loaded, given)

    return make


@pytest.fixture
def memory(tmp_path, projects_of):
    """What holds in a folder below the test's own."""
    return lambda folder, **given: projects_of(**given).rules(str(tmp_path / folder)).memory


@pytest.mark.parametrize(
    ("value", "gives", "learns"),
    [("on", True, True), ("off", False, False), ("read_only", True, False), ("no_context", False, True)],
)
def test_a_file_holds_in_its_folder_and_below(value, gives, learns, say, projects_of, tmp_path):
    say({"repo": f'memory = "{value}"\n'})
    for folder in ("repo", "repo/deep/down", "repo/deep/not there"):
        rules = projects_of().rules(str(tmp_path / folder))
        assert (rules.memory, rules.gives, rules.learns, rules.warnings) == (value, gives, learns, ())
        assert rules.place == str(tmp_path / "repo" / ".codexmem.toml")
        assert bool(rules.reason) == (value != "on")


def test_beside_the_project_and_without_a_folder_nothing_is_said(say, memory, projects_of):
    say({"repo": 'memory = "off"\n'})
    assert memory("repository") == memory(".") == "on"
    assert projects_of().rules("").memory == projects_of().rules("repo").memory == "on"


@pytest.mark.parametrize(
    ("outer", "inner", "together"),
    [
        ("off", "on", "off"),
        ("read_only", "on", "read_only"),
        ("on", "no_context", "no_context"),
        ("read_only", "no_context", "off"),
        ("no_context", "read_only", "off"),
        ("no_context", "off", "off"),
    ],
)
def test_a_project_cannot_switch_on_what_is_off_further_up(outer, inner, together, say, projects_of, tmp_path):
    say({"work": f'memory = "{outer}"\n', "work/cloned": f'memory = "{inner}"\n'})
    rules = projects_of().rules(str(tmp_path / "work" / "cloned"))
    assert rules.memory == together
    assert all(str(tmp_path / "work") in place for place in rules.place.split(" and "))


def test_who_alone_switches_off_is_named_and_otherwise_both(say, projects_of, tmp_path):
    say({"work": 'memory = "read_only"\n', "work/a": 'memory = "no_context"\n', "work/b": 'memory = "off"\n'})
    projects = projects_of()
    assert projects.rules(str(tmp_path / "work" / "b")).place == str(tmp_path / "work" / "b" / ".codexmem.toml")
    assert projects.rules(str(tmp_path / "work" / "a")).place.count(".codexmem.toml") == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('memory = "of"\n', "must be one of on, off, read_only, no_context"),
        ("memory = false\n", "must be one of"),
        ("memory = [1]\n", "must be one of"),
        ("memory = off\n", "cannot be read"),
        ('memory = "on"\n\0', "cannot be read"),
        ("# memory\n" + "[" * 5_000, "cannot be read"),
        ("#" * 70_000, "cannot be read"),
        ('"\\u006demory" = "no"\n', "must be one of"),
    ],
)
def test_what_cannot_be_understood_is_taken_for_off_and_told(text, told, say, projects_of, tmp_path):
    say({"repo": text})
    rules = projects_of().rules(str(tmp_path / "repo"))
    assert rules.memory == "off"
    (warning,) = rules.warnings
    assert told in warning
    assert str(tmp_path / "repo") in warning


@pytest.mark.parametrize("text", ["[ov]\npeer = x\n", "peer =\n", "[" * 5_000])
def test_a_broken_file_that_cannot_be_about_memory_switches_nothing_off_but_is_told(text, say, projects_of, tmp_path):
    say({"repo": text})
    rules = projects_of().rules(str(tmp_path / "repo"))
    assert rules.memory == "on"
    (warning,) = rules.warnings
    assert "cannot be read" in warning
    assert "off" not in warning


def test_a_byte_order_mark_and_windows_line_ends_make_no_difference(projects_of, tmp_path):
    (tmp_path / ".codexmem.toml").write_bytes(b'\xef\xbb\xbfmemory = "read_only"\r\n')
    assert projects_of().rules(str(tmp_path)).memory == "read_only"


@given(st.binary(max_size=40) | st.text(alphabet='memory ="offon\\u0\n', max_size=30).map(str.encode))
def test_no_file_says_off_that_a_hook_thinks_cannot(content):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, ".codexmem.toml")
        with open(path, "wb") as file:
            file.write(content)
        projects = Projects(lambda: configuration.load(os.path.join(folder, "none"), {}), {})
        assert may_switch_off(path) or projects.rules(folder).memory == "on"


def test_a_pipe_a_folder_and_a_dangling_link_of_that_name_stop_nobody(projects_of, tmp_path):
    for folder in ("pipe", "folder", "link"):
        (tmp_path / folder).mkdir()
    os.mkfifo(tmp_path / "pipe" / ".codexmem.toml")
    (tmp_path / "folder" / ".codexmem.toml").mkdir()
    (tmp_path / "link" / ".codexmem.toml").symlink_to(tmp_path / "nothing")
    for folder in ("pipe", "folder", "link"):
        assert projects_of().rules(str(tmp_path / folder)).memory == "off"


def test_everything_but_memory_and_what_a_plugin_allows_is_passed_over_with_a_warning(say, projects_of, tmp_path):
    settings = [
        Setting(key="topic", default="", help="", project=True),
        Setting(key="size", default=1, help="", low=0, high=9, project=True),
        Setting(key="url", default="http://safe", help=""),
    ]
    say({
        "repo": 'memory = "read_only"\nname = "x"\n[p]\ntopic = "here"\nsize = 99\nurl = "http://elsewhere"\n'
        '[models]\nbackend = "command"\n[memories]\nhome = "/elsewhere"\n[absent]\nx = 1\n'
    })  # fmt: skip
    projects = projects_of(p=settings)
    inner = str(tmp_path / "repo" / "sub")
    assert projects.table("p", inner) == {"topic": "here", "size": 9, "url": "http://safe"}
    assert projects.table("p", str(tmp_path)) == {"topic": "", "size": 1, "url": "http://safe"}
    rules = projects.rules(inner)
    assert rules.memory == "read_only"
    named = ("name is passed over", "p.size is 99", "p.url is passed", "[models] is", "[memories] is", "[absent] is")
    assert len(rules.warnings) == len(named)
    for what in named:
        assert any(what in warning for warning in rules.warnings), what
    assert projects.warnings == rules.warnings


def test_the_environment_stands_above_a_projects_file(say, projects_of, tmp_path):
    settings = [Setting(key="topic", default="", help="", project=True)]
    say({"repo": '[p]\ntopic = "here"\n'})
    projects = projects_of(environ={"CODEXMEM_P_TOPIC": "said"}, p=settings)
    assert projects.table("p", str(tmp_path / "repo")) == {"topic": "said"}


def test_a_changed_file_is_read_again(say, projects_of, tmp_path):
    projects = projects_of()
    for value in ("off", "no_context"):
        say({"repo": f'memory = "{value}"\n'})
        assert projects.rules(str(tmp_path / "repo")).memory == value
    (tmp_path / "repo" / ".codexmem.toml").unlink()
    assert projects.rules(str(tmp_path / "repo")).memory == "on"


def test_a_link_into_a_project_is_the_project_and_the_links_own_place_counts_too(say, memory, tmp_path):
    say({"projects/harbor": 'memory = "off"\n', "links": 'memory = "read_only"\n'})
    (tmp_path / "short").symlink_to(tmp_path / "projects" / "harbor")
    (tmp_path / "links" / "other").symlink_to(tmp_path)
    assert memory("short/sub") == "off"
    assert memory("links/other") == "read_only"


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("relative", [False, True])
def test_a_git_worktree_obeys_the_main_checkouts_uncommitted_file_at_the_same_place(relative, say, memory, tmp_path):
    say({"main": "", "main/sub": 'memory = "off"\n', "unrelated": ""})
    git(tmp_path / "main", "init", "-q")
    git(tmp_path / "main", "commit", "-q", "--allow-empty", "-m", "begin")
    git(tmp_path / "main", "worktree", "add", "-q", str(tmp_path / "elsewhere" / "wt"))
    if relative:
        pointer = tmp_path / "elsewhere" / "wt" / ".git"
        pointer.write_text("gitdir: ../../main/.git/worktrees/wt\n")
    assert memory("elsewhere/wt") == "on"
    assert memory("elsewhere/wt/sub/deep") == "off"
    say({"main": 'memory = "read_only"\n'})
    assert memory("elsewhere/wt") == "read_only"
    assert memory("elsewhere") == "on"


@pytest.mark.parametrize(
    "pointer",
    [b"", b"gitdir: ", b"gitdir: /x/.git/modules/sub", b"\xff\xfe", b"gitdir: a\0b/.git/worktrees/x", b"g" * 9_000],
)
def test_other_files_called_git_lead_nowhere(pointer, tmp_path):
    (tmp_path / ".git").write_bytes(pointer)
    assert project_files(str(tmp_path)) == []


def test_worktrees_that_name_each_other_end(tmp_path):
    for here, there in (("a", "b"), ("b", "a")):
        (tmp_path / here).mkdir()
        (tmp_path / here / ".git").write_text(f"gitdir: {tmp_path}/{there}/.git/worktrees/x")
        (tmp_path / here / ".codexmem.toml").write_text("")
    assert len(project_files(str(tmp_path / "a"))) == 2


@pytest.mark.parametrize(
    ("pattern", "off", "on"),
    [
        ("~/private/**", ["me/private", "me/private/deep/er"], ["me", "me/privateer", "private"]),
        ("~/private", ["me/private", "me/private/deep"], ["me"]),
        ("~/private/", ["me/private", "me/private/deep"], ["me"]),
        ("~/*/secret", ["me/a/secret/x", "me/a/b/secret"], ["me/a", "a/secret"]),
        ("**/secret", ["me/secret", "x/y/secret/z"], ["me/secrets"]),
        ("~/work[12]", ["me/work1", "me/work2/x"], ["me/work3", "me/work"]),
        ("~", ["me", "me/any"], ["you"]),
        ("**", ["me", "you"], []),
    ],
)
def test_folders_of_the_users_list_are_off(pattern, off, on, memory, projects_of, tmp_path):
    config = f'[memories]\nbypass = ["{pattern}"]\n'
    assert [memory(folder, config=config) for folder in off] == ["off"] * len(off)
    assert [memory(folder, config=config) for folder in on] == ["on"] * len(on)
    assert pattern in projects_of(config=config).rules(str(tmp_path / off[0])).reason


def test_a_listed_folder_is_meant_whatever_link_leads_there(memory, tmp_path):
    (tmp_path / "disk" / "x").mkdir(parents=True)
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / "private").symlink_to(tmp_path / "disk")
    (tmp_path / "me" / "other").symlink_to(tmp_path / "me" / "private")
    config = '[memories]\nbypass = ["~/private/**"]\n'
    assert memory("disk/x", config=config) == memory("me/other/x", config=config) == "off"


def test_absolute_patterns_and_the_environments_list_count(memory, tmp_path):
    assert memory("a/b", config=f'[memories]\nbypass = ["{tmp_path}/a"]\n') == "off"
    assert memory("a/b", environ={"CODEXMEM_MEMORIES_BYPASS": f"/nowhere, {tmp_path}/a/**"}) == "off"


@pytest.mark.parametrize("pattern", ["private", "", "./private", "~someone/private"])
def test_a_pattern_that_names_no_place_is_told_and_switches_nothing_off(pattern, projects_of, tmp_path):
    projects = projects_of(config=f'[memories]\nbypass = ["{pattern}"]\n')
    assert projects.rules(str(tmp_path / "private")).memory == "on"
    (warning,) = projects.setting_warnings
    assert f'"{pattern}"' in warning
    assert "must begin with" in warning


def test_hooks_are_told_below_which_folders_they_cannot_answer_by_themselves(projects_of, tmp_path):
    projects = projects_of(config='[memories]\nbypass = ["~/private/**", "/a/b*/c", "**/secret", "relative"]\n')
    assert projects.asked_folders == (str(tmp_path / "me" / "private"), "/a", "/")
    assert projects_of().asked_folders == ()
