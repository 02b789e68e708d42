"""Every other point where a plugin may join in."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.errors import TryLater
from codexmem_hookspecs.values.capture import Reaction, Session
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.interop import Mirror
from codexmem_hookspecs.values.read import ContextBlock, ContextRequest, ContextSource, Tool
from codexmem_hookspecs.values.records import (
    Command,
    DoctorCheck,
    Finding,
    Forgotten,
    ModelBackend,
    Selector,
    Setting,
)

from codexmem_core.cli import codexmem
from codexmem_core.cli.state import State
from codexmem_core.doctor import examine
from codexmem_core.pipeline import run
from codexmem_core.request import RunRequest
from codexmem_core.status import status_of

TURNS = (("user", "Always write the changelog entry first in this repository."), ("assistant", "I will."))


class Everything:
    """A plugin that uses every point but memory and host."""

    name = "everything"

    def __init__(self):
        self.heard = []
        self.exported = []
        self.imported = {"fact.md": b"The staging server is called amber.\n"}
        self.mood = None

    @hookimpl
    def codexmem_settings(self):
        return [Setting(key="greeting", default="hello", help="what to say")]

    @hookimpl
    def codexmem_models(self):
        reply = Reply(data={"rollout_summary": "# Told by a model", "rollout_slug": "told", "raw_memory": RAW})
        return [
            ModelBackend(name="parrot", summary="says one thing", costs=False, ask=lambda request, t, services: reply)
        ]

    @hookimpl
    def codexmem_commands(self):
        @click.command("greet")
        @click.pass_obj
        def greet(services):
            """Say what the setting says."""
            click.echo(services.settings["greeting"])

        return [Command(name="greet", summary="Say hello.", load=lambda: greet)]

    @hookimpl
    def codexmem_doctor_checks(self):
        def check(services):
            yield Finding(level="warn", message=f"greeting is {services.settings['greeting']}", fix="change it")

        def fix(services):
            yield Finding(level="ok", message="changed")

        def state(services):
            places = [os.path.basename(place) for place in services.memories.values()]
            yield Finding(level="info", message=f"greets readers of {places}")

        return [
            DoctorCheck(name="greeting", summary="is it polite", run=check, fix=fix),
            DoctorCheck(name="greeted", summary="whom it greets", run=state, in_status=True),
        ]

    @hookimpl
    def codexmem_forget(self, selector, services):
        services.log.info("asked to forget", sessions=len(selector.sessions))
        return Forgotten(store="everything", removed=len(selector.sessions), left=("one",))

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="stop"), Reaction(kind="end")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        if self.mood is not None:
            raise self.mood
        self.heard.append((event.kind, event.newer))

    @hookimpl
    def codexmem_interop_import(self, workspace, services):
        if isinstance(self.imported, OSError):
            raise self.imported
        return [Mirror(extension="elsewhere", instructions="Facts from elsewhere.\n", files=self.imported)]

    @hookimpl
    def codexmem_interop_export(self, snapshot, services):
        self.exported.append(sorted(snapshot.files))
        return []

    @hookimpl
    def codexmem_read_sources(self):
        def provide(request, services):
            return ContextBlock(source="weather", text=f"sunny at {request.moment}")

        return [ContextSource(name="weather", moments=frozenset({"resume"}), deadline_ms=20_000, provide=provide)]

    @hookimpl
    def codexmem_read_tools(self):
        def call(arguments, session, services):
            return f"{services.settings['greeting']} {arguments['name']} of {session.id}"

        return [Tool(name="greet", summary="greets", schema={"type": "object"}, call=call)]


RAW = """---
description: told by a model
task: changelog
task_group: harbor
task_outcome: success
cwd: /home/dev/harbor
keywords: changelog
---

