"""What was said is remembered although the program never said that the session was over."""

import signal

FACT = "the {} service is released with the lighthouse script"


def prompt(service):
    return f"Remember for all my projects: {FACT.format(service)}, never by hand."


def in_the_middle(machine, host, service):
    """A turn whose model has been asked and does not answer; the host has written down what was said."""
    running = host.begin(prompt(service), {"text": "Noted.", "hold": True}).until_asked()
    machine.until_written_by_host(FACT.format(service))
    return running


def test_a_session_that_was_terminated_in_the_middle_of_a_turn_is_remembered_by_the_next(machine, host):
    in_the_middle(machine, host, "harbor").end(signal.SIGTERM)
    host.say("What shall we do?")
    machine.until_known(FACT.format("harbor"), host)
    assert FACT.format("harbor") in host.say("What shall we do?").told


def test_however_a_session_broke_off_it_is_remembered(machine, host):
    in_the_middle(machine, host, "ferry").end(signal.SIGINT)
    in_the_middle(machine, host, "crane").end(signal.SIGHUP)
    in_the_middle(machine, host, "beacon").kill()
    host.say(prompt("buoy"), {"error": 400, "message": "The request was refused.", "repeat": True})
    host.say("What shall we do?")
    for service in ("ferry", "crane", "beacon", "buoy"):
        machine.until_known(FACT.format(service), host)
