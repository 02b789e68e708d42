"""Tools of plugins obey what a project says, by what they do."""

from __future__ import annotations

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.read import Tool

EFFECTS = ("reads", "adds", "changes", "deletes", "unknown")
ALLOWED = {
    "on": set(EFFECTS),
    "read_only": {"reads", "deletes"},
    "no_context": {"adds", "changes", "deletes"},
    "off": {"deletes"},
}


class Toolbox:
    name = "toolbox"

    @hookimpl
    def codexmem_read_tools(self):
        return [
            Tool(name=f"box_{effect}", summary=effect, schema={}, effect=effect, call=lambda *_: "done")
            for effect in EFFECTS
        ]


@pytest.mark.parametrize("memory", ALLOWED)
def test_a_session_may_call_what_its_project_wants(memory, engine_of, tmp_path):
    (tmp_path / ".codexmem.toml").write_text(f'memory = "{memory}"\n')
    tools = engine_of(Toolbox()).services_for("toolbox").tools
    session = Session(host="codex", id="s", cwd=str(tmp_path))
    told = {effect: tools.call(f"box_{effect}", {}, session) for effect in EFFECTS}
    assert {effect for effect, text in told.items() if text == "done"} == ALLOWED[memory]
    for effect, text in told.items():
        if effect not in ALLOWED[memory]:
            assert text.startswith(f"box_{effect} error: ")
            assert f'memory = "{memory}"' in text


def test_under_the_bypass_variable_only_deleting_is_left(engine_of):
    tools = engine_of(Toolbox(), CODEXMEM_BYPASS="1").services_for("toolbox").tools
    told = {effect: tools.call(f"box_{effect}", {}, Session(host="codex", id="s")) for effect in EFFECTS}
    assert {effect for effect, text in told.items() if text == "done"} == {"deletes"}
    assert "CODEXMEM_BYPASS" in told["reads"]


class Echo:
    """A tool that may send its arguments anywhere."""

    name = "echo"

    def __init__(self):
        self.heard = []

    @hookimpl
    def codexmem_read_tools(self):
        return [Tool(name="echo", summary="", schema={}, effect="reads", call=self.call)]

    def call(self, arguments, session, services):
        self.heard.append(arguments)
        return "done"


def test_no_secret_reaches_a_plugins_tool(engine_of):
    echo, secret = Echo(), "ghp_" + "k3Jd9" * 8
    tools = engine_of(echo).services_for("echo").tools
    asked = {"query": f"why is {secret} refused", "limit": 3, "below": [f"a/{secret}"]}
    assert tools.call("echo", asked, Session(host="codex", id="s")) == "done"
    (heard,) = echo.heard
    assert secret not in str(heard)
    assert heard["limit"] == 3
    assert heard["query"].startswith("why is ")
