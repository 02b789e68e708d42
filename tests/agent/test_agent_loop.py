"""The turns of an agent: what it is told, where it ends, and how long a conversation may get."""

import itertools

import pytest
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import PROMPT_MARK
from codexmem_hookspecs.values.models import ToolCall, Turn, Usage

from codexmem_core.consolidate.agent import GaveUp, Limits
from codexmem_core.consolidate.conversation import LEFT_OUT


def numbered(script):
    """Turns that never repeat themselves."""
    numbers = itertools.count(1)
    return lambda _: script.calling("grep", pattern=f"word {next(numbers)}")


def test_the_model_is_told_the_limits_and_the_sessions_mark(agent_with):
    system, prompt = agent_with().model.requests[0].messages
    assert system.role == "system"
    assert "You may write only MEMORY.md, memory_summary.md, skills/**" in system.text
    assert "40 replies" in system.text
    assert PROMPT_MARK in system.text
    assert (prompt.role, prompt.text) == ("user", "Go.")


def test_every_call_of_a_turn_is_answered_in_order(agent_with, script):
    calls = tuple(ToolCall(id=f"c{n}", name="grep", arguments={"pattern": f"w{n}"}) for n in range(3))
    run = agent_with(Turn(text="let me look", calls=calls), Turn(text="done"))
    _, _, said, *answers = run.model.requests[1].messages
    assert (said.role, said.text, said.calls) == ("assistant", "let me look", calls)
    assert [(answer.role, answer.answers) for answer in answers] == [("tool", f"c{n}") for n in range(3)]
    assert (run.done.turns, run.done.calls) == (2, 3)


def test_a_loop_that_never_ends_is_ended_after_forty_turns(agent_with, script):
    step = numbered(script)
    seen = []
    with pytest.raises(GaveUp, match="not done after 40 turns"):
        agent_with(lambda request: seen.append(1) or step(request), again=True)
    assert len(seen) == 40


def test_a_model_that_repeats_itself_is_ended_sooner(agent_with, script):
    seen = []
    with pytest.raises(GaveUp, match="the same 6 times in a row"):
        agent_with(lambda _: seen.append(1) or script.calling("read", path="MEMORY.md"), again=True)
    assert len(seen) == 6


def test_the_same_call_with_other_results_is_no_circle(agent_with, script):
    numbers = itertools.count(1)
    write = lambda _: script.calling("write", path="skills/x.md", content=f"{next(numbers)}\n")  # noqa: E731
    read = script.calling("read", path="skills/x.md")
    run = agent_with(*(turn for _ in range(8) for turn in (write, read)))
    assert run.done.turns == 17


def test_tokens_are_counted_and_limited(agent_with, script):
    step = numbered(script)

    def costly(request):
        turn = step(request)
        return Turn(calls=turn.calls, usage=Usage(tokens_in=900, tokens_out=100))

    with pytest.raises(GaveUp, match="used 5000 tokens, more than the 4999"):
        agent_with(costly, again=True, limits=Limits(tokens=4_999))


def test_tokens_are_estimated_when_the_provider_does_not_count(agent_with, script):
    with pytest.raises(GaveUp, match="more than the 10 of one job"):
        agent_with(numbered(script), again=True, limits=Limits(tokens=10))


def test_a_flood_of_calls_in_one_turn_is_not_carried_out(agent_with, script):
    calls = tuple(
        ToolCall(id=f"c{n}", name="write", arguments={"path": f"skills/{n}.md", "content": "x"}) for n in range(50)
    )
    run = agent_with(Turn(calls=calls))
    assert len(run.draft.written) == 32
    assert run.model.results[-1].startswith("write error: the call could not be understood: only 32 calls")


def test_old_results_are_left_out_when_the_conversation_grows_too_long(agent_with, script, world):
    (world.root / "raw_memories.md").write_text(("word " * 20 + "\n") * 400)
    steps = [script.calling("read", path="raw_memories.md", offset=n, limit=100) for n in range(1, 12)]
    run = agent_with(*steps, budget_bytes=40_000)
    last = run.model.requests[-1].messages
    assert all(sum(len(m.text) for m in request.messages) <= 40_000 for request in run.model.requests)
    assert [m.text for m in last[:2]] == [m.text for m in run.model.requests[0].messages]
    texts = [message.text for message in last if message.role == "tool"]
    assert len(texts) == 11
    assert texts[0] == LEFT_OUT
    assert texts[-1].startswith("raw_memories.md, lines 11 to 110")


def test_old_arguments_are_left_out_too(agent_with, script):
    steps = [script.calling("write", path=f"skills/{n}.md", content=str(n) * 9_000) for n in range(8)]
    run = agent_with(*steps, budget_bytes=30_000)
    calls = [call for message in run.model.requests[-1].messages for call in message.calls]
    assert calls[0].arguments == {"path": "skills/0.md", "content": LEFT_OUT}
    assert calls[-1].arguments["content"] == "7" * 9_000
    assert len(run.draft.written) == 8


def test_an_overflow_shrinks_the_conversation_once(agent_with, script, world):
    (world.root / "raw_memories.md").write_text(("word " * 20 + "\n") * 400)
    reads = [script.calling("read", path="raw_memories.md", offset=n, limit=100) for n in range(1, 5)]
    run = agent_with(*reads, ModelRefused("too long", "overflow"), Turn(text="done"))
    full, half = (sum(len(m.text) for m in request.messages) for request in run.model.requests[-2:])
    assert half < full / 2 + 200


def test_a_second_overflow_is_the_end(agent_with, script):
    overflow = ModelRefused("too long", "overflow")
    with pytest.raises(ModelRefused, match="too long"):
        agent_with(overflow, overflow, Turn(text="never"))


def test_other_refusals_end_it_at_once(agent_with):
    with pytest.raises(ModelRefused, match="busy"):
        agent_with(ModelRefused("busy", "capacity", 30), Turn(text="never"))
