"""Several threads and processes take events in; what they write down is as if one had done it."""

from __future__ import annotations

import threading

from codexmem_core.host.spool import Spool
from codexmem_core.pipeline import take_in_events

SLOW_S = 2
"""Long enough for another thread to take everything in, if nothing keeps it from that."""


class SlowSpool(Spool):
    """Its reader has read an event, and is slow to write it down."""

    def __init__(self, folder):
        super().__init__(folder)
        self.has_read = threading.Event()
        self.may_go_on = threading.Event()

    def read_all(self):
        for spooled in super().read_all():
            self.has_read.set()
            self.may_go_on.wait(60)
            yield spooled


def test_a_session_that_goes_on_has_not_ended_although_a_slow_reader_still_holds_its_end(machine):
    meta = {"id": "s1", "session_id": "s1", "cwd": "/home/user/proj", "source": "cli"}
    line = {"timestamp": "2026-11-30T15:00:00.000Z", "type": "session_meta", "payload": meta}
    path = machine.write("codex", "rollout-2026-11-30T15-00-00-s1.jsonl", [line])
    machine.run()
    payload = {"session_id": "s1", "cwd": "/home/user/proj", "transcript_path": str(path)}
    machine.fire("codex", {**payload, "hook_event_name": "SessionEnd", "reason": "other"})
    slow = machine.engine()
    slow.spool = SlowSpool(slow.home.spool)
    first = threading.Thread(target=take_in_events, args=(slow,))
    first.start()
    assert slow.spool.has_read.wait(60)
    machine.fire("codex", {**payload, "hook_event_name": "UserPromptSubmit", "prompt": "one more thing"})
    quick = machine.engine()
    second = threading.Thread(target=take_in_events, args=(quick,))
    second.start()
    second.join(SLOW_S)
    slow.spool.may_go_on.set()
    first.join(60)
    second.join(60)
    machine.run()
    assert not machine.ended("codex", "s1")
