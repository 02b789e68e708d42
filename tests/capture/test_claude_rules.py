"""What becomes of Claude Code's sessions, however they begin and end: played back from what it really did."""

from __future__ import annotations

import json
import uuid

import pytest

PREFERS = "Always run the linter before a commit in this repository."
RECORDED = "02e4a66a"


def said(role, content, session, at="2026-11-30T15:30:00.000Z", **more):
    return {
        "type": role,
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}{role}{content}")),
        "sessionId": session,
        "cwd": "/home/user/proj",
        "timestamp": at,
        "message": {"role": role, "content": content},
        **more,
    }


@pytest.fixture
def parts(recorded):
    """The three parts of one recorded session: begun, continued, compacted; each the payloads of its hooks."""
    payloads = recorded("claude", RECORDED)
    ends = [number for number, p in enumerate(payloads, 1) if p["hook_event_name"] == "SessionEnd"]
    cut = [payloads[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    by_source = {
        "compact" if any(p["hook_event_name"] == "PreCompact" for p in part) else part[0]["source"]: part
        for part in cut
    }
    return by_source["startup"], by_source["resume"], by_source["compact"]


@pytest.fixture
def session(parts):
    return parts[0][0]["session_id"]


@pytest.fixture
def lines(transcript):
    """Lines of the three parts."""
    recorded = transcript("claude", "tool-resume-compact.jsonl")
    return recorded[:12], recorded[12:19], recorded[19:]


def test_at_the_start_there_is_no_transcript_yet_and_nothing_fails(machine, parts, session):
    begun, _, _ = parts
    machine.fire("claude", *[p for p in begun if p["hook_event_name"] in ("SessionStart", "UserPromptSubmit")])
    report = machine.run()
    assert report.sessions["discovered"] == 0
    assert report.warnings == ()
    machine.fire("claude", *[p for p in begun if p["hook_event_name"] == "Stop"])
    assert machine.run().warnings == ()
    assert machine.listener.heard == [(session, kind) for kind in ("start", "prompt", "stop")]


def test_begun_continued_and_compacted_it_is_one_session_and_learned_from_as_it_grows(machine, parts, lines, session):
    begun, resumed, compacted = parts
    machine.write("claude", f"{session}.jsonl", [*lines[0], said("user", PREFERS, session)])
    machine.fire("claude", *begun)
    machine.run()
    assert machine.notes() == [("claude", session)]
    assert PREFERS in machine.note("claude", session).raw_memory

    machine.wait(hours=1)
    machine.fire("claude", *resumed[:-1])
    later = said("user", "Never touch the lockfile in this repository.", session, at="2026-11-30T19:00:00.000Z")
    machine.write("claude", f"{session}.jsonl", [*lines[1], later])
    assert "no end was seen" in machine.reasons()[f"claude:{session}"]
    machine.fire("claude", resumed[-1])
    machine.run()
    assert "Never touch the lockfile" in machine.note("claude", session).raw_memory

    machine.wait(hours=1)
    machine.write("claude", f"{session}.jsonl", lines[2])
    machine.fire("claude", *compacted)
    machine.run()
    assert machine.notes() == [("claude", session)]
    kinds = [kind for _, kind in machine.listener.heard]
    assert kinds[-4:] == ["start", "compaction", "start", "end"]  # the agent that compacts is nobody's


def test_a_compactions_summary_is_nobodys_word_and_what_was_compacted_stays(machine, lines, session):
    machine.write("claude", f"{session}.jsonl", [line for part in lines for line in part])
    machine.run(idle_hours=0)
    told = machine.said("claude", session)
    assert [text for tier, text in told if tier in ("human", "final")] == [
        "run the tool", "done with the tool", "second turn", "resumed"
    ]  # fmt: skip
    (summary,) = [tier for tier, text in told if text.startswith("This session is being continued")]
    assert summary == "context"


def test_killed_without_any_hook_the_transcript_alone_is_enough(machine, lines, session):
    machine.write("claude", f"{session}.jsonl", [*lines[0][:9], said("user", PREFERS, session)])
    machine.wait(hours=1)
    assert "not idle" in machine.reasons()[f"claude:{session}"]
    machine.wait(hours=5.1)
    machine.run()
    assert PREFERS in machine.note("claude", session).raw_memory


def test_an_answer_that_failed_has_no_stop_and_is_nobodys_word(machine, parts, session):
    begun, _, _ = parts
    error = said(
        "assistant", [{"type": "text", "text": "API Error: 400 no such model"}], session, isApiErrorMessage=True
    )
    machine.write("claude", f"{session}.jsonl", [said("user", PREFERS, session), error])
    machine.fire("claude", *[p for p in begun if p["hook_event_name"] not in ("PreToolUse", "PostToolUse", "Stop")])
    machine.run()
    assert machine.notes() == [("claude", session)]
    assert [text for tier, text in machine.said("claude", session) if tier == "final"] == []


def test_clear_begins_a_new_session_and_the_old_one_is_taken_when_its_end_comes(machine, parts):
    begun = parts[0]
    old = [{**payload, "session_id": "old", "transcript_path": "/x/old.jsonl"} for payload in begun]
    new = [{**payload, "session_id": "new", "transcript_path": "/x/new.jsonl"} for payload in begun]
    new[0] = {**new[0], "source": "clear"}
    for number, name in enumerate(("old", "new")):
        machine.write("claude", f"{name}.jsonl", [said("user", f"{PREFERS} Use profile {number}.", name)])
    machine.fire("claude", *old[:-1], *new[:-1])
    assert len(machine.reasons()) == 2
    machine.fire("claude", {**old[-1], "reason": "clear"})
    assert list(machine.reasons()) == ["claude:new"]
    assert machine.notes() == [("claude", "old")]
    machine.fire("claude", new[-1])
    machine.run()
    assert machine.notes() == [("claude", "new"), ("claude", "old")]


def test_what_a_fork_inherits_is_learned_once(machine):
    shared = [said("user", PREFERS, "parent"), said("assistant", "Certainly.", "parent")]
    machine.write("claude", "parent.jsonl", shared)
    own = [said("user", "Never touch the lockfile in this repository.", "fork"), said("assistant", "No.", "fork")]
    copied = [{**line, "sessionId": "fork", "forkedFrom": {"sessionId": "parent"}} for line in shared]
    machine.write("claude", "fork.jsonl", [*copied, *own])
    machine.wait(hours=7)
    machine.run()
    assert machine.notes() == [("claude", "fork"), ("claude", "parent")]
    assert PREFERS in machine.note("claude", "parent").raw_memory
    assert PREFERS not in machine.note("claude", "fork").raw_memory


def test_subagents_files_hooks_and_sidechains_are_not_the_users(machine, parts, recorded, session):
    begun = parts[0]
    stop = next(p for p in recorded("claude", RECORDED) if p["hook_event_name"] == "SubagentStop")
    hooks = [{**payload, "agent_id": stop["agent_id"]} for payload in begun[1:-1]]
    task = said("user", "CHILD-TASK: always use spaces.", session, isSidechain=True, agentId=stop["agent_id"])
    machine.write(
        "claude", f"{session}.jsonl", [said("user", PREFERS, session), task, said("assistant", "Ok.", session)]
    )
    machine.write("claude", f"{session}/subagents/agent-{stop['agent_id']}.jsonl", [task])
    machine.fire("claude", begun[0], *hooks, stop, begun[-1])
    reasons = machine.reasons()
    assert reasons == {f"claude:agent-{stop['agent_id']}": "subagent"}
    assert machine.listener.heard == [(session, "start"), (session, "end")]
    assert machine.notes() == [("claude", session)]
    assert "CHILD-TASK" not in {text for tier, text in machine.said("claude", session) if tier == "human"}
    assert "spaces" not in machine.note("claude", session).raw_memory


def test_feedback_of_a_stop_hook_is_nobodys_word(machine, transcript):
    lines = transcript("claude", "stop-block.jsonl")
    session = json.loads(lines[0])["sessionId"]
    machine.write("claude", f"{session}.jsonl", lines)
    machine.run(idle_hours=0)
    told = machine.said("claude", session)
    assert [text for tier, text in told if tier == "human"] == ["x"]
    assert {tier for tier, text in told if "MARK-" in text} == {"context"}
