"""What becomes of Codex's sessions, however they begin and end: played back from what Codex really did."""

from __future__ import annotations

import json

import pytest

PREFERS = "Always run the linter before a commit in this repository."


def rollout(session_id):
    return f"rollout-2026-11-30T15-00-00-{session_id}.jsonl"


def meta(session_id, **more):
    payload = {"id": session_id, "session_id": session_id, "cwd": "/home/user/proj", "source": "cli", **more}
    return {"timestamp": "2026-11-30T15:00:00.000Z", "type": "session_meta", "payload": payload}


def message(role, text, kind=None, at="2026-11-30T15:01:00.000Z"):
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    if kind:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": [kind]}
    return {"timestamp": at, "type": "response_item", "payload": payload}


def user(text, **more):
    return message("user", text, "user.text", **more)


def event(kind, **more):
    return {"timestamp": "2026-11-30T15:01:30.000Z", "type": "event_msg", "payload": {"type": kind, **more}}


def test_sigterm_runs_no_hook_and_the_transcript_alone_is_enough(machine, transcript):
    lines = transcript("codex", "rollout-tool-and-resume.jsonl")
    session = json.loads(lines[0])["payload"]["id"]
    cut = next(n for n, line in enumerate(lines) if "function_call_output" in line)
    machine.write("codex", rollout(session), [*lines[:1], user(PREFERS), *lines[1:cut]])
    machine.wait(hours=1)
    assert "not idle for 6 hours" in machine.reasons()[f"codex:{session}"]
    machine.wait(hours=5.1)
    machine.run()
    assert machine.notes() == [("codex", session)]
    assert PREFERS in machine.note("codex", session).raw_memory


def test_a_failed_turn_has_no_stop_and_the_sessions_end_takes_it_all_the_same(machine, recorded):
    payloads = [p for p in recorded("codex", "01a22d18-f0d6") if p["hook_event_name"] != "Stop"]
    session = payloads[0]["session_id"]
    machine.fire("codex", *payloads)
    machine.write(
        "codex",
        rollout(session),
        [meta(session), user(PREFERS), event("error", message="HTTP 400: no such model"), event("task_complete")],
    )
    machine.run()
    assert machine.notes() == [("codex", session)]
    assert machine.said("codex", session) == [("human", PREFERS)]


def test_an_interrupted_session_is_learned_from_up_to_where_it_was_interrupted(machine, recorded, transcript):
    payloads, lines = recorded("codex", "01a22d1a-8ce0"), transcript("codex", "rollout-sigint.jsonl")
    session = payloads[0]["session_id"]
    assert [payload["hook_event_name"] for payload in payloads][-2:] == ["Interrupt", "SessionEnd"]
    machine.write("codex", rollout(session), [lines[0], user(PREFERS), *lines[1:]])
    machine.fire("codex", *payloads)
    machine.run()
    assert machine.notes() == [("codex", session)]
    assert machine.listener.heard == [(session, kind) for kind in ("start", "prompt", "stop", "end")]


def test_clear_begins_a_new_session_and_the_old_one_ends_only_when_codex_quits(machine, recorded):
    old, new = (recorded("codex", beginning) for beginning in ("01a22d19-db1d", "01a22d1a-05cd"))
    ids = [payloads[0]["session_id"] for payloads in (old, new)]
    assert new[0]["source"] == "clear"
    for number, session in enumerate(ids):
        machine.write("codex", rollout(session), [meta(session), user(f"{PREFERS} Use profile {number}.")])
    machine.fire("codex", *old[:-1], *new[:-1])
    assert {reason.split(",")[0] for reason in machine.reasons().values()} == {"not idle for 6 hours yet"}
    machine.fire("codex", old[-1], new[-1])
    machine.run()
    assert machine.notes() == sorted(("codex", session) for session in ids)


def test_a_resumed_session_is_one_and_its_earlier_end_does_not_count_any_more(machine, recorded, transcript):
    lines = transcript("codex", "rollout-tool-and-resume.jsonl")
    payloads = recorded("codex", "01a22d06-b6a1")
    session = payloads[0]["session_id"]
    resumed = next(p for p in payloads if p.get("source") == "resume")
    begin = payloads.index(resumed)
    second, first = payloads[begin : begin + 4], payloads[begin + 4 :]  # the recordings are sorted by name
    assert [p["hook_event_name"] for p in second][-1] == [p["hook_event_name"] for p in first][-1] == "SessionEnd"
    again = next(n for n, line in enumerate(lines) if "second turn" in line)

    machine.write("codex", rollout(session), [lines[0], user(PREFERS), *lines[1:again]])
    machine.fire("codex", *first)
    machine.run()
    assert machine.notes() == [("codex", session)]
    assert machine.note("codex", session).raw_memory.count("second turn") == 0

    machine.wait(hours=1)
    machine.fire("codex", *second[:-1])
    machine.write("codex", rollout(session), [*lines[again:], user("Never touch the lockfile in this repository.")])
    assert "no end was seen" in machine.reasons()[f"codex:{session}"]
    assert not machine.ended("codex", session)

    machine.fire("codex", second[-1])
    machine.run()
    assert machine.notes() == [("codex", session)]
    note = machine.note("codex", session).raw_memory
    assert PREFERS in note
    assert "Never touch the lockfile" in note


