"""Events of a host that decide whether a session is learned from: its beginning, and calls of outside tools."""

from __future__ import annotations

import json

import pytest

OFF = "[memories]\ngenerate_memories = false\n"
TURNS = (("user", "Always run make lint before a commit."), ("assistant", "I will."))


@pytest.fixture
def happens(engine_of):
    """A hook records an event of a session."""

    def record(session, name, **more):
        engine = engine_of()
        payload = {"session_id": session, "cwd": "/home/dev/harbor", "hook_event_name": name, "transcript_path": "/x"}
        content = json.dumps({**payload, **more}).encode()
        engine.spool.write("codex", name, content, at_ms=engine.clock.now_ms())

    return record


@pytest.fixture
def mode(engine_of):
    return lambda session: engine_of().catalogue.mode_of("codex", session)


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_a_session_that_begins_while_nothing_is_learned_is_never_learned_from(
    run_once, codex_home, happens, mode, source
):
    session, other = codex_home(*TURNS), codex_home(*TURNS)
    happens(session, "SessionStart", source=source)
    assert run_once(config=OFF).sessions["claimed"] == 0
    assert (mode(session), mode(other)) == ("disabled", "enabled")
    happens(session, "SessionStart", source="resume")
    report = run_once()
    assert report.sessions["extracted"] == 1
    assert mode(session) == "disabled"


def test_neither_is_one_that_begins_where_nothing_is_learned(run_once, codex_home, happens, mode, tmp_path):
    """A project's file goes with the next checkout of another branch, and what was said must not come in then."""
    session, project = codex_home(*TURNS), tmp_path / "harbor"
    project.mkdir()
    (project / ".codexmem.toml").write_text('memory = "off"\n')
    happens(session, "SessionStart", source="startup", cwd=str(project))
    run_once(extract=False, consolidate=False)
    (project / ".codexmem.toml").unlink()
    assert run_once().sessions["extracted"] == 0
    assert mode(session) == "disabled"


def test_a_session_that_began_before_is_learned_from_later(run_once, codex_home, happens, mode):
    session = codex_home(*TURNS)
    happens(session, "SessionStart", source="startup")
    run_once(extract=False, consolidate=False)
    happens(session, "SessionStart", source="resume")
    happens(session, "UserPromptSubmit", prompt="go on")
    assert run_once(config=OFF).sessions["claimed"] == 0
    assert mode(session) == "enabled"
    assert run_once().sessions["extracted"] == 1


def test_what_the_user_said_about_a_session_stands(run_once, happens, mode, engine_of):
    engine_of().catalogue.set_mode("codex", "s1", "enabled")
    happens("s1", "SessionStart", source="startup")
    run_once(config=OFF)
    assert mode("s1") == "enabled"


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("mcp__my_tracker__find", "polluted"), ("Bash", "enabled"), ("mcp__codexmem__memory_search", "enabled")],
)
def test_a_tool_that_a_hook_tells_of_pollutes_its_session_when_it_comes_from_outside(
    run_once, happens, mode, tool, expected
):
    happens("s1", "PostToolUse", tool_name=tool, tool_input={})
    run_once(config="[memories]\ndisable_on_external_context = true\n")
    assert mode("s1") == expected
