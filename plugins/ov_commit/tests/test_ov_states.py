"""State files and end markers, with many at them at once."""

import json
import threading

import pytest
from codexmem_ov_commit.names import file_stem
from codexmem_ov_commit.states import State

ROUNDS = 300


def together(*work):
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_a_stop_and_an_end_at_once_send_everything_once(machine):
    for number in range(5):
        talk = machine.conversation().user(*(f"Turn {turn} of conversation {number}." for turn in range(130)))
        together(talk.stop, talk.end, talk.stop)
        assert talk.stored.texts == [f"Turn {turn} of conversation {number}." for turn in range(130)]
        assert len(talk.stored.archives) <= 1


def test_a_marker_that_is_written_while_older_ones_are_cleared_stays(machine):
    markers = machine.markers()
    for number in range(1, ROUNDS):
        markers.mark("s", number * 10)
        together(
            lambda now=number: markers.clear("s", now * 10 + 1), lambda now=number: markers.mark("s", now * 10 + 5)
        )
        assert markers.newest("s") == number * 10 + 5
        markers.clear_all("s")


def test_a_state_is_whole_whoever_writes_at_the_same_time(machine):
    states = machine.states()

    def write(session):
        for number in range(60):
            states.save(State(session_id="s", transcript=session * 500, captured=number), touch=True)

    together(*(lambda letter=letter: write(letter) for letter in "abc"))
    state = states.load("s")
    assert state.captured == 59
    assert len(set(state.transcript)) == 1
    assert sorted(path.name for path in machine.state_folder().iterdir()) == ["s.json"]


def test_the_same_end_marked_twice_is_one_marker(machine):
    markers = machine.markers()
    markers.mark("s", 5)
    markers.mark("s", 5)
    assert markers.sessions() == {"s": 5}


@pytest.mark.parametrize("name", ["s.ended.x", "s.ended.1_0", "s.ended.-5", "s.ended.٣", "s.ended.", "s.endedness.5"])
def test_what_is_no_marker_is_none(machine, name):
    machine.state_folder().mkdir(parents=True)
    (machine.state_folder() / name).write_text("5")
    assert machine.markers().sessions() == {}
    assert machine.markers().clear_all("s") == 0


@pytest.mark.parametrize("content", ["", "soon", "0", "-1"])
def test_a_bare_marker_without_a_time_is_of_now(machine, content):
    machine.state_folder().mkdir(parents=True)
    (machine.state_folder() / "s.ended").write_text(content)
    assert machine.markers().newest("s") == machine.clock.now_ms()


def test_a_state_is_one_line_of_json_with_unknown_keys_kept(machine):
    path = machine.state_folder() / "s.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"codexSessionId": "s", "later": [1], "capturedTurnCount": "many", "ovSessionId": 7}))
    states = machine.states()
    state = states.load("s")
    assert (state.captured, state.live) == (0, False)
    states.save(state, touch=False)
    text = path.read_text()
    assert "\n" not in text
    assert ": " not in text
    assert json.loads(text)["later"] == [1]
    assert json.loads(text)["ovSessionId"] is None


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '"text"', "[" * 20_000])
def test_a_file_that_is_no_state_gives_a_fresh_one(machine, content):
    path = machine.state_folder() / "s.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert machine.states().load("s").captured == 0
    assert list(machine.states().all()) == []


def test_long_session_ids_have_files_of_their_own(machine):
    talks = [machine.conversation("x" * 300 + end).user(f"Words of session {end}.") for end in "ab"]
    for talk in talks:
        talk.stop()
        talk.end()
    assert [talk.stored.texts for talk in talks] == [["Words of session a."], ["Words of session b."]]
    assert file_stem(talks[0].session.id) != file_stem(talks[1].session.id)
