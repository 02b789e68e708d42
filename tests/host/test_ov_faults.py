"""A day of sessions in front of an OpenViking server whose requests are cut off, and of processes that are killed.

Afterwards every turn is on the server, in its order, and none twice but those that the server had stored when their
answer was lost: exactly as often as the proxy in between counted.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import time
from collections import Counter

import pytest
from cutting_proxy import AFTER, CUTS, CuttingProxy
from fake_openviking import FakeOpenViking
from killed_worker import WorkerKiller

TOKEN = re.compile(r"\b[a-z]\d-turn-\d+\b")
SETTINGS = {
    "OPENVIKING_CODEX_IDLE_TTL_MS": "1",
    "OPENVIKING_COMMIT_TOKEN_THRESHOLD": "1000",
    "OPENVIKING_COMMIT_KEEP_RECENT_COUNT": "1",
    "OPENVIKING_AUTO_RECALL": "0",
    "OPENVIKING_NO_AUTO_INJECT": "1",
    "OPENVIKING_RESUME_ARCHIVE_INJECT": "0",
}
IMPATIENT = {"OPENVIKING_TIMEOUT_MS": "1000", "OPENVIKING_CAPTURE_TIMEOUT_MS": "1000"}
DAY = (
    ("SessionStart-startup", "a1"), ("say", "a1"), ("Stop", "a1"), ("say", "a1"), ("say_much", "a1"), ("Stop", "a1"),
    ("say", "a1"), ("PreCompact", "a1"), ("say", "a1"), ("Stop", "a1"), ("SessionEnd", "a1"),
    ("SessionStart-startup", "b1"), ("say", "b1"), ("Stop", "b1"), ("say", "b1"),
    ("SessionStart-clear", "c1"), ("say", "c1"), ("Stop", "c1"), ("say", "c1"), ("SessionEnd", "c1"),
    ("SessionStart-resume", "a1"), ("say", "a1"), ("Stop", "a1"), ("SessionEnd", "a1"),
    ("SessionStart-startup", "d1"), ("say", "d1"), ("SessionEnd", "d1"),
)  # fmt: skip
"""Of b1 no end is ever told."""


class Day:
    """Sessions of Codex on one machine, the hooks of which are called, and what a server should hold of them."""

    def __init__(self, hooks, proxy):
        self.hooks = hooks
        self.proxy = proxy
        self.said = {}
        hooks.with_openviking(proxy.url, **SETTINGS)
        states = hooks.folder / ".openviking" / "codex-plugin-state"
        self.kill_the_worker = proxy.kill = WorkerKiller(hooks.home, states, proxy, self.wake_a_worker)

    def live(self, *, after_each=lambda: None):
        for what, session in DAY:
            if what == "say":
                self.say(session)
            elif what == "say_much":
                self.say(session, "The quay is long and the ships are many. " * 150)
            else:
                self.fire(what, session)
                after_each()

    def say(self, session, more=""):
        said = self.said.setdefault(session, [])
        turns = [f"{session}-turn-{len(said) + number}" for number in (1, 2)]
        said += turns
        self.hooks.say(session, ("user", f"Remember {turns[0]}. {more}"), ("assistant", f"Noted {turns[1]}."))

    def fire(self, event, session):
        self.proxy.up()
        self.hooks.call(event, self.payload(event, session))

    def payload(self, event, session):
        name, _, source = event.partition("-")
        return self.hooks.payload(name, session, **({"source": source} if source else {}))

    def kill_a_hook(self, event, session, *, after_s):
        """The hook of an event, killed on its way."""
        with subprocess.Popen(
            self.hooks.command(event), stdin=subprocess.PIPE, cwd=self.hooks.project, env=self.hooks.environ
        ) as hook:
            hook.stdin.write(json.dumps(self.payload(event, session)).encode())
            time.sleep(after_s)
            hook.kill()

    def wake_a_worker(self):
        self.hooks.call("UserPromptSubmit", self.payload("UserPromptSubmit", "z1"))

    def settled(self):
        """Whether every event was told."""
        waiting = self.hooks.rows("catalog.db", "SELECT count(*) FROM deliveries WHERE state = 'pending'")
        return not self.hooks.spool.names() and waiting == [(0,)]

    def close(self, eventually):
        """The server is well again, and nobody is killed: another session begins, and then ends."""
        self.proxy.choose = lambda _method, _path: ""
        self.kill_the_worker.no_start().close()
        for event in ("SessionStart-startup", "SessionEnd"):
            self.fire(event, "e1")
            eventually(self.settled, f"everything told: {self.hooks.log()[-5:]}")

    def assert_arrived(self, server):
        for session, said in self.said.items():
            arrived = TOKEN.findall(json.dumps(server.session(f"cx-{session}").everything))
            assert Counter(arrived) == {turn: 1 + self.proxy.times_lost(turn) for turn in said}, session
            assert list(dict.fromkeys(arrived)) == said, session


@pytest.fixture
def ov_server():
    with FakeOpenViking() as server:
        yield server


@pytest.fixture
def proxy(ov_server):
    with CuttingProxy(ov_server.url) as proxy:
        yield proxy


@pytest.fixture
def day(hooks, proxy):
    return Day(hooks, proxy)


def some(cut):
    """Cuts two of each kind of request, whichever session it is about."""
    seen = Counter()

    def choose(method, path):
        kind = (method, path.rpartition("/")[2] if method == "POST" else path.count("/"))
        seen[kind] += 1
        return cut if seen[kind] in (1, 4) else ""

    return choose


def test_a_day_without_faults_brings_every_turn_once(day, proxy, ov_server, eventually):
    day.live()
    day.close(eventually)
    day.assert_arrived(ov_server)
    assert proxy.lost == {}


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_of_any_request_loses_no_turn_and_doubles_only_what_was_stored_unanswered(
    day, proxy, ov_server, eventually, cut
):
    proxy.choose = some(cut)
    day.hooks.environ |= IMPATIENT if cut.startswith("silence") else {}
    day.live(after_each=lambda: eventually(day.settled))
    day.close(eventually)
    assert {request.rpartition("/")[2] for _, request, made in proxy.requests if made} > {"health", "batch", "commit"}
    day.assert_arrived(ov_server)
    assert proxy.lost or cut not in AFTER


def test_processes_that_are_killed_at_any_time_lose_no_turn_and_double_only_what_was_stored(
    day, proxy, ov_server, eventually
):
    chance = random.Random(7)
    proxy.choose = lambda _method, _path: chance.choice(CUTS) if chance.random() < 0.2 else ""
    day.hooks.environ |= IMPATIENT

    def kill_something():
        if chance.random() < 0.3:
            day.kill_a_hook("Stop", chance.choice(("a1", "b1", "c1")), after_s=chance.uniform(0, 0.02))
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 0.5))
            day.kill_the_worker()

    day.live(after_each=kill_something)
    day.close(eventually)
    assert day.kill_the_worker.kills
    day.assert_arrived(ov_server)
