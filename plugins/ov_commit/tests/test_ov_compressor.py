"""A model shortens recalls when the user picked one; whatever it does wrong leaves the plain digest."""

from __future__ import annotations

import json
import sys
import time

import pytest
from codexmem_ov_commit.compressor import command
from codexmem_ov_commit.compressor_profile import FILE, Profile, candidates
from codexmem_ov_commit.settings import Settings

from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.services.leash import Leash
from codexmem_core.services.processes import ChildProcesses

QUESTION = "How should I write commits?"
STYLE = "viking://user/default/memories/preferences/style.md"
RELEASE = "viking://user/default/memories/events/release.md"
PROGRAM = """#!{python}
import json, os, sys, time
argv, given = sys.argv[1:], sys.stdin.read()
seen = {{"argv": argv, "stdin": given, "environ": dict(os.environ)}}
with open({seen!r}, "a") as file:
    file.write(json.dumps(seen) + "\\n")
{does}
with open(argv[argv.index("--output-last-message") + 1], "w") as file:
    file.write({says!r})
"""
PLAIN = "- [preferences] Prefers small commits."


class Codex:
    """A program of that name in the user's path, which says what the test wants."""

    def __init__(self, machine, folder):
        self.machine = machine
        self.folder = folder
        self.folder.mkdir()
        self.path = folder / "codex"
        self.log = folder / "seen.jsonl"
        machine.services.environ["PATH"] = str(folder)

    def says(self, text, does=""):
        self.path.write_text(PROGRAM.format(python=sys.executable, seen=str(self.log), says=text, does=does))
        self.path.chmod(0o755)

    @property
    def seen(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def lists(self, *models):
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        (home / "models_cache.json").write_text(json.dumps({"models": [{"slug": model} for model in models]}))
        self.machine.services.environ["CODEX_HOME"] = str(home)


@pytest.fixture
def codex(machine, tmp_path):
    """Recall finds two things, long enough to be shortened; nobody has picked a model yet."""
    machine.server.memory.context = [
        {"uri": STYLE, "category": "preferences", "score": 0.9, "text": "Prefers small commits. " + "Why: ... " * 200},
        {"uri": RELEASE, "category": "events", "score": 0.5, "text": "Released on a Friday."},
    ]
    leash = Leash()
    machine.services.processes = ChildProcesses(machine.services.environ, leash, WorkDeadline(60))
    program = Codex(machine, tmp_path / "bin")
    program.says(f"- Small commits, one subject each. source: {STYLE}")
    yield program
    leash.close()


def ask(machine, prompt=QUESTION):
    return machine.asks("prompt", prompt=prompt)


def profile(machine):
    return json.loads((machine.state_folder() / FILE).read_text())


def test_nothing_is_started_until_the_user_picks_one(machine, codex):
    machine.start()
    assert PLAIN in ask(machine)
    assert codex.seen == []
    noted = profile(machine)
    assert noted["schemaVersion"] == 3
    assert noted["checkedAt"] == machine.clock.now_ms()
    assert noted["profile"] == {"enabled": False, "source": "configured_off"}
    # As the original plugin 0.7.5 wrote it in a recorded run.
    assert noted["configKey"] == (
        '{"version":3,"recallCompress":false,"recallCompressModel":"","recallCompressThinking":"default",'
        '"recallCompressConfigured":false}'
    )


@pytest.mark.parametrize(
    ("environ", "runs"),
    [
        ({"RECALL_COMPRESS": "1"}, True),
        ({"RECALL_COMPRESS_MODEL": "small"}, True),
        ({"RECALL_COMPRESS": "1", "RECALL_COMPRESS_MODEL": "off"}, False),
        ({"RECALL_COMPRESS": "1", "RECALL_COMPRESS_THINKING": "OFF"}, False),
        ({"RECALL_COMPRESS": "0", "RECALL_COMPRESS_MODEL": "small"}, False),
        ({"RECALL_COMPRESS_THINKING": "low"}, False),
    ],
)
def test_what_counts_as_picking_one(machine, codex, environ, runs):
    machine.set(**environ)
    assert ("one subject each" in ask(machine)) == runs
    assert len(codex.seen) == runs


def test_the_model_is_given_the_request_and_the_finds_and_its_bullets_are_told(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    assert ask(machine) == (
        '<openviking-context source="auto-recall" format="digest">\nOpenViking memory digest:\n'
        f"- Small commits, one subject each. source: {STYLE}\n</openviking-context>"
    )
    (seen,) = codex.seen
    assert QUESTION in seen["stdin"]
    assert "Released on a Friday." in seen["stdin"]
    assert STYLE in seen["stdin"]
    quiet = {"OPENVIKING_AUTO_RECALL": "0", "OPENVIKING_AUTO_CAPTURE": "0", "OPENVIKING_RECALL_COMPRESS": "0"}
    assert seen["environ"].items() >= {**quiet, "CODEXMEM_CHILD": "1"}.items()
    assert not list(machine.folder.parent.rglob("compressed-*"))


def test_the_command_line_is_the_designs():
    rest = [
        "--sandbox", "read-only", "--ask-for-approval", "never", "exec", "--ephemeral", "--ignore-user-config",
        "--skip-git-repo-check", "--output-last-message", "/out", "-",
    ]  # fmt: skip
    assert command(Profile(model="m"), "", "/out") == ["codex", "-m", "m", *rest]
    effort = ["-c", 'model_reasoning_effort="low"']
    assert command(Profile(model="m", thinking="low"), "", "/out") == ["codex", "-m", "m", *effort, *rest]
    provider = [
        "-c", 'model_provider="openviking_compressor"',
        "-c", 'model_providers.openviking_compressor.name="openviking_compressor"',
        "-c", 'model_providers.openviking_compressor.base_url="http://x/v1"',
    ]  # fmt: skip
    assert command(Profile(model="m", thinking="low"), "http://x/v1", "/out") == [
        "codex", "-m", "m", *effort, *provider, *rest,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ["gpt-5.3-codex-spark default", "gpt-5.6-luna low"]),
        ({"RECALL_COMPRESS_MODEL": "mine"}, ["mine default", "gpt-5.3-codex-spark default", "gpt-5.6-luna low"]),
        (
            {"RECALL_COMPRESS_THINKING": "high"},
            ["gpt-5.3-codex-spark high", "gpt-5.3-codex-spark default", "gpt-5.6-luna low"],
        ),
        (
            {"RECALL_COMPRESS_MODEL": "gpt-5.6-luna", "RECALL_COMPRESS_THINKING": "low"},
            ["gpt-5.6-luna low", "gpt-5.3-codex-spark default"],
        ),
        (
            {"RECALL_COMPRESS_MODEL": "gpt-5.3-codex-spark", "RECALL_COMPRESS_THINKING": "default"},
            ["gpt-5.3-codex-spark default", "gpt-5.6-luna low"],
        ),
    ],
)
def test_candidates_come_in_the_designs_order_each_once(machine, environ, expected):
    machine.set(**environ)
    found = candidates(Settings(machine.services))
    assert [f"{one.model} {one.thinking}" for one in found] == expected


