"""Conversations in any host, with our hooks, reach OpenViking: every turn once, sealed when their context goes."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_ov_models import CHAT
from realhosts.conversation import until

OVERVIEW = "An overview of "


def said(number):
    """What user and agent say in a turn."""
    return f"Remember harbor-{number}.", f"Noted pier-{number}."


def turn(session, number, **more):
    asked, answered = said(number)
    return session.say(asked, {"text": answered}, **more)


def all_said(*numbers):
    return [text for number in numbers for text in said(number)]


def test_turns_arrive_in_their_order_and_once_and_the_end_seals_them(ov, machine, quick_host):
    with quick_host.stay_open() as session:
        turn(session, 1)
        machine.until_written_by_host(said(1)[1])
        turn(session, 2)
        name = ov.until_said(*all_said(1, 2))  # although a host may write the last answer down after its hook
        assert ov.session(name)["commit_count"] == 0
        turn(session, 3)
    ov.until_committed(name)
    assert [text for _, text in ov.messages(name)] == all_said(1, 2, 3)
    assert [role for role, _ in ov.messages(name)] == ["user", "assistant"] * 3
    until(lambda: not machine.end_markers(), "the end of the end marker")


def test_what_a_tool_was_asked_and_gave_arrives_between_the_words(ov, quick_host):
    run = quick_host.shell("echo lantern-$((40 + 2))")
    quick_host.say("Count for me.", run, {"text": "Counted."})
    tool = run["tool"]["name"]
    (name,) = ov.until_session()
    ov.until_committed(name)
    assert ov.messages(name) == [
        ("user", "Count for me."), ("assistant", tool), ("user", tool), ("assistant", "Counted."),
    ]  # fmt: skip
    assert "lantern-42" in ov.context(name)["latest_archive_overview"]


def test_a_session_that_grows_is_sealed_but_for_its_newest_turns(ov, machine, codex):
    machine.belongs_to(ov, commit_token_threshold=1000, commit_keep_recent_count=2)
    with codex.stay_open() as session:
        session.say("Remember harbor-1. " + "The quay is long. " * 300, {"text": "Noted pier-1."})
        turn(session, 2)
        (name,) = ov.until_session()
        until(lambda: ov.session(name)["commit_count"] == 1, "a commit within the session")
        turn(session, 3)
        until(lambda: ov.session(name)["total_message_count"] == 6, "the last turn")
        assert ov.session(name)["message_count"] >= 2
    ov.until_committed(name, times=2)
    assert [text for _, text in ov.messages(name)][1:] == ["Noted pier-1.", *all_said(2, 3)]


def test_a_compaction_waits_until_everything_before_it_is_sealed(ov, host):
    with host.stay_open() as session:
        turn(session, 1)
        turn(session, 2)
        session.compact()
        (name,) = ov.sessions()
        assert (ov.session(name)["message_count"], ov.session(name)["commit_count"]) == (0, 1)
        turn(session, 3)
    ov.until_committed(name, times=2)
    words = [text for _, text in ov.messages(name)]
    assert [text for text in words if text in all_said(1, 2, 3)] == all_said(1, 2, 3)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_session_whose_program_is_killed_in_the_middle_of_its_first_turn_arrives_and_is_sealed(
    ov, machine, quick_host, how
):
    running = quick_host.begin(said(1)[0], {"text": "Noted.", "hold": True}).until_asked()
    machine.until_written_by_host(said(1)[0])
    running.kill() if how == signal.SIGKILL else running.end(how)
    name = ov.until_said(said(1)[0])
    ov.until_committed(name)
    turn(quick_host, 2)
    ov.until_committed(ov.until_said(*all_said(2)))
    assert [text for _, text in ov.messages(name)] == [said(1)[0]]
    until(lambda: not machine.end_markers(), "the end of the end markers")


def test_a_resumed_session_is_given_its_archive_and_goes_on_behind_it(ov, quick_host):
    turn(quick_host, 1)
    (name,) = ov.until_session()
    ov.until_committed(name)
    ov.until_done()
    assert f"{OVERVIEW}harbor-1, pier-1" in turn(quick_host, 2, resume=True).told
    ov.until_committed(name, times=2)
    assert [text for _, text in ov.messages(name)] == all_said(1, 2)
    assert ov.sessions() == [name]


def test_sessions_that_end_at_once_are_each_sealed_once(ov, codex):
    asked, codex.server.default = said(1)
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda _: codex.say(asked), range(4)))
    for name in ov.until_session(4):
        ov.until_committed(name)
        assert [text for _, text in ov.messages(name)] == all_said(1)


def test_a_worker_that_is_killed_again_and_again_loses_and_doubles_nothing(ov, machine, codex):
    with codex.stay_open() as session:
        for number in range(1, 5):
            turn(session, number)
            ov.until_said(*all_said(*range(1, number + 1)))
            for worker in machine.workers():
                os.kill(worker, signal.SIGKILL)
    (name,) = ov.sessions()
    ov.until_committed(name)
    assert [text for _, text in ov.messages(name)] == all_said(1, 2, 3, 4)


def test_a_wrong_key_harms_no_session_and_loses_none(ov, machine, codex):
    machine.belongs_to(ov, key="another key")
    conversation = turn(codex, 1)
    assert conversation.status == 0
    assert said(1)[1] in conversation.printed
    until(machine.end_markers, "the end marker")
    assert ov.sessions() == []
    machine.belongs_to(ov)
    turn(codex, 2)
    ov.until_committed(ov.until_said(*all_said(1)))
    ov.until_committed(ov.until_said(*all_said(2)))
    until(lambda: not machine.end_markers(), "the end of the end markers")


def test_a_server_that_does_not_know_the_session_any_more_gets_what_comes_from_now_on(ov, codex):
    with codex.stay_open() as session:
        turn(session, 1)
        name = ov.until_said(*all_said(1))
        ov.call("DELETE", f"/api/v1/sessions/{name}")
        turn(session, 2)
        ov.until_said(*all_said(2))
    ov.until_committed(name)
    assert [text for _, text in ov.messages(name)] == all_said(2)


def test_a_server_whose_model_fails_has_every_word_and_the_next_session_is_worked_through(ov, codex):
    ov.server.models.script = [{"match": CHAT, "error": 500, "repeat": True}]
    turn(codex, 1)
    (name,) = ov.until_session()
    ov.until_committed(name)
    ov.until_done()
    assert "failed" in {task["status"] for task in ov.tasks() if task["resource_id"] == name}
    assert [text for _, text in ov.messages(name)] == all_said(1)
    ov.server.models.script.clear()
    turn(codex, 2)
    other = ov.until_said(*all_said(2))
    ov.until_committed(other)
    ov.until_done()
    assert f"{OVERVIEW}harbor-2, pier-2" in ov.context(other)["latest_archive_overview"]
