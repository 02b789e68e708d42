"""Whatever goes wrong in the plugin file, OpenCode goes on as if it were not there. Run by node."""

import json
import os
import sys
from pathlib import Path

import pytest

from .plugin_file import BUILD, OVER, answers, asks, born, happens, idles, says

BLOCK = "<memory-citation><session_ids>\nses_old\n</session_ids></memory-citation>"


def test_it_leaves_word_where_opencode_is_reached(played):
    played.play(born(), says())
    (word,) = (played.home / "plugins" / "host-opencode" / "seen").iterdir()
    first = json.loads(word.read_text())
    assert (first["directory"], first["url"]) == (str(played.project), ""), "nobody listens there"
    assert Path(first["program"]).is_absolute()
    assert word.stat().st_mode & 0o777 == 0o600
    played.play(url="http://127.0.0.1:4199/")
    assert json.loads(word.read_text())["url"] == "http://127.0.0.1:4199/"


def test_word_is_touched_whenever_something_happens(played):
    played.play(born(), says())
    (word,) = (played.home / "plugins" / "host-opencode" / "seen").iterdir()
    os.utime(word, (1, 1))
    played.play(says())
    assert word.stat().st_mtime > 1


def test_nothing_reaches_opencode_when_codexmem_is_gone(played):
    played.install(program="/nowhere/python")
    everything = (born(), says(), asks(), answers(f"Done. {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    outputs = played.play(*everything)
    assert outputs[2]["system"] == [BUILD]
    assert outputs[3]["text"] == "Done."
    played.install(program="/bin/false")
    assert played.systems(*everything) == [[BUILD]]


def test_nothing_reaches_opencode_when_the_home_cannot_be_written(played):
    (played.home / "spool").write_text("in the way")
    (played.home / "plugins").write_text("in the way")
    assert played.systems(born(), says(), asks(), *idles(), OVER) == [[BUILD, "Always lint."]]


def test_a_program_that_hangs_is_left_behind(played):
    hang = played.project / "hang"
    hang.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    hang.chmod(0o755)
    played.install(program=str(hang), kinds=["start"])
    assert played.systems(born(), says(), asks(), *idles()) == [[BUILD]]


def test_an_opencode_that_tells_nothing_of_itself_is_no_obstacle(played):
    calls = {"hook": "tool.execute.before", "input": {"tool": "tickets_find", "sessionID": "ses_1", "callID": "c"}}
    assert played.systems(says(), asks(), calls, silent=True) == [[BUILD, "Always lint."]]
    assert {event.session.id for event in played.events} == {"ses_1"}
    assert [event.tool for event in played.events if event.kind == "tool"] == ["tickets_find"]


def test_of_many_sessions_the_one_that_was_not_used_for_longest_is_let_go_of(played):
    few = played.file.read_bytes().replace(b"const KEPT = 1000", b"const KEPT = 2")
    played.file.write_bytes(few)
    played.sessions |= {f"ses_{number}": played.sessions["ses_1"] for number in (2, 3)}
    one, two, three = (says(id_=f"ses_{number}") for number in (1, 2, 3))
    given = played.systems(one, two, asks(id_="ses_1"), three, asks(id_="ses_2"), asks(id_="ses_1"))
    assert [len(system) for system in given] == [2, 1, 2]


@pytest.mark.parametrize("given", [None, {}, {"sessionID": None}, {"event": None}, {"event": {"type": "session.idle"}}])
def test_odd_calls_come_to_nothing(played, given):
    hooks = ("chat.message", "experimental.chat.system.transform", "experimental.text.complete", "event", "dispose")
    played.play(*[{"hook": hook, "input": given, "output": given} for hook in hooks])
    assert played.told == []
