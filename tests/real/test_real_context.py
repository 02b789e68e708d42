"""The memory is in front of the model once: in a new session, a resumed one, after a compaction and after a clear."""

import pytest
from realhosts.conversation import until


@pytest.fixture
def known(machine, host):
    """Words that the memory holds once."""
    return machine.remember_the_sample()


def test_a_new_session_is_told_once(host, known):
    assert host.say("What shall we do?").told.count(known) == 1


def test_every_request_of_a_session_has_the_memory_once(host, known):
    conversation = host.say("Count for me", host.shell("echo lantern-$((40 + 2))"))
    assert "lantern-42" in conversation.told_last
    assert conversation.told_last.count(known) == 1


def test_a_resumed_session_is_not_told_twice(host, known):
    host.say("What shall we do?")
    assert host.say("And now?", resume=True).told.count(known) == 1
    assert host.say("And then?", resume=True).told.count(known) == 1


def test_a_compacted_session_is_told_again(host, known):
    with host.stay_open() as session:
        session.say("What shall we do?")
        assert session.say("And now?").told.count(known) == 1
        session.compact()
        assert session.say("And then?").told.count(known) == 1


def test_a_cleared_session_is_told_again(host, known):
    with host.stay_open() as session:
        session.say("What shall we do?")
        session.clear()
        assert session.say("And now?").told.count(known) == 1


def test_a_session_that_ended_long_before_is_told_what_came_since(machine, host):
    host.say("What shall we do?")
    known = machine.remember_the_sample()

    def told():
        """The worker is asked for a second; when it is late, nothing is told, and the next resume asks again."""
        told = host.say("And now?", resume=True).told
        return known in told and told

    assert until(told, "what came since").count(known) == 1


def test_what_the_memory_told_is_not_learned_again(machine, host, known):
    """The host writes it into its transcript, beside what the person says."""
    recaps = machine.memory_home / "memories" / "rollout_summaries"
    before = {path for path in recaps.iterdir() if known in path.read_text(encoding="utf-8")}
    host.say("Remember for all my projects: the beacon is painted in red, never in green.", {"text": "Noted."})
    machine.until_known("the beacon is painted in red", host)
    assert {path for path in recaps.iterdir() if known in path.read_text(encoding="utf-8")} == before
