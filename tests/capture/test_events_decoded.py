"""What of a hook's payload goes into an event: nothing secret, and of an answer no more than it takes to find it."""

from __future__ import annotations

import json

import pytest
from codexmem_host_claude.host import ClaudeHost
from codexmem_host_codex.host import CodexHost

from codexmem_core.capture.events import ANSWER_END, decode
from codexmem_core.host.spool import Header, SpooledEvent

KEY = "sk-ant-" + "api03-" + "Q7dK2mX9" * 6


@pytest.fixture
def stop():
    """The event of a stop at which a host tells this answer."""
    hosts = {host.name: host for host in (ClaudeHost(), CodexHost())}

    def told(name, answer, event="Stop"):
        payload = {"session_id": "s1", "hook_event_name": event, "cwd": "/home/user/shop"}
        payload |= {"transcript_path": "/home/user/s1.jsonl", "last_assistant_message": answer}
        content = json.dumps(payload).encode()
        spooled = SpooledEvent(
            name="x", host=name, event=event, at_ms=1_800_000_000_000, header=Header(), payload=content
        )
        (found,) = decode(spooled, hosts)
        return found

    return told


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_an_answer_is_told_without_its_secrets_and_private_spans(stop, host):
    event = stop(host, f"The key is {KEY}, <private>and the door code 4711</private> is done.")
    assert event.answer.startswith("The key is ")
    assert event.answer.endswith(" is done.")
    assert KEY not in event.answer
    assert "4711" not in event.answer


def test_of_a_long_answer_only_the_end_is_kept(stop):
    answer = stop("claude", "long " * 1_000 + "end").answer
    assert len(answer) == ANSWER_END
    assert answer.endswith("long end")


@pytest.mark.parametrize("answer", [None, 7, "", "\ud800"])
def test_what_is_no_text_is_no_answer(stop, answer):
    assert stop("claude", answer).answer in ("", "\ufffd")


def test_only_a_stop_tells_an_answer(stop):
    assert stop("claude", "Done.", event="SessionEnd").answer == ""
