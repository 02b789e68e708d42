"""What goes over the wire, and what becomes of every answer: sent once, sent later, or set aside; never lost."""

import json

import pytest
from codexmem_hookspecs.errors import Unreadable
from codexmem_ov_commit.rejected import FOLDER
from fake_openviking import Cut


def said(count):
    return [f"Turn number {number} of the day." for number in range(count)]


def answering(line_end, *answers):
    """The server's answers to requests whose path ends so, one after the other; None and the rest: as usual."""
    left = list(answers)

    def cut(asked):
        if not asked.path.endswith(line_end) or not left:
            return None
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return cut


def test_more_than_a_hundred_messages_go_in_batches_and_the_cursor_moves_with_each(machine):
    talk = machine.conversation().user(*said(250))
    machine.server.cut = answering("/batch", None, None, (503, {}))
    talk.stop()
    assert [len(one.body["messages"]) for one in machine.server.asked("/batch")] == [100, 100, 50]
    assert talk.state["capturedTurnCount"] == 200
    talk.stop()
    assert talk.stored.texts == said(250)


def test_a_failed_tail_is_sent_by_the_next_sweep_once_and_then_committed(machine):
    talk = machine.conversation().user(*said(101))
    machine.server.cut = answering("/batch", None, (503, {}))
    talk.end()
    assert machine.server.asked("/commit") == []
    machine.start()
    assert talk.stored.texts == said(101)
    assert len(talk.stored.archives) == 1
    assert not (machine.folder / ".openviking" / "pending").exists()


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_without_batches_gets_them_one_by_one(machine, status):
    machine.server.cut = answering("/batch", *[(status, {"status": "error"})] * 9)
    talk = machine.conversation().user(*said(120))
    talk.stop()
    assert talk.stored.texts == said(120)
    assert len(machine.server.asked("/batch")) == 1
    assert len(machine.server.asked("/messages")) == 120
    assert talk.state["capturedTurnCount"] == 120


def test_one_by_one_stops_at_the_first_failure(machine):
    machine.server.knows_batches = False
    machine.server.cut = answering("/messages", None, None, (500, {}))
    talk = machine.conversation().user(*said(5))
    talk.stop()
    assert talk.stored.texts == said(2)
    assert talk.state["capturedTurnCount"] == 2


@pytest.mark.parametrize("status", [0, 408, 429, 500, 502, 503, 401, 403, 409])
def test_what_the_server_does_not_take_now_is_sent_by_the_next_stop(machine, status):
    talk = machine.conversation().user(*said(3))
    machine.server.cut = answering("/batch", Cut() if status == 0 else (status, {"status": "error"}))
    talk.stop()
    assert talk.stored.texts == []
    talk.stop()
    assert talk.stored.texts == said(3)
    assert list((machine.folder / "codexmem").rglob("*.json")) == []


@pytest.mark.parametrize("status", [400, 422])
def test_a_message_that_is_refused_is_set_aside_and_the_rest_goes_on(machine, status):
    machine.server.refuses = ""

    def cut(asked):
        poisoned = "POISON" in json.dumps(asked.body)
        return (status, {"status": "error", "error": {"message": "bad words"}}) if poisoned else None

    machine.server.cut = cut
    talk = machine.conversation().user("Before the bad one.", "This one is POISON to the server.", "After the bad one.")
    talk.stop()
    assert talk.stored.texts == ["Before the bad one.", "After the bad one."]
    assert talk.state["capturedTurnCount"] == 3
    (kept,) = rejected(machine)
    assert kept["session"] == talk.name
    assert kept["error"] == "bad words"
    assert "POISON" in json.dumps(kept["message"])
    (finding,) = [one for one in machine.findings() if one.level == "warn"]
    assert finding.message.startswith("1 messages that OpenViking refused are kept in")
    asked = len(machine.server.requests)
    talk.stop()
    assert machine.server.lines[asked:] == ["GET /health"]


def test_only_the_batch_of_a_refused_message_goes_one_by_one(machine):
    talk = machine.conversation().user(*said(99), "POISON it is, at the end.", *said(100))
    talk.stop()
    assert [len(one.body["messages"]) for one in machine.server.asked("/batch")] == [100, 100]
    assert len(machine.server.asked("/messages")) == 100
    assert talk.stored.texts == [*said(99), *said(100)]


@pytest.mark.parametrize("body", [b"", b"<html>proxy</html>", {"status": "error"}, {}, {"result": {"added": 0}}, [1]])
def test_a_success_that_does_not_say_so_is_none(machine, body):
    talk = machine.conversation().user(*said(3))
    machine.server.cut = answering("/batch", (200, body))
    talk.stop()
    assert talk.state["capturedTurnCount"] == 0
    talk.stop()
    assert talk.stored.texts == said(3)


