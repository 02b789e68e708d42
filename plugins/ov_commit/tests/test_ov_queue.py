"""The queue of OpenViking's other clients: sent at session starts, in order, by one process, and none of it lost."""

import json
import os

import pytest
from fake_openviking import Cut

DAY_MS = 86_400_000


class Queue:
    def __init__(self, machine):
        self.machine = machine
        self.folder = machine.folder / ".openviking" / "pending"
        self.folder.mkdir(parents=True)

    def put(self, text, *, kind="addMessage", retries=0, age_ms=1_000, session="cc-elsewhere"):
        payload = {"role": "user", "content": text} if kind == "addMessage" else {}
        number = len(list(self.folder.iterdir()))
        entry = {
            "type": kind, "sessionId": session, "payload": payload, "retries": retries, "dedupKey": f"{number:064}",
            "createdAt": self.machine.clock.now_ms() - age_ms + number,
        }  # fmt: skip
        (self.folder / f"{number:064}_{retries}.json").write_text(json.dumps(entry))

    @property
    def left(self):
        return sorted((json.loads(path.read_text())["retries"], path.name[-7:]) for path in self.folder.iterdir())


@pytest.fixture
def queue(machine):
    return Queue(machine)


@pytest.mark.parametrize("moment", ["startup", "clear", "resume"])
def test_what_waits_is_sent_oldest_first_and_is_gone(machine, queue, moment):
    for text in ("first", "second", "third"):
        queue.put(text)
    queue.put("", kind="commitSession")
    machine.start(moment)
    assert machine.server.session("cc-elsewhere").texts == ["first", "second", "third"]
    assert len(machine.server.session("cc-elsewhere").archives) == 1
    assert queue.left == []


@pytest.mark.parametrize("moment", ["compact", "fork"])
def test_other_starts_leave_it(machine, queue, moment):
    queue.put("first")
    machine.start(moment)
    assert machine.server.lines == []
    assert len(queue.left) == 1


def test_without_a_server_it_is_not_touched(machine, queue):
    queue.put("first")
    machine.set(URL="http://127.0.0.1:9")
    machine.start()
    assert queue.left == [(0, "_0.json")]


def test_a_message_that_must_wait_holds_back_the_later_ones(machine, queue):
    queue.put("first")
    queue.put("second")
    machine.server.cut = lambda asked: (503, {}) if asked.path.endswith("/messages") else None
    machine.start()
    assert queue.left == [(0, "_0.json"), (1, "_1.json")]
    assert len(machine.server.asked("/messages")) == 1


def test_what_failed_too_often_is_dropped_with_a_warning(machine, queue):
    queue.put("first", retries=3)
    machine.server.cut = lambda asked: (503, {}) if asked.path.endswith("/messages") else None
    machine.start()
    assert queue.left == []
    assert "failed too often" in machine.log.warnings[-1][0]


def test_what_the_server_refuses_is_set_aside_and_the_rest_goes_on(machine, queue):
    queue.put("POISON")
    queue.put("second")
    machine.start()
    assert machine.server.session("cc-elsewhere").texts == ["second"]
    assert queue.left == []
    assert any("refused" in finding.message for finding in machine.findings())


def test_what_is_a_week_old_is_dropped_with_a_warning(machine, queue):
    queue.put("first", age_ms=8 * DAY_MS)
    machine.start()
    assert machine.server.asked("/messages") == []
    assert queue.left == []
    assert "too old" in machine.log.warnings[-1][0]


def test_no_more_are_sent_at_once_than_the_user_wants(machine, queue):
    machine.set(PENDING_REPLAY_LIMIT="2")
    for text in ("first", "second", "third"):
        queue.put(text)
    machine.start()
    assert machine.server.session("cc-elsewhere").texts == ["first", "second"]
    assert len(queue.left) == 1


def test_what_another_client_is_sending_is_left_to_it(machine, queue):
    queue.put("first")
    (path,) = queue.folder.iterdir()
    path.rename(f"{path}.processing")
    at_s = machine.clock.now_ms() / 1_000 - 60
    os.utime(f"{path}.processing", (at_s, at_s))
    machine.start()
    assert machine.server.asked("/messages") == []


def test_what_a_client_that_died_was_sending_is_sent(machine, queue):
    queue.put("first")
    (path,) = queue.folder.iterdir()
    path.rename(f"{path}.processing")
    at_s = machine.clock.now_ms() / 1_000 - 700
    os.utime(f"{path}.processing", (at_s, at_s))
    machine.start()
    assert machine.server.session("cc-elsewhere").texts == ["first"]
    assert queue.left == []


def test_what_waits_for_its_next_try_is_not_sent_from_the_try_that_died_as_well(machine, queue):
    queue.put("first")
    (path,) = queue.folder.iterdir()
    path.rename(f"{path}.processing")
    at_s = machine.clock.now_ms() / 1_000 - 700
    os.utime(f"{path}.processing", (at_s, at_s))
    entry = json.loads((queue.folder / f"{path.name}.processing").read_text())
    (queue.folder / path.name.replace("_0.json", "_1.json")).write_text(json.dumps({**entry, "retries": 1}))
    machine.start()
    assert machine.server.session("cc-elsewhere").texts == ["first"]
    assert queue.left == []


def test_what_is_no_entry_is_left_alone(machine, queue):
    for name, content in {"a.json": "{", "b.json": "[]", "c.json": '{"type":"other"}', "d.txt": "x"}.items():
        (queue.folder / name).write_text(content)
    queue.put("first")
    machine.start()
    assert sorted(path.name for path in queue.folder.iterdir()) == ["a.json", "b.json", "c.json", "d.txt"]


def test_an_answer_that_is_lost_lets_the_entry_wait(machine, queue):
    queue.put("first")

    def cut(asked):
        if asked.path.endswith("/messages"):
            raise Cut

    machine.server.cut = cut
    machine.start()
    assert queue.left == [(1, "_1.json")]


def test_the_folder_is_not_made_when_nobody_has_one(machine):
    machine.start()
    assert not (machine.folder / ".openviking" / "pending").exists()
