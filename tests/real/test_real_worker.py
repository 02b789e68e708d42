"""One worker, whatever the hosts do; and hosts that do not notice what it does."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from realhosts.conversation import until

FACT = "the harbor service is released with the lighthouse script"
PROMPT = f"Remember for all my projects: {FACT}, never by hand."
STORM = 200


@pytest.fixture
def worker(machine, host):
    """The one that a session started; it knows that session."""
    host.say("The beacon is painted in red, always remember that.")
    machine.until_known("The beacon is painted in red", host)
    return machine.the_worker()


def test_a_worker_ends_when_it_is_told_to_and_leaves_no_process(machine, worker):
    os.kill(worker, signal.SIGTERM)
    until(lambda: not machine.processes(), "the worker's end")


def test_a_worker_that_hangs_harms_no_session_and_is_replaced(machine, host, worker):
    known = machine.remember_the_sample()
    os.kill(worker, signal.SIGSTOP)
    machine.let_the_worker_be_silent_for(minutes=2)
    conversation = host.say(PROMPT, {"text": "Noted."})
    assert conversation.status == 0
    assert "Noted." in conversation.printed
    assert known in conversation.told
    machine.until_known(FACT, host)
    assert machine.the_worker() != worker


def test_a_worker_that_was_killed_is_replaced_and_nothing_is_lost(machine, host, worker):
    os.kill(worker, signal.SIGKILL)
    host.say(PROMPT, {"text": "Noted."})
    machine.until_known(FACT, host)
    assert machine.the_worker() != worker


def test_a_storm_of_two_hundred_hooks_from_all_hosts_at_once_is_taken_in_by_one_worker(machine, hosts):
    """Each turn of a session that stays open is a hook."""

    def say_much(host):
        with host.stay_open() as session:
            session.turn(f"{PROMPT} I said so in {host.name}.")
            for turn in range(STORM // len(hosts)):
                session.turn(f"Go on with step {turn}.")

    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(say_much, host) for host in hosts]:
            done.result()
    machine.the_worker()
    for host in hosts:
        machine.until_known(f"I said so in {host.name}", host)
    until(lambda: not machine.waiting_events(), "an empty spool")
    machine.the_worker()
