"""Codex's set-up: trust as the real program computes it, and files that others change as well."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.hook_files import entries
from codexmem_hookspecs.testing.setup import BASE, MOVED, applied, unwanted, wanted
from codexmem_hookspecs.toml_text import with_table
from codexmem_host_codex.host import CodexHost
from codexmem_host_codex.trust import state_key, trusted_hash

RECORDED = json.loads((Path(__file__).parent / "recordings" / "hook-trust.json").read_text(encoding="utf-8"))
HOST = CodexHost()
THEIRS = {"hooks": [{"type": "command", "command": "chime", "timeout": 5}]}
STARTS = [f"SessionStart-{source}" for source in ("startup", "resume", "clear", "compact", "fork")]


class Codex:
    """A Codex home in memory."""

    def __init__(self, services):
        self.home = os.path.join(services.home, ".codex")
        self.hooks, self.config = f"{self.home}/hooks.json", f"{self.home}/config.toml"
        self.files = {}
        self.request = replace(wanted(services, self.files), read=self.read, kinds=BASE)

    def read(self, path):
        return self.files.get(path)

    def set_up(self, **changes):
        self.files = applied(self.files, HOST.plan(replace(self.request, **changes)))

    def take_out(self):
        self.files = applied(self.files, HOST.plan(unwanted(self.request)))

    def write(self, path, value):
        self.files[path] = (value if isinstance(value, str) else json.dumps(value, indent=1)).encode()

    def listed(self):
        return json.loads(self.files[self.hooks])["hooks"]

    def state(self):
        return tomllib.loads(self.files[self.config].decode())["hooks"]["state"]

    def trust_in_theirs(self):
        """As Codex does when the user says yes in its dialog."""
        text = self.files.get(self.config, b"").decode()
        for entry in entries(self.hooks, self.files[self.hooks]):
            if not entry.ours:
                key = ("hooks", "state", state_key(self.hooks, entry.place))
                text = with_table(text, key, {"trusted_hash": trusted_hash(entry)})
        self.write(self.config, text)

    def trusted(self):
        """Names of the hooks that Codex runs, theirs as their command."""
        state = self.state()
        return [
            entry.name if entry.ours else entry.command
            for entry in entries(self.hooks, self.files[self.hooks])
            if state.get(state_key(self.hooks, entry.place), {}).get("trusted_hash") == trusted_hash(entry)
        ]

    def installed(self):
        return {hook.event: hook for hook in HOST.installed(self.request)}


@pytest.fixture
def codex(codexmem_services):
    return Codex(codexmem_services)


def test_digests_are_those_of_the_real_program():
    found = entries("/x", json.dumps(RECORDED["hooks_json"]).encode())
    assert {state_key("", entry.place)[1:]: trusted_hash(entry) for entry in found} == RECORDED["hashes"]


def test_each_source_of_a_start_has_an_entry_and_short_events_have_short_timeouts(codex):
    codex.set_up()
    hooks = [(entry.name, entry.hook["timeout"]) for entry in entries(codex.hooks, codex.files[codex.hooks])]
    assert hooks == [*((name, 10) for name in STARTS), ("Stop", 10), ("Interrupt", 3), ("SessionEnd", 3)]
    assert codex.trusted() == [name for name, _ in hooks]
    assert "PreCompact" not in codex.listed()


def test_a_hook_that_waits_has_time_to(codex):
    codex.set_up(kinds={"compaction": 60.0, "prompt": 1.5})
    assert {e.name: e.hook["timeout"] for e in entries(codex.hooks, codex.files[codex.hooks])} == {
        "UserPromptSubmit": 10,
        "PreCompact": 65,
    }


def test_the_server_is_listed_with_its_arguments(codex):
    codex.set_up()
    server = tomllib.loads(codex.files[codex.config].decode())["mcp_servers"]["codexmem"]
    assert [server["command"], *server["args"]] == list(codex.request.mcp)


def test_what_the_user_added_to_our_server_stays_when_the_program_moves(codex):
    codex.set_up()
    text = codex.files[codex.config].decode() + "startup_timeout_sec = 30  # slow disk\n"
    codex.write(codex.config, text)
    codex.set_up(mcp=(MOVED, "-m", "codexmem_core.cli", "mcp", "codex"))
    server = tomllib.loads(codex.files[codex.config].decode())["mcp_servers"]["codexmem"]
    assert (server["command"], server["startup_timeout_sec"]) == (MOVED, 30)
    assert "# slow disk" in codex.files[codex.config].decode()


def test_a_foreign_group_in_front_of_ours_is_noticed_and_mended(codex):
    codex.set_up()
    codex.write(codex.hooks, {"hooks": {**codex.listed(), "Stop": [THEIRS, *codex.listed()["Stop"]]}})
    assert codex.installed()["Stop"].trust == "untrusted"
    assert codex.installed()["SessionEnd"].trust == "trusted"
    codex.set_up()
    assert codex.installed()["Stop"].trust == "trusted"
    assert [group["hooks"][0]["command"] == "chime" for group in codex.listed()["Stop"]] == [True, False]
    assert "chime" not in codex.trusted()  # nobody but the user says yes to what others do


def test_trust_in_hooks_of_others_moves_with_them(codex):
    codex.set_up()
    others = [{"hooks": [{"type": "command", "command": name}]} for name in ("first", "last")]
    codex.write(codex.hooks, {"hooks": {**codex.listed(), "Stop": [others[0], *codex.listed()["Stop"], others[1]]}})
    codex.set_up()
    codex.trust_in_theirs()
    before = codex.trusted()
    assert {"first", "last"} < set(before)
    codex.set_up(kinds={"end": 0.0})
    assert codex.trusted() == ["first", "last", "SessionEnd"]
    codex.take_out()
    assert codex.trusted() == ["first", "last"]
    assert set(codex.state()) == {f"{codex.hooks}:stop:0:0", f"{codex.hooks}:stop:1:0"}


def test_what_a_user_did_not_trust_is_not_trusted_after_a_move(codex):
    codex.set_up()
    codex.write(codex.hooks, {"hooks": {**codex.listed(), "Stop": [*codex.listed()["Stop"], THEIRS]}})
    text = codex.files[codex.config].decode()
    codex.write(codex.config, f'{text}\n[hooks.state."{codex.hooks}:stop:1:0"]\ntrusted_hash = "sha256:old"\n')
    codex.take_out()
    assert codex.trusted() == []


def test_hooks_of_one_group_are_told_apart(codex):
    codex.set_up()
    ours = codex.listed()["Stop"][0]["hooks"][0]
    codex.write(codex.hooks, {"hooks": {"Stop": [{"hooks": [*THEIRS["hooks"], ours]}]}})
    codex.trust_in_theirs()
    codex.set_up(kinds={"stop": 0.0})
    assert codex.trusted() == ["chime", "Stop", "Interrupt"]
    codex.take_out()
    assert codex.listed() == {"Stop": [THEIRS]}
    assert codex.trusted() == ["chime"]


def test_a_link_on_the_way_to_the_home_gives_the_file_two_names(codex):
    codex.set_up(resolve=lambda path: path.replace(".codex", "dotfiles/codex"))
    assert {key.rpartition("/hooks.json")[0] for key in codex.state()} == {
        codex.home,
        codex.home.replace(".codex", "dotfiles/codex"),
    }


def test_an_entry_that_stands_twice_is_left_once(codex):
    codex.set_up()
    before = dict(codex.files)
    codex.write(codex.hooks, {"hooks": {**codex.listed(), "Stop": codex.listed()["Stop"] * 2}})
    codex.set_up()
    assert entries(codex.hooks, codex.files[codex.hooks]) == entries(codex.hooks, before[codex.hooks])
    assert codex.files[codex.config] == before[codex.config]


@pytest.mark.parametrize(
    ("change", "problem", "fix"),
    [
        ("[features]\nhooks = false\n{}", "all hooks of Codex are switched off", "[features]"),
        ("[features]\ncodex_hooks = false\n{}", "all hooks of Codex are switched off", "[features]"),
        ("{}enabled = false\n", "it is switched off", "enabled"),
    ],
)
def test_switches_of_the_user_are_named_and_left(codex, change, problem, fix):
    codex.set_up()
    codex.write(codex.config, change.format(codex.files[codex.config].decode()))
    found = [hook for hook in HOST.installed(codex.request) if hook.problem == problem]
    assert found
    assert all(fix in hook.fix for hook in found)
    assert HOST.plan(codex.request) == ()


def test_a_hook_that_was_switched_off_by_the_user_stays_so(codex):
    codex.set_up()
    key = f'[hooks.state."{codex.hooks}:stop:0:0"]\n'
    codex.write(codex.config, codex.files[codex.config].decode().replace(key, f"{key}enabled = false\n"))
    assert codex.installed()["Stop"].problem == "it is switched off"
    codex.set_up(kinds={"stop": 1.0})
    assert codex.installed()["Stop"].problem == "it is switched off"
    assert codex.installed()["Stop"].trust == "trusted"


@pytest.mark.parametrize("state", ["enabled = false", "trusted_hash = 7", "trusted_hash = []", ""])
def test_a_hook_of_others_about_which_no_digest_is_kept_is_left_as_it_is(codex, state):
    codex.write(codex.hooks, {"hooks": {"Stop": [THEIRS]}})
    before = f'[hooks.state."{codex.hooks}:stop:0:0"]\n{state}\n'
    codex.write(codex.config, before)
    codex.set_up()
    assert codex.files[codex.config].decode().startswith(before)
    assert codex.installed()["Stop"].trust == "trusted"
    codex.take_out()
    assert codex.files[codex.config].decode() == before


def test_a_timeout_that_was_taken_out_is_a_problem_and_mended(codex):
    codex.set_up()
    listed = codex.listed()
    del listed["SessionEnd"][0]["hooks"][0]["timeout"]
    codex.write(codex.hooks, {"hooks": listed})
    assert codex.installed()["SessionEnd"].problem == "its timeout is not set, 3 s are needed"
    codex.set_up()
    assert codex.installed()["SessionEnd"].problem == ""


def test_a_key_that_codex_does_not_know_is_named(codex):
    codex.set_up()
    codex.write(codex.hooks, {"hooks": codex.listed(), "version": 2})
    assert "key version" in codex.installed()["Stop"].problem


def test_another_program_under_our_servers_name_is_not_replaced(codex):
    codex.write(codex.config, '[mcp_servers.codexmem]\ncommand = "other-program"\n')
    with pytest.raises(Refused, match=r"config\.toml has an MCP server called codexmem .* \(other-program\)"):
        HOST.plan(codex.request)
    assert HOST.installed(codex.request) == []


@pytest.mark.parametrize("text", ["mcp_servers = {}\n", '[hooks]\nstate = { a = { trusted_hash = "x" } }\n'])
def test_tables_in_another_form_are_refused_by_name(codex, text):
    codex.write(codex.config, text)
    with pytest.raises(Refused, match=r"config\.toml is not changed: \[.*\] cannot be changed beside"):
        HOST.plan(codex.request)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"hooks": []}', "hooks is no object"),
        ('{"hooks": {"Stop": {}}}', r"hooks\.Stop is no list"),
        ('{"hooks": {"Stop": [3]}}', r"hooks\.Stop\[0\] is no object"),
        ('{"hooks": {"Stop": [{"hooks": 3}]}}', r"hooks\.Stop\[0\]\.hooks is no list"),
        ('{"hooks": {"Stop": [{"hooks": [3]}]}}', r"hooks\.Stop\[0\]\.hooks\[0\] is no object"),
        ("[]", "holds no object"),
        ('{"hooks": {} // mine\n}', "no plain JSON"),
    ],
)
def test_a_file_of_hooks_that_is_laid_out_otherwise_is_refused_with_the_place(codex, content, reason):
    codex.write(codex.hooks, content)
    with pytest.raises(Refused, match=rf"hooks\.json is not changed: .*{reason}"):
        HOST.plan(codex.request)


def test_without_a_home_there_is_nothing_to_set_up(codex):
    with pytest.raises(Refused, match="Codex CLI has no home folder"):
        HOST.plan(replace(codex.request, environ={}))


def test_the_home_of_our_own_settings_goes_first(codex):
    (first, _) = HOST.plan(replace(codex.request, settings={"home": "/srv/codex"}))
    assert first.path == "/srv/codex/hooks.json"


def test_a_moved_interpreter_keeps_places_and_trust(codex):
    codex.write(codex.hooks, {"hooks": {"Stop": [THEIRS]}})
    codex.set_up()
    codex.trust_in_theirs()
    hook = codex.request.hook
    codex.set_up(hook=lambda event: (MOVED, *hook(event)[1:]))
    assert codex.trusted() == ["chime", "Stop", *STARTS, "Interrupt", "SessionEnd"]
    assert len(codex.state()) == 9
