"""What a new session is given: the same bytes until the memory changes, within every limit."""

from __future__ import annotations

import os
import time

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_host_codex.plugin import plugin as codex

from codexmem_core.plugins.calls import Hooks
from codexmem_core.readpath.session_start import session_start_context

SUMMARY = "v1\n\n## User preferences\n\n- always run make lint\n"
HOUR_AGO = time.time() - 3_600


@pytest.fixture
def summary(put, root):
    """Write the summary so that its time is settled."""

    def write(text, at=HOUR_AGO):
        put({"memory_summary.md": text})
        os.utime(root / "memory_summary.md", (at, at))

    return write


@pytest.fixture
def asked(monkeypatch):
    """Counts how often a memory was asked for its context."""
    calls = []
    original = Hooks.call_one

    def counting(self, plugin, hook, /, **arguments):
        if hook == "codexmem_read_summary":
            calls.append(plugin)
        return original(self, plugin, hook, **arguments)

    monkeypatch.setattr(Hooks, "call_one", counting)
    return calls


def test_the_same_bytes_come_from_the_stat_alone(engine, summary, asked):
    summary(SUMMARY)
    first = session_start_context(engine)
    assert "always run make lint" in first
    assert [session_start_context(engine) for _ in range(3)] == [first] * 3
    assert asked == ["memory-v1"]


def test_another_process_gives_the_same_bytes(engine_with, summary):
    summary(SUMMARY)
    assert session_start_context(engine_with()).encode() == session_start_context(engine_with()).encode()


def test_other_files_of_the_memory_do_not_change_it(engine, summary, put, asked):
    summary(SUMMARY)
    first = session_start_context(engine)
    put({"MEMORY.md": "# new\n", "rollout_summaries/a.md": "x\n"})
    assert session_start_context(engine) == first
    assert asked == ["memory-v1"]


def test_a_changed_summary_is_seen_at_once(engine, summary):
    summary(SUMMARY)
    session_start_context(engine)
    summary(SUMMARY + "- and make test\n", at=HOUR_AGO + 1)
    assert "- and make test" in session_start_context(engine)


def test_a_change_that_leaves_size_and_time_is_seen_when_the_file_is_another(engine, summary, root):
    summary(SUMMARY)
    session_start_context(engine)
    (root / "new").write_text(SUMMARY.replace("lint", "test"))
    os.utime(root / "new", (HOUR_AGO, HOUR_AGO))
    os.replace(root / "new", root / "memory_summary.md")
    assert "make test" in session_start_context(engine)


def test_a_file_that_is_just_being_written_is_not_trusted(engine, put, root):
    put({"memory_summary.md": SUMMARY})
    stamp = (root / "memory_summary.md").stat().st_mtime_ns + 10**12
    os.utime(root / "memory_summary.md", ns=(stamp, stamp))
    session_start_context(engine)
    (root / "memory_summary.md").write_text(SUMMARY.replace("lint", "test"))
    os.utime(root / "memory_summary.md", ns=(stamp, stamp))
    assert "make test" in session_start_context(engine)


def test_a_summary_that_appears_or_goes_is_seen(engine, summary, root):
    assert session_start_context(engine) == ""
    summary(SUMMARY)
    assert session_start_context(engine) != ""
    os.unlink(root / "memory_summary.md")
    assert session_start_context(engine) == ""


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_blank_summary_says_nothing(text, engine, summary):
    summary(text)
    assert session_start_context(engine) == ""


def test_links_are_never_read(engine, summary, root, tmp_path):
    summary(SUMMARY)
    (tmp_path / "secret.md").write_text("somebody else's\n")
    os.unlink(root / "memory_summary.md")
    (root / "memory_summary.md").symlink_to(tmp_path / "secret.md")
    assert session_start_context(engine) == ""
    os.rename(root, tmp_path / "moved")
    root.symlink_to(tmp_path / "moved")
    assert session_start_context(engine) == ""


