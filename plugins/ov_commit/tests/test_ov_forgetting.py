"""Forgetting: our files about a session and the session on the server go; what stays is named, what fails waits."""

import json

import pytest
from codexmem_hookspecs.values.records import Selector
from codexmem_ov_commit import plugin
from fake_openviking import Cut


@pytest.fixture
def forget(machine):
    return lambda **selected: plugin.codexmem_forget(selector=Selector(**selected), services=machine.services)


@pytest.fixture
def talk(machine):
    talk = machine.conversation().user("The client is called Blue Door.", "POISON of the Blue Door.")
    talk.stop()
    machine.markers().mark(talk.session.id, machine.clock.now_ms())
    return talk


def everything(machine):
    return "".join(path.read_text() for path in machine.folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def test_a_session_leaves_no_trace_here_and_none_on_the_server(machine, talk, forget):
    pending = machine.folder / ".openviking" / "pending"
    pending.mkdir()
    entry = {"type": "addMessage", "sessionId": talk.name, "payload": {"content": "Blue Door"}}
    (pending / "x_0.json").write_text(json.dumps(entry))
    (pending / "z_0.json.processing").write_text(json.dumps(entry))
    (pending / "y_0.json").write_text(json.dumps({**entry, "sessionId": "cc-other"}))
    told = forget(sessions=(talk.session,))
    assert talk.name not in machine.server.sessions
    assert not talk.state_path.exists()
    assert talk.ended == []
    assert [path.name for path in pending.iterdir()] == ["y_0.json"]
    assert talk.session.id not in everything(machine)
    assert (told.store, told.removed) == ("OpenViking", 6)
    assert "memories that the server made" in told.left[0]


def test_what_sweeps_and_starts_noted_of_a_session_goes_as_well(machine, failing, forget):
    machine.server.memory.keep("profile.md", "# Profile\nPrefers short answers.")
    machine.asks("startup", failing, name="profile")
    other = machine.conversation().user("Words of another session.")
    other.stop()
    other.end()
    machine.server.cut = lambda asked: (503, {}) if asked.path.endswith("/commit") else None
    machine.start()
    machine.server.cut = lambda _asked: None
    assert failing.session.id in everything(machine)
    forget(sessions=(failing.session,))
    assert failing.session.id not in everything(machine)
    assert other.session.id in everything(machine)
    assert not any(failing.name in finding.message for finding in machine.findings())


def test_a_commit_that_nobody_was_told_of_is_not_told_of_a_forgotten_session(machine, failing, forget):
    machine.start()
    forget(sessions=(failing.session,))
    assert machine.notice() == ""


def test_a_session_that_the_server_never_had_leaves_nothing_to_name(machine, forget):
    told = forget(sessions=(machine.conversation().session,))
    assert (told.removed, told.left) == (0, ())


def forgotten_once_the_server_is_back(machine, talk, forget):
    """While it is away the session stays to be done."""
    machine.set(URL="http://127.0.0.1:9")
    with pytest.raises(OSError, match="did not remove"):
        forget(sessions=(talk.session,))
    machine.set(URL=machine.server.url)
    forget(sessions=(talk.session,))
    return talk.name not in machine.server.sessions and not talk.state_path.exists()


def test_while_the_server_is_away_it_stays_to_be_done(machine, talk, forget):
    assert forgotten_once_the_server_is_back(machine, talk, forget)


def test_a_server_that_was_never_sent_a_session_may_be_away(machine, forget):
    machine.set(URL="http://127.0.0.1:9")
    told = forget(sessions=(machine.conversation().session,))
    assert "if it was ever sent there" in told.left[0]


@pytest.mark.parametrize("said", [(), ("Run make check before every commit.",)])
def test_a_session_of_which_a_server_that_was_always_away_heard_nothing_may_go(machine, forget, said):
    machine.set(URL="http://127.0.0.1:9")
    talk = machine.conversation().user(*said)
    talk.event("start", moment="startup")
    for _ in said:
        talk.stop()
        talk.end()
    assert talk.state_path.exists()
    told = forget(sessions=(talk.session,))
    (left,) = told.left
    assert left.startswith(f"{talk.name} on http://127.0.0.1:9, if it was ever sent there: ")
    assert not talk.state_path.exists()
    assert talk.ended == []


def test_a_session_whose_only_answer_was_lost_stays_to_be_done(machine, forget):
    talk = machine.conversation().user("The client is called Blue Door.")

    def lost(asked):
        if asked.path.endswith("/batch"):
            raise Cut(stored=True)

    machine.server.cut = lost
    talk.stop()
    machine.server.cut = lambda _asked: None
    assert talk.stored.texts == ["The client is called Blue Door."]
    assert forgotten_once_the_server_is_back(machine, talk, forget)


def test_while_another_process_works_on_it_it_stays_to_be_done(machine, talk, forget, foreign_lock):
    foreign_lock(talk)
    machine.services.deadline.left_s = 0.3
    with pytest.raises(OSError, match="another process"):
        forget(sessions=(talk.session,))
    assert talk.state_path.exists()


def test_a_text_is_taken_out_of_what_other_clients_queued(machine, forget):
    pending = machine.folder / ".openviking" / "pending"
    pending.mkdir(parents=True)
    for number, said in enumerate(('The client is "Blue Door".', "Something else.")):
        payload = {"role": "user", "parts": [{"type": "text", "text": said}]}
        entry = {"type": "addMessage", "sessionId": "cc-other", "payload": payload}
        entry["createdAt"] = machine.clock.now_ms()
        (pending / f"x{number}_0.json").write_text(json.dumps(entry))
    assert forget(text='"Blue Door"').removed == 1
    machine.start()
    assert machine.server.session("cc-other").texts == ["Something else."]


def test_a_text_is_taken_out_of_what_was_set_aside_and_the_server_is_named(machine, talk, forget):
    told = forget(text="Blue Door")
    assert told.removed == 1
    assert told.left == (f"{machine.server.url} may hold the text: search there",)
    assert not any("refused" in finding.message for finding in machine.findings())