def test_a_batch_that_was_stored_in_part_goes_on_after_that(machine):
    talk = machine.conversation().user(*said(5))
    stored = machine.server.session(talk.name).messages

    def cut(asked):
        if asked.path.endswith("/batch") and not stored:
            stored.extend(asked.body["messages"][:2])
            return 200, {"status": "ok", "result": {"added": 2, "message_count": 2}}
        return None

    machine.server.cut = cut
    talk.stop()
    talk.stop()
    assert talk.stored.texts == said(5)


def test_a_server_that_does_not_count_what_it_added_is_believed_by_its_message_count(machine):
    talk = machine.conversation().user(*said(2))
    machine.server.cut = answering("/batch", (200, {"status": "ok", "result": {"message_count": 2}}))
    talk.stop()
    assert talk.state["capturedTurnCount"] == 2


def test_what_was_stored_while_its_answer_was_lost_is_sent_again(machine):
    """The server knows no idempotency: at least once is the most that can be had (docs/openviking.md)."""
    talk = machine.conversation().user(*said(2))
    machine.server.cut = answering("/batch", Cut(stored=True))
    talk.stop()
    talk.stop()
    assert talk.stored.texts == said(2) * 2


def test_a_commit_without_a_valid_body_keeps_the_session_live(machine):
    talk = machine.conversation().user(*said(1))
    machine.server.cut = answering("/commit", (200, b""))
    talk.end()
    assert talk.state["ovSessionId"] == talk.name
    assert len(talk.ended) == 1


def test_a_commit_that_found_nothing_to_commit_is_done(machine):
    talk = machine.conversation().user(*said(1))
    talk.stop()
    talk.stored.messages.clear()
    talk.end()
    assert talk.state["ovSessionId"] is None
    assert talk.ended == []


def test_no_session_is_ever_created(machine):
    talk = machine.conversation().user(*said(1))
    talk.stop()
    talk.end()
    assert "POST /api/v1/sessions" not in machine.server.lines


def test_odd_session_ids_are_one_part_of_the_path(machine):
    talk = machine.conversation("a/b c.d:e?f#g").user(*said(1))
    talk.stop()
    assert machine.server.sessions["cx-a_b_c.d_e_f_g"].texts == said(1)


# headers


def headers(machine, **environ):
    machine.set(**environ)
    machine.server.key = environ.get("API_KEY", "")
    machine.conversation().user(*said(1)).stop()
    return machine.server.asked("/batch")[-1].headers


def test_a_key_is_sent_in_both_forms(machine):
    sent = headers(machine, API_KEY="k-1")
    assert (sent["authorization"], sent["x-api-key"]) == ("Bearer k-1", "k-1")
    assert sent["content-type"] == "application/json"
    assert sent["user-agent"].startswith("codexmem-ov-commit/")


def test_who_we_are_is_told_to_servers_that_trust_it(machine):
    sent = headers(machine, ACCOUNT="acme", USER="ann")
    assert (sent["x-openviking-account"], sent["x-openviking-user"]) == ("acme", "ann")


def test_who_we_are_is_not_told_to_servers_that_know_by_the_key(machine):
    sent = headers(machine, ACCOUNT="acme", USER="ann", AUTH_MODE="api_key", API_KEY="k-1")
    assert not {"x-openviking-account", "x-openviking-user"} & set(sent)


def rejected(machine):
    folder = machine.folder / "codexmem" / "plugins" / "plugin" / FOLDER
    return [json.loads(path.read_text()) for path in folder.glob("*.json")]


def test_long_messages_go_in_smaller_batches(machine):
    talk = machine.conversation().user(*said(2))
    for number in range(10):
        talk.tool(output="x" * 1_000_000, id_=f"call-{number}")
    talk.stop()
    counts = [len(one.body["messages"]) for one in machine.server.asked("/batch")]
    assert sum(counts) == 22
    assert len(counts) == 3
    assert talk.state["capturedTurnCount"] == 22


def test_a_transcript_that_breaks_off_while_it_is_sent_is_unreadable_and_goes_on_where_it_was(machine):
    talk = machine.conversation().user(*said(150))
    whole, tail = talk.items, machine.conversations.tail

    def breaks(session, after):
        yield from list(tail(session, after))[:120]
        raise Unreadable("the disk went away")

    machine.conversations.tail = breaks
    talk.end()
    assert talk.state["capturedTurnCount"] == 100
    assert machine.server.asked("/commit") == []
    machine.conversations.tail = tail
    machine.start()
    assert talk.stored.texts == said(150) == [item.text for item in whole]
    assert len(talk.stored.archives) == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_no_success_and_stops_nothing(machine, number):
    machine.server.cut = lambda asked: (
        (200, {"status": "ok", "result": {"added": number}}) if asked.path.endswith("/batch") else None
    )
    talk = machine.conversation().user("Port the parser to the new grammar.")
    talk.stop()
    assert talk.state["capturedTurnCount"] == 0
    machine.server.cut = lambda _asked: None
    talk.stop()
    assert talk.stored.texts == ["Port the parser to the new grammar."]
