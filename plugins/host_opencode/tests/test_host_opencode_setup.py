"""Setting OpenCode up: a plugin file of ours, and one entry in the configuration of the user."""

import json

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_text import parsed
from codexmem_hookspecs.values.setup import MCP_EVENT, SHIM, SetupRequest
from codexmem_host_opencode import plugin

HOST = plugin.codexmem_capture_host()[0]
FOLDER = "/home/user/.config/opencode"
PLUGIN = f"{FOLDER}/plugin/codexmem.js"
PYTHON = "/opt/venv/bin/python"


class Files(dict):
    """OpenCode's configuration by absolute path."""

    def request(self, **changes):
        environ = {"HOME": "/home/user", **changes.pop("environ", {})}
        given = {
            "kinds": {"start": 0.0, "compaction": 60.0},
            "hook": lambda event: (PYTHON, "-I", "-c", f"from {SHIM} import main; main()", "opencode", event),
            "mcp": (PYTHON, "-I", "-m", "codexmem_core.cli", "mcp", "opencode"),
            "home": "/home/user/memory",
        }
        return SetupRequest(environ=environ, read=self.get, **given | changes)

    def set_up(self, **changes):
        for edit in HOST.plan(self.request(**changes)):
            assert self.get(edit.path) == edit.before
            if edit.after is None:
                del self[edit.path]
            else:
                self[edit.path] = edit.after
        return self

    def installed(self, **changes):
        return HOST.installed(self.request(**changes))

    def servers(self, name="opencode.json"):
        return parsed(self[f"{FOLDER}/{name}"].decode(), comments=True).value["mcp"]


def test_a_fresh_opencode_gets_the_plugin_file_and_a_configuration_with_the_server():
    files = Files().set_up()
    assert sorted(files) == [f"{FOLDER}/opencode.json", PLUGIN]
    told = {"CODEXMEM_OPENCODE_CALLS": "/home/user/memory/plugins/host-opencode/calls"}
    entry = {"type": "local", "command": list(files.request().mcp), "environment": told, "enabled": True}
    assert files.servers() == {"codexmem": entry}
    hooks = {hook.event: hook.command for hook in files.installed()}
    assert hooks.pop(MCP_EVENT) == f"{PYTHON} -I -m codexmem_core.cli mcp opencode"
    assert sorted(hooks) == [
        "dispose",
        "experimental.session.compacting",
        "experimental.text.complete",
        "session.deleted",
        "session.idle",
        "session.start-resume",
        "session.start-startup",
    ]
    assert files.set_up(kinds={}, mcp=()) == {}


def test_the_plugin_file_knows_how_long_opencode_waits():
    (line,) = [line for line in Files().set_up()[PLUGIN].splitlines() if line.startswith(b"const SETUP = ")]
    known = json.loads(line.removeprefix(b"const SETUP = "))
    assert known["wait_s"] == {"experimental.session.compacting": 60.0}
    assert known["ready"] == "/home/user/memory/read/opencode-session.start-startup"
    assert known["seen"] == "/home/user/memory/plugins/host-opencode/seen"


def test_the_configuration_moves_with_xdg():
    files = Files().set_up(environ={"XDG_CONFIG_HOME": "/etc/mine"})
    assert sorted(files) == ["/etc/mine/opencode/opencode.json", "/etc/mine/opencode/plugin/codexmem.js"]


def test_without_any_home_it_is_refused():
    with pytest.raises(Refused, match="XDG_CONFIG_HOME"):
        Files().set_up(environ={"HOME": "relative"})


@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc", "config.json"])
def test_the_configuration_that_is_there_is_used(name):
    files = Files({f"{FOLDER}/{name}": b'{\n  "model": "a/b"\n}\n'}).set_up(kinds={})
    assert list(files) == [f"{FOLDER}/{name}"]
    assert "codexmem" in files.servers(name)


def test_of_several_the_one_that_has_our_entry_is_used():
    files = Files({f"{FOLDER}/opencode.jsonc": b"{} // mine\n"}).set_up()
    files[f"{FOLDER}/opencode.json"] = b'{"model": "a/b"}'
    assert list(HOST.plan(files.request())) == []
    moved = (PYTHON, "-m", "codexmem_core.cli", "mcp", "opencode", "--elsewhere")
    files.set_up(mcp=moved)
    assert files.servers("opencode.jsonc")["codexmem"]["command"] == list(moved)
    assert files[f"{FOLDER}/opencode.json"] == b'{"model": "a/b"}'


def test_comments_stay():
    before = b'{\n  // my model\n  "model": "a/b", /* good */\n}\n'
    files = Files({f"{FOLDER}/opencode.json": before}).set_up()
    assert b"// my model" in files[f"{FOLDER}/opencode.json"]
    assert b"/* good */" in files[f"{FOLDER}/opencode.json"]
    assert files.set_up(kinds={}, mcp=()) == {f"{FOLDER}/opencode.json": before}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[]", "it is no object"),
        (b'{"mcp": []}', "mcp is no object"),
        (b'{"mcp": {"codexmem": {"command": ["theirs"]}}}', "another program"),
        (b'{"mcp": {"codexmem": {"type": "remote", "url": "https://x.example"}}}', "another program"),
        (b'{"mcp": {/* none yet */}}', "nothing but a comment"),
        (b"{'model': 1}", "no JSON with comments"),
        (b'{"model": "\xff"}', "no UTF-8"),
    ],
)
def test_a_configuration_that_is_not_understood_or_not_ours_is_not_touched(content, reason):
    files = Files({f"{FOLDER}/opencode.json": content})
    with pytest.raises(Refused, match=reason):
        files.set_up()
    assert files == {f"{FOLDER}/opencode.json": content}


def test_a_plugin_of_somebody_elses_of_that_name_is_not_touched():
    files = Files({PLUGIN: b"export const Mine = async () => ({})\n"})
    with pytest.raises(Refused, match="not codexmem's plugin"):
        files.set_up()
    assert files.installed() == ()


def test_a_plugin_file_of_an_older_version_is_replaced():
    files = Files().set_up()
    files[PLUGIN] = files[PLUGIN].replace(b"export default", b"// older\nexport default")
    (edit,) = HOST.plan(files.request())
    assert edit.path == PLUGIN
    assert b"// older" not in edit.after


def test_a_server_that_is_switched_off_is_told_with_its_fix_and_mended_by_setup():
    files = Files().set_up()
    path = f"{FOLDER}/opencode.json"
    files[path] = files[path].replace(b'"enabled": true', b'"enabled": false')
    (server,) = [hook for hook in files.installed() if hook.event == MCP_EVENT]
    assert "not to start it" in server.problem
    assert path in server.fix
    files.set_up()
    assert files.servers()["codexmem"]["enabled"] is True


def test_variables_that_the_user_gave_to_the_server_stay():
    files = Files().set_up()
    path = f"{FOLDER}/opencode.json"
    entry = json.loads(files[path])
    entry["mcp"]["codexmem"] = {"command": ["/old/python", "codexmem_core"], "environment": {"LANG": "C.UTF-8"}}
    files[path] = json.dumps(entry).encode()
    files.set_up()
    environment = files.servers()["codexmem"]["environment"]
    assert sorted(environment) == ["CODEXMEM_OPENCODE_CALLS", "LANG"]
    assert HOST.plan(files.request()) == ()
