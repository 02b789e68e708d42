"""An answer that its host writes down a moment after its hook is sent a moment later, and once."""

import pytest
from codexmem_hookspecs.errors import TryLater

ASKED, ANSWER = "Port the parser to the new grammar.", "The parser is ported,\nand every test of it passes."


@pytest.fixture
def talk(machine):
    return machine.conversation(host="claude").user(ASKED)


def test_a_stop_whose_answer_is_there_is_done(machine, talk):
    talk.agent(ANSWER).stop(answer=f"{ANSWER}\n")
    assert talk.stored.texts == [ASKED, ANSWER]


def test_one_whose_answer_is_not_there_yet_is_told_again_soon(machine, talk):
    with pytest.raises(TryLater, match="not in its transcript yet") as later:
        talk.stop(answer=ANSWER)
    assert later.value.after_s <= 5
    assert talk.stored.texts == [ASKED], "what is there goes out at once"
    at_ms = machine.clock.now_ms()
    talk.agent(ANSWER).stop(at_ms=at_ms, answer=ANSWER)
    assert talk.stored.texts == [ASKED, ANSWER]
    talk.user("Now the tests of it, please.").agent("They are ported as well.").stop(answer="They are ported as well.")
    talk.end()
    assert talk.stored.texts == [ASKED, ANSWER, "Now the tests of it, please.", "They are ported as well."]


def test_what_the_agent_said_on_its_way_is_not_its_answer(talk):
    talk.agent("I look at the grammar first.").tool()
    with pytest.raises(TryLater):
        talk.stop(answer=ANSWER)


def test_an_answer_that_never_comes_is_not_waited_for_for_long(machine, talk):
    at_ms = machine.clock.now_ms()
    machine.pass_time(60_000)
    talk.stop(at_ms=at_ms, answer=ANSWER)
    talk.agent(ANSWER).end()
    assert talk.stored.texts == [ASKED, ANSWER]


def test_what_happened_since_then_is_not_held_up(talk):
    talk.stop(answer=ANSWER, newer=("end",))
    talk.agent(ANSWER).end()
    assert talk.stored.texts == [ASKED, ANSWER]


@pytest.mark.parametrize("blocks", [("The parser is ported.", "Each test passes."), ("Each test passes.",)])
def test_a_host_may_tell_several_blocks_or_only_the_last(talk, blocks):
    talk.agent("The parser is ported.", "Each test passes.")
    talk.stop(answer="\n\n".join(blocks))


def test_an_answer_that_is_not_sent_is_there_all_the_same(machine, talk):
    machine.set(CAPTURE_ASSISTANT_TURNS="0")
    talk.agent(ANSWER).stop(answer=ANSWER)
    assert talk.stored.texts == [ASKED]


def test_a_server_that_is_away_is_not_a_late_answer(machine, talk):
    machine.lose_server()
    talk.stop(answer=ANSWER)