def test_a_start_picks_the_first_that_codex_lists_and_prompts_go_by_it(machine, codex):
    machine.set(RECALL_COMPRESS=1, RECALL_COMPRESS_MODEL="mine")
    codex.lists("another", "gpt-5.6-luna")
    machine.start()
    assert profile(machine)["profile"]["model"] == "gpt-5.6-luna"
    codex.lists("mine")
    ask(machine)
    assert codex.seen[-1]["argv"][:4] == ["-m", "gpt-5.6-luna", "-c", 'model_reasoning_effort="low"'], "no probing"
    machine.start("resume")
    ask(machine)
    assert codex.seen[-1]["argv"][:3] == ["-m", "mine", "--sandbox"]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"models": 7}', '{"models": [7, {"slug": "x"}]}'])
def test_without_a_list_the_first_candidate_is_taken(machine, codex, content):
    codex.lists()
    if content is not None:
        (codex.folder / "home" / "models_cache.json").write_text(content)
    machine.set(RECALL_COMPRESS=1)
    machine.start()
    assert profile(machine)["profile"] == {
        "enabled": True, "source": "assumed", "model": "gpt-5.3-codex-spark", "thinking": "default",
    }  # fmt: skip


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schemaVersion": 2}', '{"schemaVersion": 3, "configKey": 1}'])
def test_a_profile_that_is_missing_damaged_or_of_other_settings_is_not_used(machine, codex, content):
    machine.set(RECALL_COMPRESS=1)
    machine.start()
    path = machine.state_folder() / FILE
    path.unlink()
    if content is not None:
        path.write_text(content)
    machine.set(RECALL_COMPRESS_MODEL="mine")
    assert "one subject each" in ask(machine)
    assert codex.seen[-1]["argv"][1] == "mine"