### Task 1: changelog
"""


@pytest.fixture
def everything():
    return Everything()


@pytest.fixture
def engine(engine_of, everything):
    return engine_of(everything, config='[everything]\ngreeting = "good day"\n')


def passes(engine, **request):
    return run(engine, RunRequest(**{"idle_hours": 0.0, **request}))


def test_a_plugins_command_gets_the_plugins_services(engine, everything):
    state = State()
    state._engine = engine
    result = CliRunner().invoke(codexmem, ["greet"], obj=state)
    assert result.output == "good day\n"
    assert "Say hello." in CliRunner().invoke(codexmem, ["--help"], obj=state).output


def test_a_plugins_check_is_part_of_doctor_and_fix_repairs(engine):
    found = dict(examine(engine))
    assert found["greeting"] == Finding(level="warn", message="greeting is good day", fix="change it")
    assert dict(examine(engine, fix=True))["greeting"].message == "changed"


def test_a_check_that_tells_a_plugins_state_stands_in_status_and_others_do_not(engine):
    (line,) = status_of(engine)["plugins"]
    assert line == {"check": "greeted", "level": "info", "message": "greets readers of ['memories']", "fix": ""}
    state = State()
    state._engine = engine
    assert "plugin    greeted: greets readers of" in CliRunner().invoke(codexmem, ["status"], obj=state).output


def test_a_registered_model_is_asked_when_the_user_chose_it(engine_of, everything, codex_home):
    codex_home(*TURNS)
    engine = engine_of(everything, config='[models]\nbackend = "parrot"\n')
    assert passes(engine).memories["v1"].extracted == 1
    handbook = Path(f"{engine.memory_root('memory-v1')}/MEMORY.md").read_text(encoding="utf-8")
    assert "changelog" in handbook


def test_an_unknown_model_is_an_error_that_lists_what_there_is(engine_of, everything):
    engine = engine_of(everything, config='[models]\nbackend = "parot"\n')
    with pytest.raises(Exception, match=r"no model backend called parot \(there are: .*extractive.*parrot"):
        passes(engine)


def spool(engine, session_id, *events, cwd="/home/dev/harbor"):
    for number, event in enumerate(events):
        payload = {
            "session_id": session_id,
            "cwd": cwd,
            "hook_event_name": event,
            "transcript_path": "/nowhere/x.jsonl",
        }
        if event == "SessionStart":
            payload["source"] = "startup"
        engine.spool.write("codex", event, json.dumps(payload).encode(), at_ms=engine.clock.now_ms() + number)


def test_events_reach_the_plugins_that_react_to_them_once_and_in_order(engine, everything):
    spool(engine, "s1", "SessionStart", "Stop", "SessionEnd")
    passes(engine)
    assert [kind for kind, _ in everything.heard] == ["stop", "end"]
    assert engine.spool.names() == []
    passes(engine)
    assert len(everything.heard) == 2


def test_an_event_knows_which_newer_kinds_were_recorded_after_it(engine, everything):
    spool(engine, "s1", "SessionEnd", "SessionStart")
    passes(engine)
    assert everything.heard == [("end", ("start",))]


def test_a_reaction_that_fails_is_delivered_again_and_later_events_of_the_session_wait(engine, everything, clock):
    everything.mood = TryLater("server is down", after_s=120)
    spool(engine, "s1", "Stop", "SessionEnd")
    passes(engine)
    assert everything.heard == []
    everything.mood = None
    passes(engine)
    assert everything.heard == []
    clock.turn(hours=0.1)
    passes(engine)
    assert [kind for kind, _ in everything.heard] == ["stop", "end"]


def test_an_end_event_makes_the_session_idle_at_once(engine, codex_home, clock):
    session = codex_home(*TURNS)
    for path in codex_home.root.rglob("*.jsonl"):
        os.utime(path, (clock.now_ms() / 1000, clock.now_ms() / 1000))
    waiting = run(engine, RunRequest())
    assert waiting.sessions["eligible"] == 0
    spool(engine, session, "SessionEnd")
    assert run(engine, RunRequest()).sessions["extracted"] == 1


def test_an_event_from_inside_a_memory_folder_is_not_delivered(engine, everything):
    spool(engine, "s1", "Stop", cwd=f"{engine.home.root}/memories")
    passes(engine)
    assert everything.heard == []
    assert engine.spool.names() == []


def test_an_event_of_an_unknown_host_is_set_aside_and_doctor_names_it(engine):
    engine.spool.write("emacs", "Stop", b"{}", at_ms=1)
    report = passes(engine)
    assert any("emacs" in warning for warning in report.warnings)
    assert any(finding.level == "warn" for check, finding in examine(engine) if check == "events")


def test_imports_are_consolidated_and_go_when_their_source_goes(engine, everything, codex_home):
    codex_home(*TURNS)
    passes(engine)
    root = engine.memory_root("memory-v1")
    assert Path(f"{root}/extensions/elsewhere/resources/fact.md").read_text() == "The staging server is called amber.\n"
    assert "amber" in Path(f"{root}/MEMORY.md").read_text(encoding="utf-8")
    everything.imported = {}
    passes(engine)
    assert "amber" not in Path(f"{root}/MEMORY.md").read_text(encoding="utf-8")


def test_a_failing_import_removes_nothing_and_stops_nothing(engine, everything, codex_home):
    codex_home(*TURNS)
    passes(engine)
    everything.imported = OSError("disk is gone")
    report = passes(engine)
    assert any("disk is gone" in warning for warning in report.warnings)
    root = engine.memory_root("memory-v1")
    assert Path(f"{root}/extensions/elsewhere/resources/fact.md").read_text(encoding="utf-8")


def test_exports_follow_every_success(engine, everything, codex_home):
    codex_home(*TURNS)
    passes(engine)
    passes(engine)
    assert len(everything.exported) == 2
    assert "memory_summary.md" in everything.exported[0]


def test_a_plugins_tool_is_listed_and_called_with_its_services(engine):
    tools = engine.services_for("everything").tools
    assert "greet" in [tool.name for tool in tools.list()]
    assert tools.call("greet", {"name": "Ada"}, Session(host="codex", id="7")) == "good day Ada of 7"
    assert tools.call("greet", {}, Session(host="codex", id="7")).startswith("greet error: ")
    assert "there is no such tool" in tools.call("nothing", {}, Session(host="codex", id="7"))


def test_a_plugins_context_source_is_registered_with_its_moments(engine):
    (registered,) = engine.plugins.hooks.collect("codexmem_read_sources", ContextSource).records.values()
    assert registered.record.moments == {"resume"}
    request = ContextRequest(host="codex", moment="resume", session=Session(host="codex", id="7"))
    block = registered.record.provide(request, engine.services_for(registered.plugin))
    assert block.text == "sunny at resume"


def test_forgetting_asks_every_store_and_reports_what_stays(engine):
    (outcome,) = engine.stages.forget(Selector(sessions=(Session(host="codex", id="7"),)))
    assert outcome.value == Forgotten(store="everything", removed=1, left=("one",))
