"""What is installed follows from the plugins and settings of the moment."""

from __future__ import annotations

import dataclasses
import sys

import click
import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.command_hooks import CommandHost
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import Reaction
from codexmem_hookspecs.values.read import ContextBlock, ContextSource
from codexmem_hookspecs.values.records import Command

from codexmem_core.cli.host_files import HostFiles
from codexmem_core.engine import Engine
from codexmem_core.plugins.discovery import GivenPlugin, installed
from codexmem_core.setup.findings import host_findings
from codexmem_core.setup.wanted import setup_request, wanted_kinds

BASE = dict.fromkeys(("start", "stop", "idle", "compaction", "end", "deleted"), 0.0)


class Listener:
    """A plugin that reacts, answers and serves tools."""

    @hookimpl
    def codexmem_capture_reactions(self):
        return [Reaction(kind="compaction", wait_s=60.0), Reaction(kind="tool"), Reaction(kind="end")]

    @hookimpl
    def codexmem_capture_event(self, event, services):
        return None

    @hookimpl
    def codexmem_read_sources(self):
        moments = frozenset({"prompt", "resume"})
        return [
            ContextSource(
                name="recall", moments=moments, deadline_ms=1_500, provide=lambda *_: ContextBlock(source="", text="")
            )
        ]

    @hookimpl
    def codexmem_commands(self):
        return [Command(name="mcp", summary="", load=lambda: click.Command("mcp"), serves_tools=True)]


@pytest.fixture
def engine(tmp_path):
    """Engines with these plugins beside the installed ones, and these settings."""
    made = []

    def make(settings="", *plugins):
        (tmp_path / "config.toml").write_text(settings)
        installed_ones = [each for each in installed() if each.name not in ("mcp", "ov-commit")]
        given = [GivenPlugin(name=f"given-{number}", plugin=plugin) for number, plugin in enumerate(plugins)]
        made.append(
            Engine(
                environ={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
                home=str(tmp_path / "home"),
                config=str(tmp_path / "config.toml"),
                plugins=[*installed_ones, *given],
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_the_engine_hears_of_beginnings_answers_and_ends(engine):
    assert wanted_kinds(engine()) == BASE


def test_tools_are_heard_of_only_where_they_count(engine):
    assert wanted_kinds(engine("[memories]\ndisable_on_external_context = true\n")) == {**BASE, "tool": 0.0}


def test_plugins_add_kinds_and_waits(engine):
    assert wanted_kinds(engine("", Listener())) == {
        **BASE,
        "tool": 0.0,
        "compaction": 60.0,
        "prompt": 1.5,
        "start": 1.5,
    }


def test_doctor_asks_for_setup_when_a_plugin_needs_more(engine, tmp_path):
    before = engine()
    for edit in before.host("codex").plan(setup_request(before, before.host("codex"))):
        (tmp_path / ".codex").mkdir(exist_ok=True)
        (tmp_path / edit.path).write_bytes(edit.after)
    faults = {each.message: each.fix for each in host_findings(before) if each.level == "fail"}
    assert faults == {}
    faults = {each.message: each.fix for each in host_findings(engine("", Listener())) if each.level == "fail"}
    hooks, config = tmp_path / ".codex" / "hooks.json", tmp_path / ".codex" / "config.toml"
    assert faults == {
        f"Codex CLI UserPromptSubmit, PostToolUse: missing in {hooks}": "codexmem setup codex",
        "Codex CLI PreCompact: its timeout is 10, 65 s are needed": "codexmem setup codex",
        f"Codex CLI MCP server: missing in {config}": "codexmem setup codex",
    }


def test_hooks_that_nothing_needs_any_more_are_named(engine, tmp_path):
    before = engine("", Listener())
    (tmp_path / ".claude").mkdir()
    for edit in before.host("claude").plan(setup_request(before, before.host("claude"))):
        (tmp_path / edit.path).write_bytes(edit.after)
    faults = [each.message for each in host_findings(engine()) if each.level == "fail"]
    reason = "and nothing needs it any more"
    assert faults == [
        f"Claude Code UserPromptSubmit, PostToolUse: installed in {tmp_path}/.claude/settings.json, {reason}",
        f"Claude Code MCP server: installed in {tmp_path}/.claude.json, {reason}",
    ]


def test_the_tools_are_served_where_a_plugin_can_and_the_user_wants_them(engine, tmp_path):
    def server(settings, *plugins):
        made = engine(settings, *plugins)
        return setup_request(made, made.host("claude")).mcp

    options = ("--home", f"{tmp_path}/home", "--config", f"{tmp_path}/config.toml")
    assert server("", Listener()) == (sys.executable, "-I", "-m", "codexmem_core.cli", *options, "mcp", "claude")
    assert server("") == ()
    assert server("[memories]\ndedicated_tools = false\n", Listener()) == ()


def test_the_table_of_the_hosts_plugin_reaches_the_plan(engine):
    made = engine('[host-codex]\nhome = "/srv/codex"\n')
    request = setup_request(made, made.host("codex"))
    assert request.settings["home"] == "/srv/codex"
    assert [edit.path for edit in made.host("codex").plan(request)] == [
        "/srv/codex/hooks.json",
        "/srv/codex/config.toml",
    ]


def test_a_home_that_no_command_can_name_is_refused(engine, tmp_path):
    made = engine()
    made.home = dataclasses.replace(made.home, root=f"{tmp_path}/two\nlines")
    with pytest.raises(Refused, match=r"the home cannot stand in a host's command: '.*two\\nlines'"):
        setup_request(made, made.host("codex"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('backend = "openai"\nmodel = "m"', "openai: no key: the environment variable OPENAI_API_KEY is not set"),
        ('backend = "command"\ncommand = ["no-such-program"]', "command: there is no program no-such-program"),
    ],
)
def test_doctor_names_what_the_chosen_model_lacks(engine, settings, said):
    from codexmem_core.doctor import examine

    found = [each for check, each in examine(engine(f"[models]\n{settings}\n")) if check == "settings"]
    assert (found[-1].level, found[-1].message) == ("fail", said)


class Stumbling:
    """A host whose set-up is broken."""

    @hookimpl
    def codexmem_capture_host(self):
        return [type("Host", (CommandHost,), {"name": "stumbling", "title": "Stumbling", "plan": self.plan})()]

    def plan(self, request):
        raise KeyError("no such key")

    @hookimpl
    def codexmem_capture_sessions(self, query):
        return []

    @hookimpl
    def codexmem_capture_transcript(self, session, after):
        return iter(())

    @hookimpl
    def codexmem_capture_presence(self, sessions):
        return {}


def test_a_host_whose_plugin_fails_hides_no_other_and_stops_no_other(engine):
    made = engine("", Stumbling())
    told = [(each.level, each.message) for each in host_findings(made)]
    assert ("fail", "Stumbling: its plugin fails: KeyError: 'no such key'") in told
    assert [level for level, message in told if "is not set up" in message] == ["info", "info", "info"]
    said = []
    changes = HostFiles(engine=made, hosts=["stumbling", "codex"], dry_run=True, say=said.append).change()
    assert [bool(change.edits) for change in changes] == [False, True]
    assert changes[0].error == "stumbling: plan: KeyError: 'no such key'"
