"""What was said is remembered although the program never said that the session was over."""

import signal

import pytest

FACT = "the harbor service is released with the lighthouse script"
PROMPT = f"Remember for all my projects: {FACT}, never by hand."


@pytest.fixture
def in_the_middle(machine, host):
    """A turn whose model has been asked and does not answer; the host has written down what was said."""
    running = host.begin(PROMPT, {"text": "Noted.", "hold": True}).until_asked()
    machine.until_written_by_host(FACT)
    return running


def known_after_another_session(machine, host):
    host.say("What shall we do?")
    machine.until_known(FACT, host)
    return host.say("What shall we do?").told


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_session_that_was_ended_in_the_middle_of_a_turn_is_remembered(machine, host, in_the_middle, ending):
    in_the_middle.end(ending)
    assert FACT in known_after_another_session(machine, host)


def test_a_session_that_was_killed_in_the_middle_of_a_turn_is_remembered(machine, host, in_the_middle):
    in_the_middle.kill()
    assert FACT in known_after_another_session(machine, host)


def test_a_session_whose_turn_failed_is_remembered(machine, host):
    host.say(PROMPT, {"error": 400, "message": "The request was refused.", "repeat": True})
    assert FACT in known_after_another_session(machine, host)
