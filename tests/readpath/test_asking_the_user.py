"""Tools that need the user's word: offered where the user can be asked, and nothing happens without it."""

from __future__ import annotations

import pytest
from codexmem_hookspecs.values.capture import Session

SESSION = Session(host="codex", id="0001")


class User:
    """Answers as it is told to, and keeps what it was asked."""

    def __init__(self):
        self.says, self.asked = True, []

    def ask(self, question):
        self.asked.append(question)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.fixture
def user():
    return User()


@pytest.fixture
def tools(engine):
    return engine.services_for("mcp").tools


def test_a_reset_is_offered_only_where_the_user_can_be_asked(tools):
    (more,) = {tool.name for tool in tools.list(asks=True)} - {tool.name for tool in tools.list()}
    assert more == "memory_reset"


def test_the_user_is_shown_what_goes_and_it_goes(tools, user, put, root):
    put({"MEMORY.md": "x", "memory_summary.md": "v1"})
    assert tools.call("memory_reset", {}, SESSION, user.ask).startswith("deleted: ")
    assert str(root) in user.asked[0]
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("says", [False, RuntimeError("the window was closed")])
def test_without_the_users_word_nothing_goes(tools, user, put, root, says):
    put({"MEMORY.md": "x", "memory_summary.md": "v1"})
    user.says = says
    answer = tools.call("memory_reset", {}, SESSION, user.ask)
    assert answer.startswith("memory_reset error: ")
    assert len(user.asked) == 1
    assert sorted(path.name for path in root.iterdir()) == ["MEMORY.md", "memory_summary.md"]


def test_no_argument_stands_for_the_users_word(tools, put, root):
    put({"MEMORY.md": "x", "memory_summary.md": "v1"})
    for arguments in ({}, {"confirm": True}, {"yes": "yes"}):
        assert tools.call("memory_reset", arguments, SESSION).startswith("memory_reset error: ")
    assert (root / "MEMORY.md").exists()


def test_a_polluted_session_is_enabled_again_when_the_user_agrees(engine, tools, user):
    tools.call("memory_mode", {"mode": "polluted"}, SESSION, user.ask)
    assert user.asked == []
    user.says = False
    assert "only the user may enable it again" in tools.call("memory_mode", {"mode": "enabled"}, SESSION, user.ask)
    assert engine.catalogue.mode_of("codex", "0001") == "polluted"
    user.says = True
    assert tools.call("memory_mode", {"mode": "enabled"}, SESSION, user.ask) == "codex:0001: polluted \u2192 enabled"
    assert ["codex:0001" in question for question in user.asked] == [True, True]


def test_a_mode_of_nobody_in_particular_is_refused(engine, tools):
    nobody = Session(host="codex", id="")
    answer = tools.call("memory_mode", {"mode": "disabled"}, nobody)
    assert answer == "memory_mode error: which session calls is not known here; name one with session_id"
    assert engine.catalogue.mode_of("codex", "") == "enabled"
    assert "codex:7" in tools.call("memory_mode", {"mode": "disabled", "session_id": "7"}, nobody)


def test_every_tool_says_what_it_does_to_the_world(tools):
    assert {tool.name: tool.effect for tool in tools.list(asks=True)} == {
        "memory_add_note": "adds",
        "memory_inspect": "reads",
        "memory_list": "reads",
        "memory_mode": "changes",
        "memory_read": "reads",
        "memory_reset": "deletes",
        "memory_search": "reads",
    }
    assert all(tool.local for tool in tools.list(asks=True))
