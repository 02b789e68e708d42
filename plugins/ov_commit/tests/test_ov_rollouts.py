"""The same over real rollouts of Codex, read by its host at byte positions, and over the original plugin's state."""

import json

import pytest
from codexmem_hookspecs.values.capture import Item, Session
from codexmem_host_codex import plugin as codex

LINES = (
    {"type": "session_meta", "payload": {"id": "e2e-1", "cwd": "/home/dev/work"}},
    {"type": "message", "role": "user", "text": "remember that I prefer compact commits"},
    {"type": "function_call", "name": "shell", "arguments": '{"cmd":"pwd"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "/home/dev/work"},
    {"type": "message", "role": "assistant", "text": "Noted: compact commits from now on."},
)
"""A conversation that the original plugin 0.7.5 sent to a real server, and below what it wrote down about it."""
STATE = {
    "codexSessionId": "e2e-1", "ovSessionId": None, "workspacePeerId": "-tmp-work", "capturedTurnCount": 4,
    "createdAt": 1_796_052_097_110, "lastUpdatedAt": 1_796_052_108_699,
}  # fmt: skip
SAID = [
    "remember that I prefer compact commits",
    "[shell]",
    "[shell] /home/dev/work",
    "Noted: compact commits from now on.",
]


class Rollout:
    """A rollout that is written on, and events about it."""

    def __init__(self, machine):
        self.machine = machine
        self.path = machine.folder / "rollout-2026-08-28T00-00-00-e2e-1.jsonl"
        self.lines = 0
        self.session = Session(host="codex", id="e2e-1", cwd="/home/dev/work", locator=str(self.path))
        machine.services.transcripts = self

    def tail(self, session, after):
        found = codex.codexmem_capture_transcript(session=session, after=after, services=self.machine.services)
        return (item for item in found if isinstance(item, Item))

    def write(self, *payloads):
        with self.path.open("a") as file:
            for payload in payloads:
                kind = payload["type"] if payload["type"] in {"session_meta", "compacted"} else "response_item"
                held = payload["payload"] if "payload" in payload else _message(payload)
                stamp = f"2026-08-28T00:{self.lines // 60:02}:{self.lines % 60:02}.000Z"
                file.write(json.dumps({"timestamp": stamp, "type": kind, "payload": held}) + "\n")
                self.lines += 1

    def tell(self, kind, **fields):
        self.machine.tell(kind, self.session, **fields)

    @property
    def stored(self):
        return self.machine.server.session("cx-e2e-1")


def _message(payload):
    if payload["type"] != "message":
        return payload
    kind = "output_text" if payload["role"] == "assistant" else "input_text"
    return {"type": "message", "role": payload["role"], "content": [{"type": kind, "text": payload["text"]}]}


def user(text):
    return {"type": "message", "role": "user", "text": text}


def agent(text):
    return {"type": "message", "role": "assistant", "text": text}


@pytest.fixture
def rollout(machine):
    machine.folder.mkdir(exist_ok=True)
    rollout = Rollout(machine)
    rollout.write(*LINES)
    return rollout


def test_turns_go_out_as_they_come_each_once(rollout):
    rollout.tell("stop")
    assert rollout.stored.texts == SAID
    for number in range(3):
        rollout.write(user(f"Question number {number} of many."))
        rollout.tell("stop")
        rollout.write(agent(f"Answer number {number} of many."))
        rollout.tell("stop")
    assert rollout.stored.texts == [
        *SAID,
        *(f"{what} number {number} of many." for number in range(3) for what in ("Question", "Answer")),
    ]


def test_what_the_original_plugin_sent_is_not_sent_again(machine, rollout):
    machine.state_folder().mkdir(parents=True)
    (machine.state_folder() / "e2e-1.json").write_text(json.dumps(STATE))
    rollout.tell("stop")
    assert machine.server.asked("/batch") == []
    rollout.write(user("One more thing, please: sign them."), agent("Signed commits it is."))
    rollout.tell("end")
    assert rollout.stored.texts == ["One more thing, please: sign them.", "Signed commits it is."]
    assert {message["peer_id"] for message in rollout.stored.everything} == {"-tmp-work"}
    assert len(rollout.stored.archives) == 1


def test_an_answer_that_turns_out_to_be_a_summary_does_not_move_the_cursor(rollout):
    rollout.tell("stop")
    rollout.write({"type": "compacted", "payload": {"message": "a summary", "replacement_history": []}})
    rollout.write(user("What is said after the compaction."))
    rollout.tell("stop")
    assert rollout.stored.texts == [*SAID, "What is said after the compaction."]


def test_a_line_that_is_half_written_is_sent_once_it_is_whole(rollout):
    rollout.tell("stop")
    whole = json.dumps(
        {"timestamp": "2026-08-28T00:01:00.000Z", "type": "response_item",
         "payload": _message(user("Words that reach the disk in two steps."))}
    )  # fmt: skip
    with rollout.path.open("a") as file:
        file.write(whole[:60])
    rollout.tell("stop")
    with rollout.path.open("a") as file:
        file.write(whole[60:] + "\n")
    rollout.tell("stop")
    assert rollout.stored.texts == [*SAID, "Words that reach the disk in two steps."]


def test_a_rollout_that_was_compressed_or_moved_goes_on(machine, rollout):
    rollout.tell("stop")
    moved = machine.folder / "archived" / rollout.path.name
    moved.parent.mkdir()
    rollout.path.rename(moved)
    rollout.path = moved
    rollout.session = Session(host="codex", id="e2e-1", cwd="/home/dev/work", locator=str(moved))
    rollout.write(user("Said after it was moved away."))
    rollout.tell("end")
    assert rollout.stored.texts == [*SAID, "Said after it was moved away."]
    state = json.loads((machine.state_folder() / "e2e-1.json").read_text())
    assert state["transcriptPath"] == str(moved)


def test_a_rollout_that_vanished_leaves_everything_as_it_was(machine, rollout):
    rollout.tell("stop")
    rollout.path.unlink()
    rollout.tell("end")
    assert rollout.stored.archives == []
    assert json.loads((machine.state_folder() / "e2e-1.json").read_text())["capturedTurnCount"] == 4
