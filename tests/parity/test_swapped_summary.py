"""A summary that changes under the reader's hands is not followed out of the memory."""

from __future__ import annotations

import os

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_memory_v1 import plugin as memory_v1

from codexmem_core.plugins.calls import PluginError
from codexmem_core.publishing import publish_payloads
from codexmem_core.readpath.session_start import session_start_context

SUMMARY = "v1\n\n## User Profile\n\nBuilds cranes.\n"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "home" / "memories"
    root.mkdir(parents=True)
    return root


@pytest.fixture
def summary(root):
    path = root / "memory_summary.md"
    path.write_text(SUMMARY)
    os.utime(path, (1_790_000_000, 1_790_000_000))
    return path


class Swapping(type(memory_v1)):
    """Its summary becomes a link between the look at it and the reading."""

    name = "swapping"

    def __init__(self, swap):
        super().__init__()
        self.swap = swap

    @hookimpl
    def codexmem_memory(self):
        return super().codexmem_memory()

    @hookimpl
    def codexmem_read_summary(self, workspace, tools, citations):
        assert workspace.exists("memory_summary.md")
        self.swap()
        return super().codexmem_read_summary(workspace, tools, citations)


def test_a_summary_that_becomes_a_link_after_it_was_looked_at_is_not_followed(summary, engine_of, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("v1\n\nfrom elsewhere\n")

    def swap():
        summary.unlink(missing_ok=True)
        summary.symlink_to(outside)

    engine = engine_of(Swapping(swap), without="memory-v1")
    with pytest.raises(PluginError, match=r"memory_summary\.md: a link"):
        session_start_context(engine)
    summary.unlink()
    summary.write_text(SUMMARY)
    publish_payloads(engine)
    given = [path.read_text() for path in (tmp_path / "home" / "read").iterdir() if path.suffix != ".live"]
    assert given
    assert all(text.count("\n") == 1 for text in given), "a first line and nothing to print"
    assert any("sessions are given nothing" in warning for warning in engine.warnings)


def test_a_summary_that_was_read_is_no_longer_given_once_it_is_a_link(summary, engine_of, tmp_path):
    engine = engine_of()
    assert "cranes" in session_start_context(engine)
    outside = tmp_path / "outside.md"
    outside.write_text(SUMMARY)
    os.utime(outside, (1_790_000_000, 1_790_000_000))
    summary.unlink()
    summary.symlink_to(outside)
    assert session_start_context(engine) == ""
