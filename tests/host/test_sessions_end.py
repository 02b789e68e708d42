"""Sessions that end without saying so are learned from all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "ok"))


class Agent:
    """A host's process."""

    def __init__(self, hooks):
        program = os.path.join(os.path.dirname(__file__), "programs", "agent.py")
        self.hooks = hooks
        self.process = subprocess.Popen(
            [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=hooks.environ, text=True
        )

    def fire(self, event, session, **more):
        payload = self.hooks.payload(event.partition("-")[0], session, **more)
        asked = {"command": [str(word) for word in self.hooks.command(event)], "payload": payload}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


@pytest.fixture
def agent(hooks):
    started = Agent(hooks)
    yield started
    if started.process.poll() is None:
        started.end(signal.SIGKILL)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_host_that_is_killed_in_the_middle_of_a_turn_loses_nothing(hooks, agent, eventually, how):
    agent.fire("SessionStart-startup", "s1", source="startup")
    agent.fire("UserPromptSubmit", "s1", prompt="go on")
    hooks.say("s1", *RULE)
    eventually(hooks.is_quiet)
    agent.end(how)
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


def test_a_host_that_lives_is_not_learned_from_early(hooks, agent, eventually):
    agent.fire("SessionStart-startup", "s1", source="startup")
    hooks.say("s1", *RULE)
    agent.fire("Stop", "s1")
    eventually(lambda: hooks.passes() and hooks.is_quiet())
    before = len(hooks.passes())
    agent.fire("Stop", "s1")
    eventually(lambda: len(hooks.passes()) > before)
    assert hooks.ready("SessionStart-startup") == b""
    assert hooks.catalogue("SELECT count(*) FROM session_ends") == 0


def test_a_host_that_was_killed_while_no_worker_ran_is_noticed_by_the_next_one(hooks, agent, eventually):
    agent.fire("SessionStart-startup", "s1", source="startup")
    hooks.say("s1", *RULE)
    hooks.worker_soon()
    eventually(hooks.is_quiet)
    hooks.cli("worker", "--stop")
    agent.end()
    hooks.cli("run")
    assert b"linter" in hooks.ready("SessionStart-startup")


def test_a_session_that_was_cleared_has_ended_although_its_host_goes_on(hooks, agent, eventually):
    agent.fire("SessionStart-startup", "s1", source="startup")
    hooks.say("s1", *RULE)
    agent.fire("Stop", "s1")
    agent.fire("SessionStart-clear", "s2", source="clear")
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")


def test_a_session_that_is_taken_up_again_has_not_ended(hooks, agent, eventually):
    agent.fire("SessionStart-startup", "s1", source="startup")
    agent.fire("SessionStart-clear", "s2", source="clear")
    agent.fire("UserPromptSubmit", "s1", prompt="one more thing")
    hooks.worker_soon()
    eventually(hooks.is_quiet)
    eventually(lambda: hooks.catalogue("SELECT count(*) FROM events") == 3)
    assert hooks.catalogue("SELECT count(*) FROM session_ends") == 0


def test_an_end_that_was_told_is_told_once(hooks, agent, eventually):
    agent.fire("SessionStart-startup", "s1", source="startup")
    agent.fire("SessionEnd", "s1", reason="other")
    hooks.worker_soon()
    eventually(hooks.is_quiet)
    agent.end()
    hooks.call("Stop", hooks.payload("Stop", "s2"))
    eventually(lambda: hooks.is_quiet() and hooks.catalogue("SELECT count(*) FROM events") == 3)
    assert hooks.catalogue("SELECT count(*) FROM events WHERE kind = 'end'") == 1


def test_a_host_with_another_home_than_the_workers_is_learned_from(hooks, eventually):
    hooks.call("Stop", hooks.payload("Stop", "s1"))
    hooks.worker_soon()
    eventually(hooks.is_quiet)
    hooks.codex = hooks.folder / "elsewhere"
    hooks.say("s2", *RULE)
    hooks.say("s3", ("user", "Never learn this, nobody told of it."), ("assistant", "ok"))
    hooks.call("SessionEnd", hooks.payload("SessionEnd", "s2"), CODEX_HOME=str(hooks.codex))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")
    assert hooks.catalogue("SELECT group_concat(id) FROM sessions") == "s2"
