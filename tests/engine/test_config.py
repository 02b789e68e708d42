"""A wrong setting is a warning that says what to do; nothing stops working."""

from __future__ import annotations

import json
import os

import pytest
from codexmem_hookspecs.values.records import Setting

from codexmem_core import config as configuration


def load(tmp_path, text, environ=None, **plugin_settings):
    path = tmp_path / "config.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return configuration.load(str(path), environ or {}, plugin_settings=plugin_settings)


def test_without_a_file_everything_has_its_default(tmp_path):
    config = load(tmp_path, None)
    assert config.number("memories", "min_rollout_idle_hours") == 6
    assert config.text("models", "backend") == "extractive"
    assert config.flag("memories", "dedicated_tools")
    assert config.warnings == ()
    assert config.tables["memories"]["max_unused_days"].origin == "default"


def test_the_environment_wins_over_the_file_and_says_so(tmp_path):
    config = load(
        tmp_path, "[memories]\nmax_unused_days = 7\n", {"CODEXMEM_MEMORIES_MAX_UNUSED_DAYS": "9", "OTHER": "x"}
    )
    assert config.number("memories", "max_unused_days") == 9
    assert config.tables["memories"]["max_unused_days"].origin == "environment CODEXMEM_MEMORIES_MAX_UNUSED_DAYS"


@pytest.mark.parametrize(
    ("given", "kept", "told"),
    [("99999", 365, "0..365"), ("-3", 0, "0..365"), ("7.9", 7, ""), ('"many"', 30, "must be a number 0..365"),
     ("true", 30, "must be a number"), ("inf", 30, "must be a number")],
)  # fmt: skip
def test_numbers_are_clamped_or_replaced_with_a_warning(tmp_path, given, kept, told):
    config = load(tmp_path, f"[memories]\nmax_unused_days = {given}\n")
    assert config.number("memories", "max_unused_days") == kept
    assert bool(config.warnings) == bool(told)
    assert all(told in warning and "memories.max_unused_days" in warning for warning in config.warnings)


def test_unknown_keys_and_tables_are_warnings_with_a_suggestion(tmp_path):
    config = load(tmp_path, "[memories]\nmax_unsed_days = 3\n[memorys]\n")
    assert any("max_unsed_days; did you mean max_unused_days?" in warning for warning in config.warnings)
    assert any("[memorys]; did you mean memories?" in warning for warning in config.warnings)


def test_version_is_another_name_for_read(tmp_path):
    assert load(tmp_path, '[memories]\nversion = "v2"\n').text("memories", "read") == "v2"


def test_so_it_is_as_a_variable(tmp_path):
    config = load(tmp_path, '[memories]\nread = "v1"\n', {"CODEXMEM_MEMORIES_VERSION": "v2"})
    assert config.tables["memories"]["read"] == configuration.Value(
        value="v2", origin="environment CODEXMEM_MEMORIES_VERSION"
    )
    assert config.warnings == ()


@pytest.mark.parametrize("text", ['read = "v1"\nversion = "v2"\n', 'version = "v2"\nread = "v1"\n'])
def test_where_both_are_said_read_counts_and_the_other_is_told(tmp_path, text):
    config = load(tmp_path, f"[memories]\n{text}")
    assert config.text("memories", "read") == "v1"
    path = tmp_path / "config.toml"
    assert config.warnings == (f"{path}: memories.version is passed over: {path}: memories.read says otherwise",)
    variables = {"CODEXMEM_MEMORIES_VERSION": "v3", "CODEXMEM_MEMORIES_READ": "v4"}
    config = load(tmp_path, "", variables)
    assert config.text("memories", "read") == "v4"
    assert config.warnings == ("CODEXMEM_MEMORIES_VERSION is passed over: CODEXMEM_MEMORIES_READ says otherwise",)
    assert load(tmp_path, '[memories]\nread = "v1"\nversion = "v1"\n').warnings == ()


def test_dual_write_says_what_to_install_instead(tmp_path):
    (warning,) = load(tmp_path, "[memories]\ndual_write = true\n").warnings
    assert "install a second memory" in warning


@pytest.mark.parametrize("text", ["[memories\n", "\x00\x01", "memories = 3\n"])
def test_a_broken_file_leaves_the_defaults_and_a_warning_with_the_path(tmp_path, text):
    config = load(tmp_path, text)
    assert config.number("memories", "max_unused_days") == 30
    assert any("config.toml" in warning for warning in config.warnings)


def test_a_file_that_is_not_utf_8_leaves_the_defaults(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"[memories]\nhome = '\xff\xfe'\n")
    assert configuration.load(str(path), {}).warnings


def test_a_plugins_table_is_read_by_its_own_settings(tmp_path):
    settings = [Setting(key="url", default="http://127.0.0.1", help=""), Setting(key="names", default=(), help="")]
    config = load(tmp_path, '[some-plugin]\nurl = "x"\nnames = ["a", "b"]\n', **{"some-plugin": settings})
    assert config.table("some-plugin") == {"url": "x", "names": ("a", "b")}
    assert config.warnings == ()
    env = {"CODEXMEM_SOME_PLUGIN_NAMES": "c, d"}
    assert load(tmp_path, "", env, **{"some-plugin": settings}).table("some-plugin")["names"] == ("c", "d")


def test_the_home_is_chosen_by_option_then_environment_then_file(tmp_path):
    config = load(tmp_path, '[memories]\nhome = "~/from-file"\n')
    assert configuration.home_of("/opt/x", config, {"CODEXMEM_HOME": "/env"}) == "/opt/x"
    assert configuration.home_of("", config, {"CODEXMEM_HOME": "/env"}) == "/env"
    assert configuration.home_of("", config, {}).endswith("/from-file")


PLACE = Setting(key="codex_home", default="", path=True, help="a folder")


@pytest.mark.parametrize(
    ("said", "meant"),
    [("/opt/x", "/opt/x"), ("~/x", "/home/dev/x"), ("x", "{}/x"), ("../x/./y", "{}/../x/y"), ("", "")],
)
def test_a_path_in_the_file_means_the_same_whatever_folder_it_is_read_in(tmp_path, monkeypatch, said, meant):
    monkeypatch.chdir("/")
    text = f"[codex-interop]\ncodex_home = {json.dumps(said)}\n[memories]\nhome = {json.dumps(said)}\n"
    config = load(tmp_path, text, {"HOME": "/home/dev"}, **{"codex-interop": [PLACE]})
    wanted = os.path.normpath(meant.format(tmp_path)) if meant else ""
    assert config.text("codex-interop", "codex_home") == config.text("memories", "home") == wanted
    assert config.warnings == ()


def test_a_relative_path_that_is_in_no_file_is_wrong(tmp_path):
    variables = {"HOME": "/home/dev", "CODEXMEM_CODEX_INTEROP_CODEX_HOME": "x", "CODEXMEM_MEMORIES_HOME": "~/y"}
    config = load(tmp_path, None, variables, **{"codex-interop": [PLACE]})
    assert config.text("codex-interop", "codex_home") == ""
    assert config.text("memories", "home") == "/home/dev/y"
    (warning,) = config.warnings
    assert "CODEXMEM_CODEX_INTEROP_CODEX_HOME must be an absolute path, or begin with ~/" in warning
    with pytest.raises(configuration.SettingError, match="must be an absolute path"):
        configuration.from_text(PLACE, "x", "codex-interop.codex_home")
    assert configuration.from_text(PLACE, "~/x", "codex-interop.codex_home") == "~/x"
