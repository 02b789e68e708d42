"""What the plugin registers, and what registering it costs."""

from __future__ import annotations

import subprocess
import sys

from codexmem_hookspecs.testing import PlainServices
from codexmem_hookspecs.testing.registration import declared_version, registered
from codexmem_mcp import HOOK_API, plugin

LOADED = "import sys; import codexmem_mcp; print(*sorted(m for m in sys.modules if m.split('.')[0] in {}))"


def test_the_plugin_speaks_the_contract():
    registered(plugin)
    assert declared_version(plugin) == HOOK_API


def test_one_command_serves_the_tools():
    (command,) = plugin.codexmem_commands()
    assert (command.name, command.serves_tools) == ("mcp", True)
    assert command.load().name == "mcp"


def test_other_commands_do_not_pay_for_the_sdk():
    code = LOADED.format({"mcp", "mcp_types", "pydantic", "anyio", "click"})
    printed = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed == "\n"


def test_doctor_says_whether_the_server_can_start(codexmem_home):
    (check,) = plugin.codexmem_doctor_checks()
    (finding,) = check.run(PlainServices(codexmem_home))
    assert finding.level == "ok"


def test_doctor_names_what_is_missing(codexmem_home, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    monkeypatch.delitem(sys.modules, "codexmem_mcp.server", raising=False)
    (check,) = plugin.codexmem_doctor_checks()
    (finding,) = check.run(PlainServices(codexmem_home))
    assert finding.level == "fail"
    assert "mcp_types" in finding.message
    assert "codexmem-mcp" in finding.fix


def test_a_person_who_types_it_is_told_whom_it_is_for(place, argv, environ):
    import pty

    _ours, theirs = pty.openpty()
    process = subprocess.Popen([*argv], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)
    printed = process.stderr.readline().decode()
    process.terminate()
    process.communicate(timeout=60)
    assert "it is for agents" in printed
