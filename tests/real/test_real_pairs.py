"""What was said in one host is known in the next session of any host, with no command of ours in between."""

FACT = "the harbor service is released with the lighthouse script"


def test_a_fact_told_in_one_host_is_in_the_first_request_of_the_next_session(machine, first, second):
    told = first.say(f"Remember for all my projects: {FACT}, never by hand.", {"text": "Noted."})
    assert told.status == 0
    machine.until_known(FACT, second)
    assert FACT in second.say("What shall we do today?").told
