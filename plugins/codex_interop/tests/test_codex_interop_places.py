"""Where Codex's memory is and which version it has; what is not clear stops the exchange and says so."""

import os
from pathlib import Path

import pytest
from codexmem_codex_interop.codex import codex_home, find_codex


def blocked(codex):
    """Nothing goes in or out, the run and the state say why."""
    assert codex.imports() == []
    assert codex.exports() == []
    said = [fields["reason"] for _, fields in codex.services.log.warnings]
    assert len(said) == 2
    codex.services.log.warnings.clear()
    ((level, message),) = codex.state()
    assert level == "warn"
    assert message == f"nothing is exchanged: {said[0]}"
    return said[0]


def test_the_setting_counts_before_the_variable_and_that_before_the_default(codex):
    assert codex_home(codex.services) == str(codex.home)
    codex.services.environ["CODEX_HOME"] = str(codex.user / "by-variable")
    assert codex_home(codex.services) == str(codex.user / "by-variable")
    codex.services.settings["codex_home"] = "~/by-setting"
    assert codex_home(codex.services) == str(codex.user / "by-setting")


@pytest.mark.parametrize("value", ["", "relative/codex"])
def test_a_variable_that_is_no_folder_counts_for_nothing(codex, value):
    codex.services.environ["CODEX_HOME"] = value
    assert codex_home(codex.services) == str(codex.home)


def test_without_any_home_nothing_is_exchanged(codex):
    codex.services.environ["HOME"] = ""
    assert "codex_home" in blocked(codex)


@pytest.mark.parametrize(
    ("config", "folders", "version"),
    [
        (None, ["memories"], "v1"),  # however empty
        (None, ["memories", "memories_v2"], "v1"),
        (None, [], "v2"),
        ("", ["memories_v2"], "v2"),
        ("[memories]\ndual_write = true\n", ["memories"], "v1"),
        ('[memories]\nversion = "v2"\n', ["memories"], "v2"),
        ('[memories]\nversion = "v1"\n', ["memories_v2"], "v1"),
        ('[profiles.x.memories]\nversion = "v2"\n', ["memories"], "v1"),
    ],
)
def test_the_version_is_that_which_codex_would_take(codex, config, folders, version):
    for folder in folders:
        (codex.home / folder).mkdir()
    if config is not None:
        codex.configure(config)
    assert find_codex(codex.services).version == version


@pytest.mark.parametrize(
    "config", ["[memories", '[memories]\nversion = "v3"\n', "[memories]\nversion = 1\n", "memories = 1\n", b"\xff\xfe"]
)
def test_unclear_settings_stop_the_exchange(codex, config):
    codex.remembers()
    if isinstance(config, bytes):
        (codex.home / "config.toml").write_bytes(config)
    else:
        codex.configure(config)
    assert "config.toml" in blocked(codex)


def test_settings_that_are_a_folder_stop_the_exchange(codex):
    codex.remembers()
    (codex.home / "config.toml").mkdir()
    assert "cannot be read" in blocked(codex)


def test_settings_may_be_a_link_as_in_a_folder_of_dotfiles(codex):
    codex.remembers("v2")
    (codex.user / "dotfiles.toml").write_text('[memories]\nversion = "v2"\n')
    (codex.home / "config.toml").symlink_to(codex.user / "dotfiles.toml")
    assert find_codex(codex.services).version == "v2"


def test_codexs_home_may_be_a_link_and_its_memory_may_not(codex):
    codex.remembers()
    os.rename(codex.home, codex.user / "real")
    codex.home.symlink_to(codex.user / "real")
    assert "resources/codex/MEMORY.md" in codex.imported()
    assert "resources/codexmem/MEMORY.md" in codex.exported()
    os.rename(codex.user / "real/memories", codex.user / "elsewhere")
    (codex.user / "real/memories").symlink_to(codex.user / "elsewhere")
    assert "is a link" in blocked(codex)


@pytest.mark.parametrize("root", ["{home}/memories", "{home}/memories/deep", "{home}", "{home}/memories/../memories"])
def test_memories_that_overlap_are_not_exchanged(codex, root):
    codex.remembers()
    codex.services.memories["v1"] = root.format(home=codex.home)
    assert "overlap" in blocked(codex)


def test_an_overlap_is_seen_through_links_and_letter_case(codex):
    codex.remembers()
    (codex.user / "alias").symlink_to(codex.home)
    codex.services.memories["v1"] = f"{codex.user}/alias/memories"
    assert "overlap" in blocked(codex)
    upper = Path(str(codex.home / "memories").upper())
    codex.services.memories["v1"] = str(upper)
    if upper.exists():  # a file system that folds case
        assert "overlap" in blocked(codex)
    else:
        assert find_codex(codex.services).version == "v1"


def test_the_state_says_what_is_exchanged(codex):
    assert codex.state() == [("info", f"nothing is exchanged yet: Codex has not begun a memory in {codex.root('v2')}")]
    codex.remembers()
    codex.configure("[features]\nmemories = true\n")
    assert codex.state() == [("ok", f"v1 imports from and exports to {codex.root()} (Codex's memory v1)")]
    codex.services.settings["export"] = False
    codex.services.settings["exchange_summary"] = True
    assert codex.state() == [("ok", f"v1 and v2 imports from {codex.root()} (Codex's memory v1)")]
    codex.configure("")
    assert codex.state()[1] == (
        "info",
        "Codex's own memory is switched off, so it does not change and takes nothing in",
    )
    codex.services.settings["import"] = False
    ((level, message),) = codex.state()
    assert (level, message[:4]) == ("info", "off:")