def test_switched_off_there_is_no_context(engine_with, summary):
    summary(SUMMARY)
    assert session_start_context(engine_with(config="[memories]\nuse_memories = false\n")) == ""


def test_the_summary_is_cut_in_the_middle_to_2500_tokens(engine, summary):
    summary("v1\nHEAD " + "x" * 30_000 + " TAIL")
    text = session_start_context(engine)
    inside = text[text.index("v1\nHEAD") : text.index(" TAIL") + 5]
    assert len(inside) == 10_000
    assert "truncated" in inside


@pytest.mark.parametrize("unit", ["x", "设", "😀", "</codexmem-reference>"])
def test_a_hosts_limit_is_never_passed_and_head_and_tail_stay(unit, engine, summary):
    summary("v1\nHEAD " + unit * 9_000 + " TAIL")
    limit = engine.host("codex").limit_bytes
    text = session_start_context(engine, host="codex")
    assert 0.7 * limit < len(text.encode()) <= limit
    assert text.startswith("<codexmem-reference ")
    assert text.endswith("</codexmem-reference>\n")
    assert "TAIL" in text
    assert text.count("</codexmem-reference>") == 1


def test_the_guidance_names_tools_only_where_there_are_some(engine_with, summary):
    summary(SUMMARY)
    with_tools = session_start_context(engine_with())
    assert "memory_search" in with_tools
    assert "since" in with_tools
    assert "memory_add_note" in with_tools
    for without in ({"config": "[memories]\ndedicated_tools = false\n"}, {"servers": ()}):
        engine = engine_with(**without)
        for host in ("", "codex"):
            told = session_start_context(engine, host=host)
            assert "memory_" not in told.replace("memory_summary.md", "")
            assert "codexmem search" in told


def test_tools_are_named_as_the_host_shows_them_and_by_their_own_names_for_nobody(engine_with, summary):
    summary(SUMMARY)
    engine = engine_with(hosts=("host-codex", "host-claude"))
    for host in ("codex", "claude"):
        assert "Call mcp__codexmem__memory_search with" in session_start_context(engine, host=host)
    assert "Call memory_search with" in session_start_context(engine)


def test_a_host_that_brings_the_tools_itself_needs_no_server(engine_with, summary):
    class Bringing(type(codex)):
        @hookimpl
        def codexmem_capture_host(self):
            (host,) = super().codexmem_capture_host()
            host.name, host.gives_tools = "bringing", True
            host.tool_name = "own.{}".format
            return [host]

    summary(SUMMARY)
    engine = engine_with(("bringing", Bringing()), servers=())
    assert "Call own.memory_search with" in session_start_context(engine, host="bringing")
    assert "codexmem search" in session_start_context(engine, host="codex")


class OpenCode(type(codex)):
    """Stands for the host in which answers can be changed before they are shown."""

    @hookimpl
    def codexmem_capture_host(self):
        (host,) = super().codexmem_capture_host()

        class Named(type(host)):
            name = "opencode"
            hides_citations = True

        return [Named()]


@pytest.mark.parametrize(
    ("setting", "host", "wanted"),
    [
        ("", "codex", False),
        ("", "", False),
        ("", "opencode", True),
        ("auto", "opencode", True),
        ("on", "codex", True),
        ("on", "", True),
        ("off", "opencode", False),
    ],
)
def test_citations_are_asked_for_where_they_can_be_hidden_or_are_switched_on(
    setting, host, wanted, engine_with, summary
):
    summary(SUMMARY)
    config = f'[memories]\ncitations = "{setting}"\n' if setting else ""
    engine = engine_with(("opencode", OpenCode()), config=config)
    text = session_start_context(engine, host=host)
    assert "always run make lint" in text
    assert ("<memory-citation>" in text) is wanted
    assert ("When you used it" in text) is wanted


def test_a_wrong_setting_is_a_warning(engine_with):
    engine = engine_with(config='[memories]\ncitations = "maybe"\n')
    assert any("memories.citations" in warning for warning in engine.config.warnings)
