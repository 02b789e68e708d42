"""Ours go out as an extension of Codex's memory, and nothing else of Codex's is touched."""

import pytest

from .conftest import SUMMARY

OURS = {"resources/codexmem/MEMORY.md", "resources/codexmem/memory_summary.md"}
OURS_V2 = "resources/codexmem_v2/memory_summary.md"


def test_nothing_goes_out_until_it_is_turned_on(codex):
    codex.remembers()
    codex.services.settings["export"] = False
    assert codex.exports() == []


def test_a_memory_that_codex_has_not_begun_is_not_begun_for_it(codex):
    assert codex.exports() == []
    codex.configure('[memories]\nversion = "v1"\n')
    assert codex.exports() == []
    assert not codex.root().exists()


def test_consolidated_files_go_out_and_a_second_time_nothing_is_written(codex):
    root = codex.remembers()
    before = {path: path.read_bytes() for path in root.iterdir()}
    files = codex.exported()
    assert set(files) == {"instructions.md", *OURS}
    assert files["resources/codexmem/MEMORY.md"] == "ours\n"
    assert "`[from codexmem]`" in files["instructions.md"]
    assert codex.exported() == files
    assert {path: path.read_bytes() for path in root.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("summary", ["", "no first line\n", "v1 \n", "v2\n"])
def test_a_summary_that_is_not_valid_does_not_go_out(codex, summary):
    codex.remembers()
    assert codex.exports(**{"MEMORY.md": "ours\n", "memory_summary.md": summary}) == []
    before = codex.exported()
    assert codex.exported(**{"MEMORY.md": "new\n", "memory_summary.md": summary}) == before


@pytest.mark.parametrize("summary", [SUMMARY.replace("## General Tips\n", ""), SUMMARY + "x" * 10_000, "v1\n"])
def test_v2s_summary_must_be_one_that_codexs_v2_would_take(codex, summary):
    codex.remembers()
    codex.services.settings["exchange_summary"] = True
    assert codex.exports("v2", **{"memory_summary.md": summary}) == []
    assert OURS_V2 in codex.exported("v2", **{"memory_summary.md": SUMMARY})


def test_both_of_ours_lie_side_by_side_with_one_text_of_instructions(codex):
    codex.remembers()
    codex.services.settings["exchange_summary"] = True
    first = codex.exported("v1")
    both = codex.exported("v2", **{"memory_summary.md": SUMMARY})
    assert set(both) == {"instructions.md", *OURS, OURS_V2}
    assert both["instructions.md"] == first["instructions.md"]
    assert codex.exported("v1") == both
    codex.services.settings["exchange_summary"] = False
    assert OURS_V2 not in codex.exported("v1")


def test_codexs_v2_is_told_to_keep_to_its_shape(codex):
    codex.remembers("v2")
    files = codex.exported(version="v2")
    assert set(files) == {"instructions.md", *OURS}
    assert "below 10,000 bytes" in files["instructions.md"]
    assert not codex.root("v1").exists()


def test_when_codex_changes_its_version_the_copies_move(codex):
    codex.remembers("v1")
    codex.remembers("v2")
    codex.exported()
    codex.configure('[memories]\nversion = "v2"\n')
    assert set(codex.exported(version="v2")) >= OURS
    assert set(codex.exported(version="v1")) == {"instructions.md"}


def test_the_extension_of_the_older_plugin_is_told_and_not_touched(codex):
    older = codex.remembers() / "extensions/opencode_import"
    older.mkdir(parents=True)
    (older / "instructions.md").write_text("theirs")
    codex.exported()
    assert (older / "instructions.md").read_text() == "theirs"
    assert any("comes from another plugin and is not touched" in line for _, line in codex.state())


def test_with_v2_alone_nothing_goes_out_and_the_state_says_why(codex):
    codex.remembers()
    del codex.services.memories["v1"]
    assert codex.exports("v2", **{"memory_summary.md": SUMMARY}) == []
    assert codex.imports("v2") == []
    assert codex.state() == [
        ("warn", "exchange with Codex needs Memory V1, which is not installed: nothing is exchanged")
    ]
    codex.services.settings["exchange_summary"] = True
    assert set(codex.exported("v2", **{"memory_summary.md": SUMMARY})) == {"instructions.md", OURS_V2}
    assert (
        "warn",
        "exchange with Codex needs Memory V1, which is not installed: only the summary of V2 is exchanged",
    ) in codex.state()


def test_a_memory_of_somebody_elses_is_not_exchanged(codex):
    codex.remembers()
    codex.exported()
    assert codex.exports("other") == []
    assert codex.exports("other", forgotten=True) == []


def test_after_forgetting_the_copies_are_as_the_memory_is_now(codex):
    codex.remembers()
    codex.exported()
    files = codex.exported(forgotten=True, **{"MEMORY.md": "less\n", "memory_summary.md": SUMMARY})
    assert files["resources/codexmem/MEMORY.md"] == "less\n"


@pytest.mark.parametrize("reset", [{"memory_summary.md": ""}, {"memory_summary.md": "not valid"}])
def test_after_forgetting_a_memory_that_is_not_valid_has_no_copies(codex, reset):
    codex.remembers()
    codex.services.settings["exchange_summary"] = True
    codex.exported("v2", **{"memory_summary.md": SUMMARY})
    codex.exported("v1")
    files = codex.exported(forgotten=True, **reset)
    assert set(files) == {"instructions.md", OURS_V2}


def test_after_forgetting_nothing_is_left_where_nothing_is_exported_any_more(codex):
    codex.remembers("v1")
    codex.remembers("v2")
    codex.exported()
    codex.configure('[memories]\nversion = "v2"\n')
    codex.services.settings["export"] = False
    assert codex.exports() == []
    assert set(codex.exported(forgotten=True)) == {"instructions.md"}
    assert codex.exported(version="v2", forgotten=True) == {}


def test_after_forgetting_unclear_settings_do_not_keep_the_copies(codex):
    codex.remembers()
    codex.exported()
    codex.configure("[memories\n")
    assert codex.exports() == []
    assert set(codex.exported(forgotten=True)) == {"instructions.md"}
