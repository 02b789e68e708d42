"""What a server must live through: odd input, many calls, clients that vanish, signals."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

LONGEST_S = 60


NO_MESSAGES = [
    b"",
    b"this is no JSON {{{",
    b'{"jsonrpc": "2.0", "id": 7',
    b"\xff\xfe\x00 not text",
    b"[]",
    b"null",
    b"7",
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    b'{"jsonrpc": "2.0", "method": "no/such/notification"}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99, "reason": "late"}}',
    b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
    b"[" * 100_000,
]
NO_REQUESTS = [
    ("no/such/method", {}),
    ("tools/call", {}),
    ("tools/call", {"name": 7}),
    ("tools/call", {"name": "memory_list", "arguments": [1, 2]}),
    ("tools/list", {"cursor": 7}),
    ("resources/list", {}),
    ("prompts/list", {}),
]


def test_a_line_that_means_nothing_stops_nothing(wire):
    with wire() as server:
        server.shake_hands()
        for number, line in enumerate(NO_MESSAGES, 1):
            server.send(line)
            assert server.ask(number, "ping")["result"] == {}, line


def test_a_request_that_is_none_is_refused_and_the_next_one_is_answered(wire):
    with wire() as server:
        server.shake_hands()
        for number, (method, params) in enumerate(NO_REQUESTS):
            assert "code" in server.ask(2 * number + 1, method, **params)["error"]
            assert server.ask(2 * number + 2, "ping")["result"] == {}


def test_a_call_before_the_handshake_is_refused(wire):
    with wire() as server:
        assert "error" in server.ask(5, "tools/call", name="memory_list", arguments={})
        server.shake_hands()


def test_huge_arguments_are_answered(wire):
    with wire() as server:
        server.shake_hands()
        megabytes = "x" * 16_000_000
        found = server.ask(1, "tools/call", name="memory_search", arguments={"queries": [megabytes]})
        assert found["result"]["content"][0]["text"] == "No matches."
        noted = server.ask(2, "tools/call", name="memory_add_note", arguments={"note": megabytes})
        assert noted["result"]["content"][0]["text"].startswith("memory_add_note error: ")


def test_text_of_any_kind_comes_back_as_it_was(wire):
    text = '设备 🙂 \u2028 " \\ \t end'
    with wire(LC_ALL="C", PYTHONIOENCODING="ascii") as server:
        server.shake_hands()
        server.ask(1, "tools/call", name="memory_add_note", arguments={"note": text})
        found = server.ask(2, "tools/call", name="memory_search", arguments={"queries": ["设备"]})
        assert text in found["result"]["content"][0]["text"]


def test_many_calls_at_once_are_all_answered(wire):
    with wire() as server:
        server.shake_hands()
        for number in range(1, 101):
            call = {"name": "memory_search", "arguments": {"queries": [f"word {number}"], "match_mode": "ranked"}}
            server.send({"id": number, "method": "tools/call", "params": call})
        answers = [server.receive() for _ in range(100)]
        assert sorted(answer["id"] for answer in answers) == list(range(1, 101))
        assert all("result" in answer for answer in answers)


def test_standard_output_carries_nothing_but_the_protocol(wire, place):
    (place / "config.toml").write_text("[memories]\nno_such_setting = 1\n")
    with wire(CODEXMEM_TRACE="1") as server:
        server.shake_hands()
        server.ask(1, "tools/list")
        server.ask(2, "tools/call", name="memory_search", arguments={"queries": ["x"]})
        server.process.stdin.close()
        assert server.process.stdout.read() == b""
        assert server.process.wait(LONGEST_S) == 0
        assert "codexmem_commands" in server.process.stderr.read().decode()


def test_it_ends_at_once_when_nobody_comes(wire):
    with wire() as server:
        server.process.stdin.close()
        assert server.process.wait(LONGEST_S) == 0
        assert server.process.stdout.read() == b""


def test_it_ends_when_the_client_goes_while_the_user_is_asked(wire, place):
    with wire() as server:
        server.shake_hands(elicitation={})
        server.send({"id": 1, "method": "tools/call", "params": {"name": "memory_reset", "arguments": {}}})
        assert server.receive()["method"] == "elicitation/create"
        server.process.stdin.close()
        assert server.process.wait(LONGEST_S) == 0
    assert (place / "home" / "memories" / "MEMORY.md").exists()


def test_what_was_asked_before_the_end_of_input_is_answered(wire):
    with wire() as server:
        server.shake_hands()
        server.send({"id": 1, "method": "ping"})
        server.process.stdin.close()
        assert server.receive()["id"] == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_although_its_input_is_open(wire, number, status):
    with wire() as server:
        server.shake_hands()
        server.process.send_signal(number)
        assert server.process.wait(LONGEST_S) == status


def test_it_ends_when_nobody_reads_its_answers_any_more(wire):
    with wire() as server:
        server.shake_hands()
        server.process.stdout.close()
        server.send({"id": 1, "method": "tools/list"})
        assert server.process.wait(LONGEST_S) == 0
        assert "Traceback" not in server.process.stderr.read().decode()


CLIENT = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\\n')
server.stdin.flush()
server.stdout.readline()
print("served", flush=True)
time.sleep(600)
"""


def test_a_killed_client_leaves_no_orphan(argv, environ, place):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    client = subprocess.Popen([sys.executable, "-c", CLIENT, *argv, "codex"], cwd=place, env=environ, **pipes)
    try:
        assert client.stdout.readline() == b"served\n"
    finally:
        client.kill()
    # The server has inherited the errors' pipe, so that it does not close before both are gone.
    assert b"Traceback" not in client.communicate(timeout=LONGEST_S)[1]


def test_a_folder_that_is_gone_does_not_keep_it_from_serving(wire, place):
    with wire() as server:
        server.shake_hands()
        (place / "project").rmdir()
        answer = server.ask(1, "tools/call", name="memory_list", arguments={})
        assert "MEMORY.md" in answer["result"]["content"][0]["text"]
