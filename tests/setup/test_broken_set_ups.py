"""A set-up that broke, whichever way: ``codexmem doctor`` names the fault and the fix, and the fix mends it."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from codexmem_hookspecs.values.setup import SHIM

from codexmem_core.setup.wanted import PLACE

CODEX, CONFIG, CLAUDE = ".codex/hooks.json", ".codex/config.toml", ".claude/settings.json"
OPENCODE, SERVERS = ".config/opencode/plugin/codexmem.js", ".config/opencode/opencode.json"
CHIME = {"hooks": [{"type": "command", "command": "chime"}]}


def hooks_file_deleted(machine):
    machine.path(CODEX).unlink()
    return str(machine.path(CODEX))


def interpreter_gone(machine):
    folder = machine.root / "environment"
    folder.rename(folder.with_name("moved"))
    machine.python = str(folder.with_name("moved") / "bin" / "python")
    return f"its interpreter {folder}/bin/python is gone"


def edited_after_it_was_trusted(machine):
    text = machine.read(CODEX)
    machine.write(CODEX, text.replace('"timeout": 10', '"timeout": 20', 1))
    return f"Codex CLI SessionStart-startup: Codex CLI does not run it: what {machine.path(CODEX)} says"


def trust_lost(machine):
    machine.write(CONFIG, 'model = "x"\n')  # as it was in a backup
    return "Codex CLI does not run it"


def index_moved_by_another_tool(machine):
    hooks = machine.json(CODEX)["hooks"]
    machine.write(CODEX, {"hooks": {**hooks, "Stop": [CHIME, *hooks["Stop"]]}})
    return "Codex CLI Stop: Codex CLI does not run it"


def memory_moved(machine):
    new = machine.root / "memory"
    machine.codexmem_home.rename(new)
    machine.environ["CODEXMEM_HOME"] = str(new)
    return f"it works with the home {machine.codexmem_home}, while this is {new}"


def codexmem_moved(machine):
    """A checkout, say; the environment stayed where it was."""
    machine.write(CODEX, machine.read(CODEX).replace(PLACE, "/elsewhere"))
    return f"it works with the codexmem in /elsewhere, while this is {PLACE}"


def set_up_by_an_earlier_version(machine):
    words = f"-I -c 'from {SHIM} import main; main()'"
    machine.write(CODEX, re.sub(r"-I -S -c '[^']*' \S+", words, machine.read(CODEX)))
    return "its command is that of another version"


def settings_with_a_comment(machine):
    text = machine.read(CLAUDE)
    machine.write(CLAUDE, text.replace("{", "{ // hooks:", 1))
    return f"{machine.path(CLAUDE)} is not changed: it is no plain JSON"


def timeout_taken_out(machine):
    settings = machine.json(CLAUDE)
    del settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"]
    machine.write(CLAUDE, settings)
    return "Claude Code SessionEnd: its timeout is not set, 3 s are needed"


def more_events_wanted(machine):
    machine.config.parent.mkdir(parents=True)
    machine.config.write_text("[memories]\ndisable_on_external_context = true\n")
    return "PostToolUse: missing in"


def plugin_disabled(machine):
    machine.config.parent.mkdir(parents=True)
    machine.config.write_text('[plugins]\ndisabled = ["host-codex"]\n')
    return r"codex was set up on .* but no active plugin provides it (not active: host-codex, mcp, ov-commit)"


def two_installations(machine):
    machine.own_python("other")
    return f"it runs {machine.root}/environment/bin/python, while this codexmem runs {machine.python}"


def installed_twice(machine):
    settings = machine.json(CLAUDE)
    settings["hooks"]["Stop"] *= 2
    machine.write(CLAUDE, settings)
    return f"Claude Code Stop: installed 2 times in {machine.path(CLAUDE)}"


def agents_home_moved(machine):
    machine.path(".codex").rename(machine.path("codex-home"))
    (machine.path("codex-home") / "hooks.json").unlink()
    (machine.path("codex-home") / "config.toml").unlink()
    machine.environ["CODEX_HOME"] = str(machine.path("codex-home"))
    return f"{machine.path('codex-home')}/hooks.json"


def hooks_switched_off_in_claude(machine):
    machine.write(CLAUDE, {**machine.json(CLAUDE), "disableAllHooks": True})
    return "all hooks of Claude Code are switched off"


def hooks_switched_off_in_codex(machine):
    machine.write(CONFIG, machine.read(CONFIG) + "\n[features]\nhooks = false\n")
    return "all hooks of Codex are switched off"


def key_that_codex_does_not_know(machine):
    machine.write(CODEX, {**machine.json(CODEX), "$schema": "https://example.com/hooks.json"})
    return "Codex reads nothing of the file because of the key $schema"


def packages_gone(machine):
    (packages,) = (machine.root / "environment").glob("lib/python3*/site-packages")
    (packages / "here.pth").unlink()
    machine.own_python("other")
    return f"{machine.root}/environment/bin/python -I cannot import codexmem"


def script_in_front_of_python(machine):
    script = machine.root / "shims" / "python"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{machine.python}" "$@"\n')
    script.chmod(0o755)
    machine.write(CLAUDE, machine.read(CLAUDE).replace(machine.python, str(script)))
    return f"{script} is a script that starts Python"


def plugin_file_deleted(machine):
    machine.path(OPENCODE).unlink()
    return f"missing in {machine.path(OPENCODE)}" if machine.path(SERVERS).exists() else str(machine.path(OPENCODE))


def plugin_file_of_somebody_else(machine):
    machine.write(OPENCODE, "export const Chime = async () => ({})\n")
    return f"{machine.path(OPENCODE)} is not changed: it is not codexmem's plugin"


def tool_server_deleted(machine):
    machine.with_server()
    machine.set_up("claude", "codex", "opencode")
    machine.path(".claude.json").unlink()
    return f"Claude Code MCP server: missing in {machine.path('.claude.json')}"


BREAKAGES = [
    hooks_file_deleted,
    interpreter_gone,
    edited_after_it_was_trusted,
    trust_lost,
    index_moved_by_another_tool,
    memory_moved,
    codexmem_moved,
    set_up_by_an_earlier_version,
    settings_with_a_comment,
    timeout_taken_out,
    more_events_wanted,
    plugin_disabled,
    two_installations,
    installed_twice,
    agents_home_moved,
    hooks_switched_off_in_claude,
    hooks_switched_off_in_codex,
    key_that_codex_does_not_know,
    packages_gone,
    script_in_front_of_python,
    plugin_file_deleted,
    plugin_file_of_somebody_else,
    tool_server_deleted,
]


def by_hand(machine, fix):
    """What a fix asks of the user, done to the letter."""
    if fix.startswith("mend the file") and fix.endswith("opencode"):
        machine.path(OPENCODE).rename(machine.path(OPENCODE).with_name("chime.js"))
    elif fix.startswith("mend the file"):
        machine.write(CLAUDE, machine.read(CLAUDE).replace("{ // hooks:", "{"))
    elif fix.startswith("take disableAllHooks out of"):
        settings = machine.json(CLAUDE)
        del settings["disableAllHooks"]
        machine.write(CLAUDE, settings)
    elif fix.startswith("set hooks = true in [features]"):
        machine.write(CONFIG, machine.read(CONFIG).replace("hooks = false", "hooks = true"))
    elif fix.startswith("take $schema out of"):
        hooks = machine.json(CODEX)
        del hooks["$schema"]
        machine.write(CODEX, hooks)
    elif fix.startswith("let the plugin be loaded again"):
        machine.config.write_text("")
    else:  # both ask for another environment or interpreter, and this test runs in one
        assert fix.startswith(("install codexmem in a virtual", "run codexmem setup with the interpreter itself"))
        machine.set_up("codex", "claude", "opencode")


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.__name__)
def test_a_broken_set_up_is_named_and_mended_by_the_fix_that_is_named(machine, breakage):
    machine.own_python("environment")
    machine.set_up("codex", "claude", "opencode")
    expected = breakage(machine)
    found = machine.doctor()
    messages = "\n".join(each["message"] for each in found)
    assert all(part in messages for part in expected.split(".* "))
    for fix in dict.fromkeys(each["fix"] for each in found):
        words = shlex.split(fix) if fix.startswith("codexmem ") else []
        if not words:
            by_hand(machine, fix)
            words = (
                shlex.split(fix[fix.index("codexmem setup") :]) if fix.endswith(("codex", "claude", "opencode")) else []
            )
        if words and words[1] == "setup":
            machine.set_up(*words[2:])
    assert machine.doctor() == []


def test_each_hook_is_told_with_its_trust_and_when_it_last_fired(machine):
    machine.set_up("codex", "claude")
    assert machine.doctor() == []
    session = {"session_id": "s", "cwd": "/home/dev/harbor"}
    machine.fired("claude", "SessionStart-startup", {**session, "source": "startup"}, "v1 0123456789abcdef")
    machine.fired("claude", "Stop", session)
    found = json.loads(machine.run("doctor", "--json")[1])["findings"]
    told = [each["message"] for each in found if each["check"] == "hooks" and each["level"] == "ok"]
    assert "Codex CLI Stop: installed, trusted, not fired yet" in told
    assert "Claude Code SessionEnd: installed, not fired yet" in told
    (fired,) = (message for message in told if message.startswith("Claude Code Stop: "))
    assert fired == "Claude Code Stop: installed, last fired 2026-11-30 00:53:20 UTC"
    given = "memory v1, generation 0123456789abcdef, to session s"
    assert f"Claude Code: last gave {given} on 2026-11-30 00:53:20 UTC" in told


def test_what_is_not_set_up_is_said_and_no_fault(machine):
    found = json.loads(machine.run("doctor", "--json")[1])
    told = {each["message"]: each["level"] for each in found["findings"] if each["check"] == "hooks"}
    assert told == {
        "Claude Code is not set up: it is not told what is remembered": "info",
        "Codex CLI is not set up: it is not told what is remembered": "info",
        "OpenCode is not set up: it is not told what is remembered": "info",
    }
