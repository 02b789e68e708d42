"""Which ends nobody told of: a host's process is gone, and everything that it told has been taken in."""

from __future__ import annotations

import subprocess
import threading

import pytest

from codexmem_core.pipeline import take_in_events
from codexmem_core.store.workers import process_started

LONG_ENOUGH_S = 2.0
"""For the other one to take everything in, if nothing held it up."""


class Meanwhile:
    """A host of which something happens while its first event is taken in."""

    def __init__(self, host, happens):
        self._host, self._happens = host, happens

    def __getattr__(self, name):
        return getattr(self._host, name)

    def decode(self, event, payload, at_ms):
        happens, self._happens = self._happens, None
        if happens:
            happens()
        return self._host.decode(event, payload, at_ms)


@pytest.fixture
def gone():
    """The header that the hooks of a process wrote that has ended."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        return f" pid={process.pid} started={process_started(process.pid)}"


@pytest.fixture
def told(machine, gone):
    def fire(event):
        machine.ms += 1_000
        payload = b'{"session_id": "s1", "transcript_path": "/s1.jsonl", "cwd": "/home/user/proj"}'
        machine.engine().spool.write("codex", event, payload, at_ms=machine.ms, header=gone)

    return fire


def kinds_of_ends(machine):
    return [kind for session, kind in machine.listener.heard if kind == "end"]


def test_a_process_that_went_without_a_word_is_heard_of_at_the_next_look(machine, told):
    told("SessionStart-startup")
    machine.run()
    assert kinds_of_ends(machine) == ["end"]


def test_an_end_that_comes_while_the_spool_is_read_is_not_told_a_second_time(machine, told):
    told("SessionStart-startup")
    engine = machine.engine()
    engine.hosts["codex"] = Meanwhile(engine.hosts["codex"], lambda: told("SessionEnd"))
    take_in_events(engine)
    machine.run()
    assert kinds_of_ends(machine) == ["end"]


def test_two_that_take_events_in_at_once_do_not_put_a_start_behind_its_end(machine, told):
    told("SessionStart-startup")
    told("SessionEnd")
    first, second = machine.engine(), machine.engine()
    other = threading.Thread(target=take_in_events, args=(second,))

    def begin_the_other():
        other.start()
        other.join(LONG_ENOUGH_S)

    first.hosts["codex"] = Meanwhile(first.hosts["codex"], begin_the_other)
    take_in_events(first)
    other.join()
    machine.run()
    assert kinds_of_ends(machine) == ["end"]