def test_resuming_without_any_hook_takes_the_end_back_as_well(machine, recorded):
    payloads = recorded("codex", "01a22d18-f0d6")
    session = payloads[0]["session_id"]
    machine.write("codex", rollout(session), [meta(session), user(PREFERS, at="2026-11-30T18:00:03.000Z")])
    machine.fire("codex", *payloads)
    machine.run()
    machine.wait(hours=1)
    machine.write("codex", rollout(session), [user("Never touch the lockfile.", at="2026-11-30T19:00:00.000Z")])
    assert "no end was seen" in machine.reasons()[f"codex:{session}"]
    machine.wait(hours=7)
    machine.run()
    assert "Never touch the lockfile" in machine.note("codex", session).raw_memory


def test_what_a_fork_inherits_is_learned_once(machine):
    parent, fork = "0198a000-0000-7000-8000-000000000001", "0198a000-0000-7000-8000-000000000002"
    shared = [user(PREFERS), message("assistant", "Certainly.")]
    machine.write("codex", rollout(parent), [meta(parent), *shared])
    own = [user("Never touch the lockfile in this repository."), message("assistant", "I will not.")]
    machine.write("codex", rollout(fork), [meta(fork, forked_from_id=parent), *shared, *own])
    machine.wait(hours=7)
    machine.run()
    assert machine.notes() == [("codex", parent), ("codex", fork)]
    assert PREFERS in machine.note("codex", parent).raw_memory
    assert PREFERS not in machine.note("codex", fork).raw_memory
    assert "lockfile" in machine.note("codex", fork).raw_memory


def test_a_subagents_hooks_and_rollout_are_not_the_users(machine, recorded, transcript):
    payloads = recorded("codex", "01a22d1a-7c9f")
    parent, child = payloads[0]["session_id"], next(p["agent_id"] for p in payloads if "agent_id" in p)
    machine.write("codex", rollout(parent), [*transcript("codex", "rollout-subagent-parent.jsonl"), user(PREFERS)])
    machine.write("codex", rollout(child), transcript("codex", "rollout-subagent-child.jsonl"))
    machine.fire("codex", *payloads)
    reasons = machine.reasons()
    assert machine.notes() == [("codex", parent)]
    assert reasons[f"codex:{child}"] == "subagent"
    assert machine.listener.heard == [(parent, kind) for kind in ("start", "prompt", "stop", "end")]
    assert "CHILD-TASK" not in {text for tier, text in machine.said("codex", parent) if tier == "human"}
    assert machine.reasons(sessions=(child,))[f"codex:{child}"] == "subagent"


def test_ephemeral_sessions_and_codexs_memory_agent_leave_nothing(machine, recorded):
    ephemeral = recorded("codex", transcript_path=None)
    assert {payload["cwd"] for payload in ephemeral} == {"/home/user/proj", "/home/user/.codex/memories_v2"}
    machine.fire("codex", *ephemeral)
    machine.run()
    engine = machine.engine()
    assert machine.listener.heard == []
    assert engine.catalogue.candidates() == []
    assert engine.deliveries.counts() == []


@pytest.mark.parametrize("folder", ["memories", "memories_v2"])
def test_codexs_memory_agent_is_known_by_its_folder_should_it_ever_write_a_rollout(folder, machine, recorded):
    session = "0198a000-0000-7000-8000-000000000003"
    cwd = str(machine.folder / ".codex" / folder)
    machine.write("codex", rollout(session), [meta(session, cwd=cwd), user(PREFERS)])
    payloads = [{**payload, "session_id": session, "cwd": cwd} for payload in recorded("codex", "01a22d18-f0d6")]
    machine.fire("codex", *payloads)
    assert machine.reasons() == {f"codex:{session}": "works inside a memory folder"}
    assert machine.listener.heard == []


def test_of_a_compacted_session_everything_is_learned_once_and_the_summary_is_nobodys_word(
    machine, recorded, transcript
):
    payloads = recorded("codex", "01a22d09-8504")
    session = payloads[0]["session_id"]
    machine.write(
        "codex", rollout(session), [*transcript("codex", "rollout-compact-and-interrupt.jsonl"), user(PREFERS)]
    )
    machine.fire("codex", *payloads)
    machine.run()
    said = machine.said("codex", session)
    assert [text for tier, text in said if tier in ("human", "final")] == [
        "hi there", "first answer", "what now?", "after compact", "slow one", PREFERS
    ]  # fmt: skip
    assert ("context", "COMPACTED SUMMARY: the user said hi") in said
    kinds = [kind for _, kind in machine.listener.heard]
    assert kinds == ["start", "prompt", "stop", "compaction", "start", "prompt", "stop", "prompt", "stop", "end"]


def test_at_stop_the_last_answer_stands_in_the_rollout_before_codex_says_that_the_turn_is_done(machine, transcript):
    lines = transcript("codex", "rollout-tool-and-resume.jsonl")
    session = json.loads(lines[0])["payload"]["id"]
    done = next(n for n, line in enumerate(lines) if "task_complete" in line)
    machine.write("codex", rollout(session), [lines[0], user(PREFERS), *lines[1:done]])
    machine.run(idle_hours=0)
    assert ("final", "done with the tool") in machine.said("codex", session)
