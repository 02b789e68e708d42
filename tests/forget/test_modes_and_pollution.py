"""Sessions that may not be remembered: what is learned of them goes with the next consolidation."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.read import Tool

from codexmem_core.host.spool import Spool
from codexmem_core.pipeline import take_in_events
from codexmem_core.readpath.sieve import is_external, watch_tools
from codexmem_core.safety.fence import fence

ON = "[memories]\ndisable_on_external_context = true\n"
TURNS = (("user", "Always tag the release before you deploy."), ("assistant", "Yes."))
SEARCH = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "release tags"}}
MCP = {"type": "function_call", "name": "mcp__tracker__list", "arguments": "{}", "call_id": "1"}
OURS = {
    "type": "function_call", "name": "memory_search", "namespace": "mcp__codexmem", "arguments": "{}", "call_id": "1"
}  # fmt: skip
SHELL = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"make"}', "call_id": "2"}


@pytest.fixture
def handbook(home):
    return (home / "memories" / "MEMORY.md").read_text


@pytest.fixture
def mode(engine_of):
    def of(session):
        engine = engine_of()
        found = engine.catalogue.mode_of("codex", session)
        engine.close()
        return found

    return of


@pytest.mark.parametrize("wanted", ["disabled", "polluted"])
def test_a_changed_mode_makes_the_next_consolidation_forget(wanted, codex_home, learn, command, handbook):
    session = codex_home(*TURNS)
    codex_home(("user", "Please always run make lint before a commit."), ("assistant", "Yes."))
    learn()
    assert "tag the release" in handbook()
    _, told = command("mode", session, wanted)
    assert "forgotten with the next consolidation" in told
    learn()
    assert "tag the release" not in handbook()
    assert "make lint" in handbook()
    command("mode", session, "enabled")
    learn()
    assert "tag the release" in handbook()


@pytest.mark.parametrize("call", [SEARCH, MCP])
def test_a_session_that_used_the_web_or_others_tools_is_not_learned_where_that_is_wanted(
    call, codex_home, learn, mode, home
):
    session = codex_home(*TURNS, items=[call])
    report = learn(config=ON)
    assert mode(session) == "polluted"
    assert any(session in row.session and "switched off" in row.reason for row in report.skipped)
    assert (
        not (home / "memories" / "MEMORY.md").exists()
        or "tag the release" not in (home / "memories" / "MEMORY.md").read_text()
    )


def test_without_the_setting_and_with_other_tools_it_is_learned(codex_home, learn, mode, handbook):
    with_web = codex_home(*TURNS, items=[SEARCH])
    learn()
    with_shell = codex_home(("user", "Please always run make lint before a commit."), items=[SHELL])
    learn(config=ON)
    assert (mode(with_web), mode(with_shell)) == ("enabled", "enabled")
    assert "tag the release" in handbook()
    assert "make lint" in handbook()


def test_what_was_learned_before_is_forgotten_when_the_session_goes_to_the_web(codex_home, learn, mode, handbook):
    session = codex_home(*TURNS)
    codex_home(("user", "Please always run make lint before a commit."), ("assistant", "Yes."))
    learn(config=ON)
    assert "tag the release" in handbook()
    codex_home(("user", "Look it up."), session_id=session, items=[SEARCH])
    learn(config=ON)
    assert "tag the release" not in handbook()
    assert "make lint" in handbook()


def test_a_session_that_the_user_enabled_again_stays_enabled(codex_home, learn, command, mode, handbook):
    session = codex_home(*TURNS, items=[SEARCH])
    learn(config=ON)
    command("mode", session, "enabled")
    learn(config=ON)
    assert mode(session) == "enabled"
    assert "tag the release" in handbook()


def test_a_tool_event_pollutes_at_the_call(codex_home, learn, engine_of, mode):
    session = codex_home(*TURNS)
    learn()
    engine = engine_of(config=ON)
    known = engine.catalogue.session("codex", session).session
    watch_tools(engine.access, [(known, ["exec_command"])])
    assert engine.catalogue.mode_of("codex", session) == "enabled"
    watch_tools(engine.access, [(known, ["exec_command", "WebFetch"])])
    assert engine.catalogue.mode_of("codex", session) == "polluted"
    with engine.jobs("memory-v1") as jobs:
        assert jobs.consolidation_snapshot().status == "pending"
    engine.close()


class LastMoment(Spool):
    """The process is killed when the first file is to go."""

    def remove(self, name):
        raise KeyboardInterrupt(name)


@pytest.mark.parametrize(
    ("event", "header", "becomes"), [("PostToolUse", "", "polluted"), ("SessionStart", "bypass=1", "disabled")]
)
def test_what_an_event_leads_to_has_happened_before_its_file_goes(
    event, header, becomes, codex_home, learn, engine_of, mode
):
    session = codex_home(*TURNS)
    learn()
    engine = engine_of(config=ON)
    payload = {
        "session_id": session, "cwd": "/home/dev/harbor", "hook_event_name": event, "tool_name": "WebFetch",
        "transcript_path": str(codex_home.path(session)),
    }  # fmt: skip
    engine.spool.write("codex", event, json.dumps(payload).encode(), at_ms=engine.clock.now_ms(), header=header)
    engine.spool = LastMoment(engine.home.spool)
    with pytest.raises(KeyboardInterrupt):
        take_in_events(engine)
    assert mode(session) == becomes
    with engine.jobs("memory-v1") as jobs:
        assert jobs.consolidation_snapshot().status == "pending"
    engine.close()


@pytest.mark.parametrize(
    ("tool", "external"),
    [
        ("WebSearch", True),
        ("WebFetch", True),
        ("web_search", True),
        ("webfetch", True),
        ("web.run", True),
        ("tool_search", True),
        ("mcp__github__get_issue", True),
        ("mcp__x.search", True),
        ("Bash", False),
        ("exec_command", False),
        ("Grep", False),
        ("search_files", False),
        ("", False),
    ],
)
def test_which_tools_bring_in_what_others_wrote(tool, external):
    assert is_external(tool) is external


class Archive:
    """A plugin with a tool of its own."""

    name = "archive"

    @hookimpl
    def codexmem_read_tools(self):
        return [Tool(name="archive", summary="", schema={"type": "object"}, call=lambda *_: "")]


@pytest.fixture
def ours(engine_of):
    """Our own tools as Codex shows them."""
    return engine_of(Archive()).access.own_tools("codex")


def test_a_call_of_our_own_tools_leaves_a_session_as_it_is(codex_home, learn, mode, handbook):
    session = codex_home(*TURNS, items=[OURS])
    learn(config=ON)
    assert mode(session) == "enabled"
    assert "tag the release" in handbook()


@pytest.mark.parametrize("name", ["memory_search", "memory_reset", "archive"])
def test_our_own_tools_are_known_by_their_whole_names(ours, name):
    assert not is_external(f"mcp__codexmem__{name}", ours)


@pytest.mark.parametrize(
    "name",
    [
        "mcp__codexmem__fetch",
        "mcp__codexmem__memory_search_web",
        "mcp__codexmem_evil__memory_search",
        "mcp__evil__codexmem__memory_search",
        "mcp__codexmem.memory_search",
        "mcp__CodexMem__memory_search",
    ],
)
def test_nothing_else_passes_for_ours(ours, name):
    assert is_external(name, ours)


def test_a_host_that_is_not_installed_shows_none_of_ours(engine_of):
    assert is_external("mcp__codexmem__memory_search", engine_of().access.own_tools("elsewhere"))


def test_what_a_tool_of_ours_gave_is_not_learned_a_second_time(codex_home, learn, engine_of):
    fenced = fence("Error: the harbor pump is broken. Fix: restart pumpd.", source="codexmem memory v1")
    code_mode = json.dumps({"content": [{"type": "text", "text": fenced}], "more": "the lamp is green"})
    outputs = [
        {"type": "function_call_output", "call_id": "1", "output": f"Wall time: 0.1 seconds\nOutput:\n{fenced}"},
        {"type": "custom_tool_call_output", "call_id": "2", "output": code_mode},
    ]
    session = codex_home(*TURNS, items=[OURS, *outputs])
    learn()
    engine = engine_of()
    known = engine.catalogue.session("codex", session).session
    read = "\n".join(item.text for item in engine.transcripts.open(known))
    assert "pump" not in read
    assert "the lamp is green" in read
