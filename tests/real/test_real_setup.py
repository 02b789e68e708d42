"""What ``setup`` installed, as the hosts themselves see it, and what ``doctor`` says of it."""

import json
import shutil

import pytest
from realhosts.conversation import until

TITLES = {"codex": "Codex CLI", "claude": "Claude Code", "opencode": "OpenCode"}


def said_by_doctor(machine, host):
    """What doctor says of a host's hooks; it finds no fault."""
    findings = json.loads(machine.codexmem("--json", "doctor"))["findings"]
    return [found["message"] for found in findings if TITLES[host.name] in found["message"]]


def test_doctor_tells_what_fired_and_what_was_given(machine, host):
    machine.remember_the_sample()
    assert not any("last fired" in line for line in said_by_doctor(machine, host))
    host.say("What shall we do?")
    until(lambda: any("last gave memory v1" in line for line in said_by_doctor(machine, host)), "what was given")
    assert any("last fired" in line for line in said_by_doctor(machine, host))


def test_codex_trusts_every_hook_of_ours(codex):
    with codex.stay_open() as session:
        hooks = session.hooks()
    assert {hook["eventName"] for hook in hooks} >= {"sessionStart", "stop", "preCompact", "sessionEnd"}
    for hook in hooks:
        assert (hook["trustStatus"], hook["enabled"]) == ("trusted", True), hook


def test_codex_and_doctor_agree_that_a_hook_changed_by_hand_is_not_trusted(machine, codex):
    hooks = codex.folder / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 10', '"timeout": 9', 1))
    with codex.stay_open() as session:
        statuses = [hook["trustStatus"] for hook in session.hooks()]
    assert len(statuses) - statuses.count("trusted") == 1
    assert machine.codexmem_fails("doctor").count("is not what was trusted") == 1
    machine.codexmem("setup", "codex", "--yes")
    with codex.stay_open() as session:
        assert {hook["trustStatus"] for hook in session.hooks()} == {"trusted"}


def test_after_unsetup_the_host_is_as_it_was(machine, bare_host):
    def files():
        return {path: path.read_bytes() for path in machine.home.rglob("*.*") if path.is_file()}

    before = files()
    machine.codexmem("setup", bare_host.name, "--yes")
    changed = {path for path, content in files().items() if before.get(path) != content}
    assert changed
    machine.codexmem("unsetup", bare_host.name, "--yes")
    assert {path: content for path, content in files().items() if machine.memory_home not in path.parents} == before
    known = machine.remember_the_sample()
    assert known not in bare_host.say("What shall we do?").told
    assert not machine.workers()


BREAKAGES = ("settings", "home is away", "home is a file")


@pytest.mark.parametrize("what", BREAKAGES)
def test_a_broken_codexmem_leaves_the_host_alone(machine, host, what):
    if what == "settings":
        settings = machine.home / ".config" / "codexmem" / "config.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("[memories\nhome = 7")
    else:
        shutil.rmtree(machine.memory_home)
    if what == "home is a file":
        machine.memory_home.touch()
    conversation = host.say("What shall we do?", {"text": "Let us rest."})
    assert conversation.status == 0
    assert "Let us rest." in conversation.printed
    assert "Failed" not in conversation.complained
