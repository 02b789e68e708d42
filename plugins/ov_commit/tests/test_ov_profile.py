"""What a session is told at its start about its user."""

from __future__ import annotations

import pytest

ROOT = "viking://user/default/memories"


@pytest.fixture
def known(machine):
    """A server that knows something."""
    memory = machine.server.memory
    memory.keep("profile.md", "# Profile\nWrites small commits.")
    memory.keep("preferences/style.md", abstract="tabs,\n  never spaces")
    memory.keep("preferences/deep/Editor.md")
    memory.keep("preferences/.overview.md", abstract="hidden")
    memory.keep("entities/shop.md", abstract="the web shop")
    return machine


def test_the_profile_and_the_names_of_what_can_be_read_stand_in_marks(known):
    assert known.asks("startup") == (
        '<openviking-context source="session-start">\n'
        f"{ROOT}/profile.md\n# Profile\nWrites small commits.\n"
        f"  {ROOT}/preferences/\n    - deep/Editor.md\n    - style.md — tabs, never spaces\n"
        f"  {ROOT}/entities/\n    - shop.md — the web shop\n"
        "</openviking-context>"
    )


@pytest.mark.parametrize("moment", ["startup", "clear", "compact", "fork", "resume"])
def test_every_start_gives_it(known, moment):
    assert "Writes small commits." in known.asks(moment)


def test_every_request_belongs_to_the_directorys_peer(known):
    known.asks("startup", known.conversation(cwd="/tmp/work"))
    assert {asked.headers["x-openviking-actor-peer"] for asked in known.server.requests} == {"-tmp-work"}


def test_a_resume_does_not_repeat_what_the_session_was_given(known):
    talk = known.conversation()
    assert known.asks("startup", talk)
    assert known.asks("resume", talk) == ""
    known.server.memory.keep("profile.md", "# Profile\nWrites large commits.")
    assert "large" in known.asks("resume", talk)
    assert known.asks("resume", talk) == ""
    assert "large" in known.asks("resume", known.conversation()), "another session was never told"


def test_after_compaction_it_is_said_again(known):
    talk = known.conversation()
    assert known.asks("startup", talk) == known.asks("compact", talk) != ""


def test_a_host_that_forgets_what_it_was_given_is_told_at_each_resume(known):
    talk = known.conversation(host="opencode")
    assert known.asks("startup", talk) == known.asks("resume", talk) != ""


def test_it_can_be_switched_off(known):
    known.set(NO_AUTO_INJECT=1)
    assert known.asks("startup") == ""
    assert known.server.lines == []


def test_a_session_that_is_passed_over_is_given_nothing(known):
    known.set(BYPASS_SESSION_PATTERNS="/home/user/secret/**")
    assert known.asks("startup", known.conversation(cwd="/home/user/secret/x")) == ""
    assert known.asks("startup", known.conversation(cwd="/home/user/other")) != ""


@pytest.mark.parametrize(
    ("folders", "user", "said"),
    [
        (("alice", "bob"), "alice", "alice"),
        (("default", "bob"), "alice", "default"),
        (("bob",), "alice", "bob"),
        (("bob", "carol"), "alice", ""),
        ((".system", "memories", "bob"), "", "bob"),
    ],
)
def test_whose_profile_it_is(machine, folders, user, said):
    memory = machine.server.memory
    for folder in folders:
        memory.files[f"viking://user/{folder}/memories/profile.md"] = (f"profile of {folder}", "")
    memory.user = user
    text = machine.asks("startup")
    assert f"profile of {said}" in text if said else text == ""


def test_a_part_that_cannot_be_read_costs_only_itself(known):
    known.server.cut = lambda asked: (500, {"status": "error"}) if asked.path.endswith("content/read") else None
    assert "Writes small" not in known.asks("startup")
    assert "the web shop" in known.asks("startup")


def test_a_server_that_knows_nothing_says_nothing(machine):
    assert machine.asks("startup") == ""


def test_a_dead_server_says_nothing_and_is_no_warning(machine):
    machine.lose_server()
    assert machine.asks("startup") == ""
    assert machine.asks("resume") == ""
    assert machine.log.warnings == []
