"""A project's own file, the user's list of folders and the bypass variable: what then neither goes in nor comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Reaction, Session

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.doctor import examine
from codexmem_core.pipeline import run
from codexmem_core.readpath.citing import count_citations
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.request import RunRequest
from codexmem_core.status import status_of

SETTINGS = {"off": (False, False), "read_only": (True, False), "no_context": (False, True), "on": (True, True)}
"""What each is: whether it gives, whether it learns."""


def turns(word):
    return (("user", f"Always name the {word} branch in release notes."), ("assistant", f"The {word} branch it is."))


class Listener:
    name = "listener"
    HOOK_API = 1

    def __init__(self):
        self.heard = []

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind=kind) for kind in ("start", "prompt", "tool", "stop", "end", "deleted")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        self.heard.append((event.session.id, event.kind))


@pytest.fixture
def projects(tmp_path):
    """A folder of each setting."""
    for memory in SETTINGS:
        folder = tmp_path / "work" / memory
        (folder / "sub").mkdir(parents=True)
        (folder / ".codexmem.toml").write_text(f'memory = "{memory}"\n')
    return lambda memory: str(tmp_path / "work" / memory / "sub")


@pytest.fixture
def command(engine_of, monkeypatch):
    def call(*arguments, cwd="/", config="", **environ):
        if cwd:
            monkeypatch.chdir(cwd)
        state = State()
        state._engine = engine_of(config=config, **environ)
        result = CliRunner().invoke(codexmem, [str(one) for one in arguments], obj=state)
        state.close()
        return result

    return call


def spool(engine, session_id, event, *, cwd, header="", **more):
    payload = {"session_id": session_id, "cwd": cwd, "hook_event_name": event, "transcript_path": "/x.jsonl", **more}
    if event == "SessionStart":
        payload.setdefault("source", "startup")
    engine.spool.write("codex", event, json.dumps(payload).encode(), at_ms=engine.clock.now_ms(), header=header)


def learned(engine):
    return Path(f"{engine.memory_root('memory-v1')}/MEMORY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("explicit", [False, True])
def test_only_projects_that_are_learned_from_are_in_the_memory_and_the_rest_is_told_why(
    explicit, projects, codex_home, engine_of
):
    names = {memory: codex_home(*turns(f"{memory.replace('_', '')}x"), cwd=projects(memory)) for memory in SETTINGS}
    engine = engine_of()
    report = run(engine, RunRequest(idle_hours=0, sessions=tuple(names.values()) if explicit else ()))
    for memory, (_, learns) in SETTINGS.items():
        assert (f"{memory.replace('_', '')}x" in learned(engine)) == learns
        reasons = [row.reason for row in report.skipped if row.session == f"codex:{names[memory]}"]
        place = str(Path(projects(memory)).parent / ".codexmem.toml")
        assert reasons == ([] if learns else [f'memory = "{memory}" ({place})'])


def test_status_counts_what_is_left_out_and_doctor_names_files_that_are_wrong(projects, codex_home, engine_of):
    for _ in range(2):
        codex_home(*turns("otter"), cwd=projects("off"))
    Path(projects("on"), ".codexmem.toml").write_text('memory = "nope"\nurl = "http://elsewhere"\n')
    codex_home(*turns("heron"), cwd=projects("on"))
    engine = engine_of()
    run(engine, RunRequest(idle_hours=0))
    status = status_of(engine_of())
    off, wrong = (str(Path(projects(name), *more)) for name, *more in (("off",), ("on", ".codexmem.toml")))
    assert status["sessions"]["left_out"] == {
        f'memory = "off" ({Path(off).parent}/.codexmem.toml)': 2,
        f'memory = "off" ({wrong})': 1,
    }
    assert [warning for warning in status["warnings"] if warning.startswith(wrong)] == [
        f"{wrong}: memory must be one of on, off, read_only, no_context; it is taken for off",
        f"{wrong}: url is passed over: a project's file may not set it",
    ]
    found = [finding for check, finding in examine(engine_of()) if check == "projects"]
    assert sorted(finding.level for finding in found) == ["info", "info", "warn", "warn"]
    assert all(wrong in finding.message and finding.fix for finding in found if finding.level == "warn")


def test_a_file_that_comes_later_stops_learning_and_what_was_learned_stays(projects, codex_home, engine_of):
    session = codex_home(*turns("lynx"), cwd=projects("on"))
    run(engine_of(), RunRequest(idle_hours=0))
    Path(projects("on"), ".codexmem.toml").write_text('memory = "off"\n')
    codex_home(*turns("stork"), cwd=projects("on"), session_id=session)
    engine = engine_of()
    run(engine, RunRequest(idle_hours=0))
    assert "lynx" in learned(engine)
    assert "stork" not in learned(engine)


def test_what_is_said_while_the_agent_is_in_such_a_folder_is_left_out(projects, tmp_path, engine_of):
    folder = tmp_path / "claude" / "projects" / "x"
    folder.mkdir(parents=True)
    said = [
        *((turn, str(tmp_path)) for turn in turns("finch")),
        *((turn, projects("read_only")) for turn in turns("gull")),
        *((turn, str(tmp_path)) for turn in (("user", "Never push to the wren remote."), ("assistant", "Never."))),
    ]
    lines = [
        {
            "type": kind,
            "uuid": f"u{number}",
            "sessionId": "s",
            "cwd": cwd,
            "timestamp": "2026-11-29T09:00:00.000Z",
            "message": {"role": kind, "content": text},
        }
        for number, ((kind, text), cwd) in enumerate(said)
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine = engine_of(with_hosts=("host-claude",), CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    run(engine, RunRequest(idle_hours=0))
    assert "finch" in learned(engine)
    assert "wren" in learned(engine)
    assert "gull" not in learned(engine)


@pytest.mark.parametrize(("memory", "gives"), [(memory, gives) for memory, (gives, _) in SETTINGS.items()])
def test_context_says_why_there_is_none(memory, gives, projects, codex_home, run_with, engine_of, command):
    codex_home(*turns("otter"))
    run_with()
    assert bool(session_start_context(engine_of(), host="codex", cwd=projects(memory))) == gives
    for result in (command("context", "--cwd", projects(memory)), command("context", cwd=projects(memory))):
        assert ("otter" in result.stdout) == gives
        assert (f'nothing: memory = "{memory}"' in result.stderr) == (not gives)
    said = json.loads(command("context", "--json", "--cwd", projects(memory)).stdout)
    assert bool(said["context"]) == gives == (not said["why_nothing"])


def test_nothing_is_said_about_a_current_folder_that_is_gone(codex_home, run_with, command, tmp_path, monkeypatch):
    codex_home(*turns("otter"))
    run_with()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "otter" in command("context", cwd="").stdout
    assert command("config", cwd="").exit_code == 0


def test_the_tools_of_a_session_obey_where_it_began(projects, codex_home, run_with, engine_of):
    codex_home(*turns("otter"))
    run_with()
    tools = engine_of().memory_tools
    for memory, (gives, learns) in SETTINGS.items():
        session = Session(host="codex", id=f"s-{memory}", cwd=projects(memory))
        for tool, arguments in (
            ("memory_search", {"queries": ["otter"]}),
            ("memory_read", {"path": "MEMORY.md"}),
            ("memory_list", {}),
        ):
            told = tools.call(tool, arguments, session)
            assert told.startswith(f"{tool} error:") == (not gives), told
            assert (f'memory = "{memory}"' in told) == (not gives)
        noted = tools.call("memory_add_note", {"note": f"use {memory}"}, session)
        assert noted.startswith("memory_add_note error: nothing is written down") == (not learns), noted
        assert not tools.call("memory_inspect", {}, session).startswith("memory_inspect error")
    assert len(list(Path(engine_of().memory_root("memory-v1"), "extensions/ad_hoc/notes").iterdir())) == 2


def test_a_session_known_by_its_id_alone_obeys_too(projects, codex_home, run_with, engine_of):
    session = codex_home(*turns("otter"), cwd=projects("off"))
    run_with()
    told = engine_of().memory_tools.call("memory_search", {"queries": ["otter"]}, Session(host="codex", id=session))
    assert told.startswith("memory_search error: this session is given no memory")


def test_a_read_only_session_leaves_no_count_of_what_it_used(projects, codex_home, run_with, engine_of):
    source = codex_home(*turns("otter"))
    run_with()
    engine = engine_of()
    recap = next(Path(engine.memory_root("memory-v1"), "rollout_summaries").iterdir()).name
    for memory, counted in (("read_only", 0), ("on", 1)):
        session = Session(host="codex", id=f"s-{memory}", cwd=projects(memory))
        assert count_citations(engine.access, session, {10: [source]}) == counted
        engine.memory_tools.call("memory_read", {"path": f"rollout_summaries/{recap}"}, session)
        with engine.jobs("memory-v1") as jobs:
            assert jobs.output("codex", source).usage_count == 2 * counted


def test_plugins_hear_nothing_of_sessions_that_leave_nothing_but_that_they_are_deleted(projects, engine_of):
    listener = Listener()
    engine = engine_of(listener)
    for memory in SETTINGS:
        for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
            words = {"prompt": "the words"} if event == "UserPromptSubmit" else {}
            spool(engine, memory, event, cwd=projects(memory), **words)
    run(engine, RunRequest())
    heard = {session for session, _ in listener.heard}
    assert heard == {memory for memory, (_, learns) in SETTINGS.items() if learns}
    assert {kind for _, kind in listener.heard} == {"start", "prompt", "tool", "stop", "end"}
    assert sum(count.count for count in engine.deliveries.counts()) == len(listener.heard) == 10


def test_plugins_can_ask_whether_a_project_may_be_learned_from(projects, engine_of):
    services = engine_of().services_for("memory-v1")
    assert {memory: services.learns_in(projects(memory)) for memory in SETTINGS} == {
        memory: learns for memory, (_, learns) in SETTINGS.items()
    }


def test_an_event_that_waited_is_not_told_any_more_when_its_project_was_switched_off(projects, engine_of, clock):
    class Down(Listener):
        def __init__(self):
            super().__init__()
            self.down = True

        @hookimpl
        def codexmem_capture_event(self, event, services):
            if self.down:
                raise ConnectionError("the server is down")
            super().codexmem_capture_event(event, services)

    listener = Down()
    engine = engine_of(listener)
    spool(engine, "s", "Stop", cwd=projects("on"))
    report = run(engine, RunRequest())
    assert any("reaction failed" in warning for warning in report.warnings)
    engine.close()
    Path(projects("on"), ".codexmem.toml").write_text('memory = "off"\n')
    listener.down = False
    clock.turn(hours=1)
    engine = engine_of(listener)
    run(engine, RunRequest())
    assert listener.heard == []
    assert {count.state for count in engine.deliveries.counts()} == {"done"}


def test_sessions_of_listed_folders_are_left_out_like_those_of_projects_that_are_off(
    tmp_path, codex_home, engine_of, command
):
    private = tmp_path / "nobody" / "private" / "diary"
    private.mkdir(parents=True)
    codex_home(*turns("kestrel"), cwd=str(private))
    codex_home(*turns("otter"))
    config = '[memories]\nbypass = ["~/private/**", "wrong"]\n'
    listener = Listener()
    engine = engine_of(listener, config=config)
    spool(engine, "s", "Stop", cwd=str(private))
    report = run(engine, RunRequest(idle_hours=0))
    assert "otter" in learned(engine)
    assert "kestrel" not in learned(engine)
    assert listener.heard == []
    assert 'memory = "off" ([memories] bypass = "~/private/**")' in {row.reason for row in report.skipped}
    assert any('"wrong" is passed over' in warning for warning in report.warnings)
    assert "bypass" in command("context", cwd=private, config=config).stderr
    assert "otter" in command("context", cwd=tmp_path, config=config).stdout


# the variable


def test_a_session_started_with_the_variable_is_neither_captured_nor_told(codex_home, engine_of):
    session, other = codex_home(*turns("kestrel")), codex_home(*turns("otter"))
    listener = Listener()
    engine = engine_of(listener)
    spool(engine, session, "SessionStart", cwd="/home/dev/harbor", header="bypass=1")
    spool(engine, other, "SessionStart", cwd="/home/dev/harbor")
    report = run(engine, RunRequest(idle_hours=0))
    assert [row.reason for row in report.skipped] == ["started with CODEXMEM_BYPASS"]
    assert "otter" in learned(engine)
    assert "kestrel" not in learned(engine)
    assert listener.heard == [(other, "start")]
    assert engine.catalogue.memory_of("codex", session) == ""
    assert status_of(engine_of())["sessions"]["left_out"] == {"started with CODEXMEM_BYPASS": 1}
    for host_session in (Session(host="codex", id=session), Session(host="codex", id=session, cwd="/home/dev")):
        told = engine_of().memory_tools.call("memory_search", {"queries": ["otter"]}, host_session)
        assert "CODEXMEM_BYPASS" in told


def test_a_session_that_was_bypassed_can_be_switched_on_by_the_user(codex_home, engine_of, command):
    session = codex_home(*turns("kestrel"))
    engine = engine_of()
    spool(engine, session, "SessionStart", cwd="/", header="bypass=1")
    run(engine, RunRequest(idle_hours=0))
    assert command("mode", f"codex:{session}", "enabled").exit_code == 0
    engine = engine_of()
    run(engine, RunRequest(idle_hours=0))
    assert "kestrel" in learned(engine)


def test_going_on_with_a_session_under_the_variable_switches_it_off_and_a_polluted_one_stays_polluted(
    codex_home, engine_of
):
    session = codex_home(*turns("kestrel"))
    engine = engine_of()
    engine.catalogue.set_mode("codex", session, "enabled")
    engine.catalogue.set_mode("codex", "p", "polluted")
    for name in (session, "p"):
        spool(engine, name, "SessionStart", cwd="/", header="bypass=1", source="resume")
    run(engine, RunRequest(idle_hours=0))
    assert engine.catalogue.mode_of("codex", session) == "disabled"
    assert engine.catalogue.mode_of("codex", "p") == "polluted"


def test_what_was_learned_from_a_session_goes_when_it_is_gone_on_with_under_the_variable(codex_home, engine_of):
    session = codex_home(*turns("kestrel"))
    codex_home(*turns("otter"))
    run(engine_of(), RunRequest(idle_hours=0))
    engine = engine_of()
    assert "kestrel" in learned(engine)
    spool(engine, session, "SessionStart", cwd="/", header="bypass=1", source="resume")
    run(engine, RunRequest(idle_hours=0))
    assert "kestrel" not in learned(engine)
    assert "otter" in learned(engine)
    engine.catalogue.set_mode("codex", session, "enabled")
    codex_home(*turns("heron"))
    run(engine_of(), RunRequest(idle_hours=0))
    assert "kestrel" in learned(engine)


def test_under_the_variable_tools_and_context_say_so(codex_home, run_with, engine_of, command):
    codex_home(*turns("otter"))
    run_with()
    assert "nothing: CODEXMEM_BYPASS is set" in command("context", CODEXMEM_BYPASS="1").stderr
    assert "otter" in command("context", CODEXMEM_BYPASS="0").stdout
    tools = engine_of(CODEXMEM_BYPASS="1").memory_tools
    for tool, arguments in (("memory_search", {"queries": ["otter"]}), ("memory_add_note", {"note": "x"})):
        assert "CODEXMEM_BYPASS" in tools.call(tool, arguments, Session(host="codex", id="s"))
