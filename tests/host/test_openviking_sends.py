"""Sessions reach an OpenViking server through real hooks and a real worker, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest
from fake_openviking import Cut, FakeOpenViking

SAID = (("user", "Run make check before every commit."), ("assistant", "I will run it each time."))
TEXTS = [text for _, text in SAID]
KEY = "sk-ant-" + "api03-" + "Q7dK2mX9" * 6


@pytest.fixture
def server():
    with FakeOpenViking() as fake:
        yield fake


@pytest.fixture
def sending(hooks, server):
    hooks.with_openviking(server.url)
    hooks.say("s1", *SAID)
    return hooks


def state(hooks, session="s1"):
    path = hooks.folder / ".openviking" / "codex-plugin-state" / f"{session}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def markers(hooks):
    return [path.name for path in (hooks.folder / ".openviking" / "codex-plugin-state").glob("*.ended*")]


def test_a_stop_sends_and_an_end_commits(sending, server, eventually):
    sending.call("Stop", sending.payload("Stop"))
    eventually(lambda: server.session("cx-s1").messages, "turns")
    assert server.session("cx-s1").texts == TEXTS
    sending.say("s1", ("user", "That was all for today."))
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    assert server.session("cx-s1").texts == [*TEXTS, "That was all for today."]
    eventually(lambda: state(sending).get("ovSessionId", "") is None and not markers(sending), "the end of the end")


def test_a_session_of_claude_code_has_a_state_folder_of_its_own(sending, server, eventually):
    path = sending.folder / ".claude" / "projects" / "-project" / "6f1d0000-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    line = {
        "type": "user", "uuid": "00000001-0000-4000-8000-000000000000", "sessionId": path.stem, "isSidechain": False,
        "timestamp": "2026-11-30T09:00:00.000Z", "cwd": str(sending.project),
        "message": {"role": "user", "content": TEXTS[0]},
    }  # fmt: skip
    path.write_text(json.dumps(line) + "\n")
    payload = {"session_id": path.stem, "transcript_path": str(path), "cwd": str(sending.project)}
    sending.call("Stop", {**payload, "hook_event_name": "Stop"}, host="claude")
    eventually(lambda: server.session(f"cc-{path.stem}").messages, "turns")
    folder = sending.folder / ".openviking" / "claude-plugin-state"
    eventually((folder / f"{path.stem}.json").exists, "the state")
    assert server.session(f"cc-{path.stem}").texts == [TEXTS[0]]


def test_an_answer_that_is_written_down_after_its_hook_is_sent_without_another_event(sending, server, eventually):
    sending.call("Stop", sending.payload("Stop"))
    eventually(lambda: server.session("cx-s1").texts == TEXTS, "the first turn")
    sending.say("s1", ("user", "And before pushing, too."))
    sending.call("Stop", sending.payload("Stop", last_assistant_message="Before pushing as well."))
    eventually(lambda: len(server.session("cx-s1").texts) > len(TEXTS), "the question")
    sending.say("s1", ("assistant", "Before pushing as well."))
    eventually(lambda: server.session("cx-s1").texts[len(TEXTS) + 1 :], "the answer")
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    assert server.session("cx-s1").texts == [*TEXTS, "And before pushing, too.", "Before pushing as well."]


def test_no_secret_leaves_the_machine(sending, server, eventually):
    sending.say("s1", ("user", f"The key is {KEY}, please use it."), ("assistant", f"Using {KEY} now."))
    sending.call("Stop", sending.payload("Stop"))
    eventually(lambda: server.session("cx-s1").messages, "turns")
    assert len(server.session("cx-s1").messages) == 4
    assert KEY not in json.dumps([asked.body for asked in server.requests])


def test_a_compaction_waits_until_it_is_committed(sending, server, eventually):
    sending.call("Stop", sending.payload("Stop"))
    eventually((sending.home / "read" / "codex-PreCompact.wait").exists, "the flag")
    eventually(sending.passes, "the end of the pass")
    sending.say("s1", ("user", "Said just before the compaction."))
    sending.call("PreCompact", sending.payload("PreCompact", trigger="auto"))
    assert [len(archive) for archive in server.session("cx-s1").archives] == [3]
    assert state(sending)["capturedTurnCount"] == 3


def test_a_session_whose_host_was_killed_is_swept_and_the_next_one_is_told(hooks, server, eventually):
    hooks.with_openviking(server.url, OPENVIKING_CODEX_IDLE_TTL_MS="1")
    hooks.say("s1", *SAID)
    hooks.call("Stop", hooks.payload("Stop"))
    eventually(lambda: state(hooks).get("capturedTurnCount") == 2, "the state")
    hooks.say("s1", ("user", "Said when the terminal was closed."))
    hooks.call("SessionStart-startup", hooks.payload("SessionStart", "s2", source="startup"))
    eventually(lambda: server.session("cx-s1").archives, "the sweep")
    assert server.session("cx-s1").texts == [*TEXTS, "Said when the terminal was closed."]
    untold = hooks.home / "plugins" / "ov-commit" / "untold.json"
    eventually(untold.exists, "the notice")
    eventually((hooks.home / "read" / "codex-SessionStart-startup.live").exists, "the flag")
    printed = hooks.call("SessionStart-startup", hooks.payload("SessionStart", "s3", source="startup"))
    assert json.loads(printed)["systemMessage"] == "OpenViking session cx-s1 is committed"
    assert not untold.exists()


def test_a_worker_that_is_killed_while_it_sends_loses_and_repeats_nothing(sending, server, eventually):
    reached, go = threading.Event(), threading.Event()

    def cut(asked):
        if asked.path.endswith("/batch") and not go.is_set():
            reached.set()
            go.wait(60)
            raise Cut

    server.cut = cut
    sending.call("Stop", sending.payload("Stop"))
    eventually(reached.is_set, "the request")
    os.kill(sending.worker().pid, signal.SIGKILL)
    go.set()
    eventually(lambda: sending.worker() is None, "the worker's end")
    sending.say("s1", ("user", "Said after that."))
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    assert server.session("cx-s1").texts == [*TEXTS, "Said after that."]
    assert len(server.session("cx-s1").archives) == 1


def test_status_tells_what_the_server_refused(sending, server, eventually):
    sending.say("s1", ("user", "This is POISON to the server."))
    sending.call("Stop", sending.payload("Stop"))
    rejected = sending.home / "plugins" / "ov-commit" / "pending" / "rejected"
    eventually(lambda: rejected.exists() and list(rejected.glob("*.json")), "what was refused")
    eventually(lambda: state(sending).get("capturedTurnCount") == 3, "the state")
    told = sending.cli("status")
    assert "1 messages that OpenViking refused are kept in" in told.stdout, told.stderr


def test_a_forgotten_session_is_gone_from_the_server(sending, server, eventually):
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    eventually(sending.passes, "the end of the pass")
    told = sending.cli("forget", "s1", "--yes")
    assert told.returncode == 0, told.stderr
    assert "cx-s1" not in server.sessions
    assert state(sending) == {}


def test_an_end_that_no_worker_has_seen_yet_is_committed_later(sending, server, eventually):
    sending.no_worker()
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    assert [event.event for event in sending.spooled()] == ["SessionEnd"]
    assert server.requests == []
    (sending.home / "locks" / "worker.starts").unlink()
    sending.call("SessionStart-startup", sending.payload("SessionStart", "s2", source="startup"))
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    eventually(lambda: state(sending).get("ovSessionId", "") is None and not markers(sending), "the end of the end")
    assert server.session("cx-s1").texts == TEXTS


def test_it_works_without_any_memory(sending, server, eventually):
    others = ("memory-v1", "memory-v2", "mcp", "codex-interop", "claude-import", "host-claude", "host-opencode")
    sending.environ["CODEXMEM_DISABLE"] = ",".join(others)
    sending.call("SessionStart-startup", sending.payload("SessionStart", source="startup"))
    sending.call("Stop", sending.payload("Stop"))
    eventually((sending.home / "read" / "codex-PreCompact.wait").exists, "the flag")
    eventually(sending.passes, "the end of the pass")
    sending.call("PreCompact", sending.payload("PreCompact", trigger="auto"))
    assert len(server.session("cx-s1").archives) == 1
    sending.say("s1", ("user", "One more thing for the day."))
    sending.call("SessionEnd", sending.payload("SessionEnd"))
    eventually(lambda: len(server.session("cx-s1").archives) == 2, "a commit")
    assert server.session("cx-s1").texts == [*TEXTS, "One more thing for the day."]
    told = sending.cli("status")
    assert told.returncode == 0, told.stderr
    assert "info  plugins: no memory is installed" in sending.cli("doctor").stdout
