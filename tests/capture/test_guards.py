"""What is never captured, whatever was asked for."""

from __future__ import annotations

import os

import pytest
from codexmem_hookspecs.values.capture import Session

from codexmem_core.capture.guards import Guards, own_folders
from codexmem_core.paths import inside_any


class SmallHost:
    name = "h"

    def own_memories(self, environ):
        return ["/home/dev/.agent/memories*"]

    def own_agent(self, session):
        return session.source == "its-own-memory"


def guards(excluded=(), own=(), folders=("/data/codexmem",)):
    return Guards(
        hosts={"h": SmallHost()}, own_folders=tuple(folders), excluded=frozenset(excluded), own=frozenset(own)
    )


def session(**given):
    return Session(**{"host": "h", "id": "1", "cwd": "/home/dev/work", **given})


def test_an_ordinary_session_passes():
    assert guards().refusal(session()) == ""


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"kind": "subagent"}, "subagent"),
        ({"kind": "internal"}, "internal"),
        ({"source": "its-own-memory"}, "internal"),
        ({"memory_mode": "disabled"}, "switched off"),
        ({"cwd": "/data/codexmem/memories"}, "inside a memory folder"),
    ],
)
def test_helpers_and_what_is_switched_off_are_refused_with_the_reason(given, reason):
    assert reason in guards().refusal(session(**given))


def test_a_mode_that_the_user_set_and_our_own_sessions_are_refused():
    assert "switched off" in guards(excluded=[("h", "1")]).refusal(session())
    assert "own helper" in guards(own=[("h", "1")]).refusal(session())


@pytest.mark.parametrize("cwd", ["/home/dev/.agent/memories", "/home/dev/.agent/memories_v2/x", "/data/codexmem"])
def test_memory_folders_of_hosts_and_ours_are_recognised_below_too(cwd):
    folders = own_folders("/data/codexmem", [SmallHost()], {})
    assert inside_any(cwd, folders)


@pytest.mark.parametrize("cwd", ["/home/dev/.agent", "/home/dev/.agent/notes", "/data/codexmem-notes", "/"])
def test_neighbours_of_memory_folders_are_not(cwd):
    assert not inside_any(cwd, own_folders("/data/codexmem", [SmallHost()], {}))


def test_a_link_into_a_memory_folder_is_seen_through(tmp_path):
    (tmp_path / "home" / "memories").mkdir(parents=True)
    os.symlink(tmp_path / "home", tmp_path / "other-name")
    assert inside_any(str(tmp_path / "other-name" / "memories"), own_folders(str(tmp_path / "home"), [], {}))