def test_a_short_recall_is_told_as_it_is(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    machine.server.memory.context = [{"uri": STYLE, "category": "preferences", "text": "Prefers small commits."}]
    assert PLAIN in ask(machine)
    assert codex.seen == []
    machine.set(RECALL_COMPRESS_MIN_INPUT_CHARS=0)
    assert "one subject each" in ask(machine)


def test_no_more_is_sent_than_is_allowed(machine, codex):
    machine.set(RECALL_COMPRESS=1, RECALL_COMPRESS_MAX_INPUT_CHARS=2_000)
    machine.server.memory.context = [
        {"uri": f"viking://~/{number}.md", "category": "events", "text": f"number {number} " + "记" * 900}
        for number in range(9)
    ]
    ask(machine)
    entries = codex.seen[-1]["stdin"].partition("Memory entries:\n")[2]
    assert len(entries) <= 2_001
    assert "number 1 " in entries
    assert "number 2 " not in entries


def test_nothing_relevant_is_nothing_told(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    codex.says("NO_RELEVANT_MEMORY\n")
    assert ask(machine) == ""


def test_an_answer_that_is_none_leaves_the_plain_digest_and_the_model_on(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    codex.says("I am sorry, I cannot help with that.")
    assert PLAIN in ask(machine)
    ask(machine)
    assert len(codex.seen) == 2


def test_an_address_that_nobody_served_drops_its_bullet(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    codex.says(f"- made up. source: viking://elsewhere/entirely/different.md\n- good. source: {STYLE[:-1]}")
    said = ask(machine)
    assert "made up" not in said
    assert f"- good. source: {STYLE}" in said


BREAKAGES = {
    "missing": lambda codex: codex.path.unlink(),
    "not executable": lambda codex: codex.path.chmod(0o644),
    "fails": lambda codex: codex.says("", does="print('no model', file=sys.stderr); sys.exit(3)"),
    "says nothing": lambda codex: codex.says("", does="sys.exit(0)"),
    "hangs": lambda codex: codex.says("", does="time.sleep(60)"),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_failure_leaves_the_plain_digest_and_is_not_repeated_before_the_next_start(machine, codex, breakage):
    machine.set(RECALL_COMPRESS=1, RECALL_COMPRESS_TIMEOUT_MS=1_000)
    BREAKAGES[breakage](codex)
    assert PLAIN in ask(machine)
    assert [event for event, _ in machine.log.warnings] == ["recall was not shortened"]
    assert profile(machine)["profile"] == {"enabled": False, "source": "runtime_failed"}
    codex.says(f"- Back again. source: {STYLE}")
    before = len(codex.seen)
    assert PLAIN in ask(machine)
    assert len(codex.seen) == before
    machine.start()
    assert "Back again." in ask(machine)


def test_it_never_outlasts_the_recall(machine, codex):
    machine.set(RECALL_COMPRESS=1)
    codex.says("", does="time.sleep(60)")
    machine.services.deadline = WorkDeadline(2.5)
    began = time.monotonic()
    assert PLAIN in ask(machine)
    assert time.monotonic() - began < 30
