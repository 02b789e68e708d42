"""A day of real conversations before a real server, whose requests are cut off and whose programs are killed."""

import random
import re
from collections import Counter
from itertools import cycle

import pytest
from cutting_proxy import CUTS, CuttingProxy
from killed_worker import WorkerKiller
from realhosts.conversation import until

WORD = re.compile(r"\b(?:harbor|pier)-\d+\b")
SETTINGS = {
    "timeout_ms": 2000,
    "capture_timeout_ms": 2000,
    "commit_token_threshold": 1000,
    "commit_keep_recent_count": 1,
    "auto_recall": False,
    "no_auto_inject": True,
    "resume_archive_inject": False,
}
TOLD_S = 120.0


@pytest.fixture
def proxy(openviking):
    with CuttingProxy(openviking.url) as proxy:
        yield proxy


class Day:
    """Codex's sessions of a day. ``happens`` comes between two turns."""

    def __init__(self, codex, happens):
        self.codex = codex
        self.happens = happens
        self.words = []

    def turn(self, session, **more):
        asked, answered = self._next("harbor"), self._next("pier")
        session.say(f"Remember {asked}. {'The quay is long. ' * 60}", {"text": f"Noted {answered}."}, **more)
        self.happens()

    def killed_turn(self, machine):
        asked = self._next("harbor")
        running = self.codex.begin(f"Remember {asked}.", {"text": "ok", "hold": True}).until_asked()
        machine.until_written_by_host(asked)
        running.kill()
        self.happens()

    def _next(self, name):
        self.words.append(f"{name}-{len(self.words)}")
        return self.words[-1]


def test_every_turn_is_there_and_none_twice_but_what_was_stored_unanswered(ov, machine, codex, proxy):
    machine.belongs_to(ov, url=proxy.url, **SETTINGS)
    chance = random.Random(11)
    states = machine.home / ".openviking" / "codex-plugin-state"
    kill_the_worker = WorkerKiller(
        machine.memory_home, states, proxy, lambda: machine.codexmem("hook", "codex", "UserPromptSubmit")
    )

    def something_happens():
        proxy.up()
        if chance.random() < 0.4:
            kill_the_worker()
        else:
            until(machine.everything_is_told, "the last event to be told", TOLD_S)

    proxy.kill = kill_the_worker
    cuts = cycle(sorted(CUTS, reverse=True))
    proxy.choose = lambda _method, _path: next(cuts) if chance.random() < 0.5 else ""
    day = Day(codex, something_happens)
    with codex.stay_open() as session:
        for _ in range(3):
            day.turn(session)
        session.compact()
        day.turn(session)
        session.clear()
        day.turn(session)
    day.turn(codex)
    day.turn(codex, resume=True)
    day.killed_turn(machine)
    day.turn(codex)

    proxy.choose = lambda _method, _path: ""
    proxy.up()
    kill_the_worker.no_start().close()
    codex.say("That was all.")
    until(machine.everything_is_told, "the last event to be told", TOLD_S)
    arrived = Counter(word for name in ov.sessions() for _, text in ov.messages(name) for word in WORD.findall(text))
    assert len(proxy.cuts) > len(CUTS) / 2, proxy.requests
    assert kill_the_worker.kills
    assert arrived == {word: 1 + proxy.times_lost(word) for word in day.words}
