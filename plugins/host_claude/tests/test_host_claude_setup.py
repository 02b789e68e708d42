"""Claude Code's set-up: where it keeps what, and files that others change as well."""

import json
import os
from dataclasses import replace

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import entries
from codexmem_hookspecs.testing.setup import BASE, applied, unwanted, wanted
from codexmem_host_claude.host import ClaudeHost

HOST = ClaudeHost()


class Claude:
    """A Claude Code home in memory."""

    def __init__(self, services):
        self.settings = os.path.join(services.home, ".claude", "settings.json")
        self.servers = os.path.join(services.home, ".claude.json")
        self.files = {}
        self.request = replace(wanted(services, self.files), read=self.read, kinds=BASE)

    def read(self, path):
        return self.files.get(path)

    def set_up(self, **changes):
        self.files = applied(self.files, HOST.plan(replace(self.request, **changes)))

    def installed(self):
        return {hook.event: hook for hook in HOST.installed(self.request)}


@pytest.fixture
def claude(codexmem_services):
    return Claude(codexmem_services)


def test_each_source_of_a_start_has_an_entry_and_an_end_is_quick(claude):
    claude.set_up()
    hooks = [(entry.name, entry.hook["timeout"]) for entry in entries("", claude.files[claude.settings])]
    starts = [(f"SessionStart-{source}", 10) for source in ("startup", "resume", "clear", "compact")]
    assert hooks == [*starts, ("Stop", 10), ("SessionEnd", 3)]


def test_the_server_is_listed_among_the_users(claude):
    claude.set_up()
    assert json.loads(claude.files[claude.servers]) == {
        "mcpServers": {
            "codexmem": {
                "type": "stdio",
                "command": claude.request.mcp[0],
                "args": list(claude.request.mcp[1:]),
                "env": {},
            }
        }
    }


@pytest.mark.parametrize(
    ("environ", "settings", "older", "place"),
    [
        ({"HOME": "/home/dev"}, {}, "", "/home/dev/.claude.json"),
        ({"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/srv/c"}, {}, "", "/srv/c/.claude.json"),
        ({"HOME": "/home/dev", "CLAUDE_CONFIG_DIR": "/home/dev/.claude"}, {}, "", "/home/dev/.claude/.claude.json"),
        ({"HOME": "/home/dev"}, {"home": "/srv/c"}, "", "/srv/c/.claude.json"),
        ({"HOME": "/home/dev"}, {}, "/home/dev/.claude/.config.json", "/home/dev/.claude/.config.json"),
    ],
)
def test_servers_are_where_claude_code_looks(claude, environ, settings, older, place):
    files = {older: b'{"numStartups": 1}'}
    request = replace(claude.request, environ=environ, settings=settings, read=files.get)
    assert [edit.path for edit in HOST.plan(request)][-1] == place


def test_what_the_user_made_of_our_server_stays_when_it_is_the_same_program(claude):
    claude.set_up()
    servers = json.loads(claude.files[claude.servers])
    servers["mcpServers"]["codexmem"]["env"] = {"LANG": "C.UTF-8"}
    claude.files[claude.servers] = json.dumps(servers).encode()
    assert HOST.plan(claude.request) == ()


def test_another_program_under_our_servers_name_is_not_replaced(claude):
    claude.files[claude.servers] = b'{"mcpServers": {"codexmem": {"command": "other-program"}}}'
    with pytest.raises(Refused, match=r"\.claude\.json has an MCP server called codexmem that is another program"):
        HOST.plan(claude.request)
    assert HOST.installed(claude.request) == ()


def test_servers_that_are_no_object_are_refused(claude):
    claude.files[claude.servers] = b'{"mcpServers": []}'
    with pytest.raises(Refused, match=r"\.claude\.json is not changed: mcpServers is no object"):
        HOST.plan(claude.request)


def test_a_switch_over_all_hooks_is_named_and_left(claude):
    claude.set_up()
    said = json.loads(claude.files[claude.settings])
    claude.files[claude.settings] = json.dumps({**said, "disableAllHooks": True}).encode()
    assert claude.installed()["Stop"].problem == "all hooks of Claude Code are switched off"
    assert claude.installed()["Stop"].fix == f"take disableAllHooks out of {claude.settings}"
    assert HOST.plan(claude.request) == ()


def test_an_asynchronous_hook_is_a_problem_and_mended(claude):
    claude.set_up()
    text = claude.files[claude.settings].decode()
    claude.files[claude.settings] = text.replace('"timeout": 3', '"timeout": 3, "async": true').encode()
    assert claude.installed()["SessionEnd"].problem == "it is asynchronous, so it may never run"
    claude.set_up()
    assert claude.installed()["SessionEnd"].problem == ""


def test_windows_line_ends_and_tabs_stay(claude):
    before = b'{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},\r\n\t"model": "opus"\r\n}\r\n'
    claude.files[claude.settings] = before
    claude.set_up()
    text = claude.files[claude.settings].decode()
    assert text.count("\n") == text.count("\r\n") > 20
    assert '\r\n\t\t"SessionEnd": [\r\n\t\t\t{' in text
    assert ']\r\n\t},\r\n\t"model": "opus",\r\n\t"permissions": {\r\n\t\t"allow": [' in text
    claude.files = applied(claude.files, HOST.plan(unwanted(claude.request)))
    assert json.loads(claude.files[claude.settings]) == {"model": "opus"}
