"""The plugin file gives OpenCode's sessions what lies ready, and subagents what their parents have. Run by node."""

import os

import pytest

from .plugin_file import BUILD, LINT, OVER, answers, asks, born, happens, idles, says

BLOCK = "<memory-citation><session_ids>\nses_old\n</session_ids></memory-citation>"


def test_a_session_is_given_the_same_bytes_at_every_turn(played):
    systems = played.systems(born(), says(), asks(), asks(), says("more"), asks())
    assert systems == [[BUILD, "Always lint."]] * 3
    (first, header, payload) = played.spooled[0]
    assert (first, payload["source"], payload["session_id"]) == ("session.start-startup", "startup", "ses_1")
    assert header.startswith("v1 generation"), "what was really given is known to the worker"
    assert f"pid={os.getpid()}" not in header
    assert " pid=" in header
    assert played.told == ["session.start-startup", "chat.message", "chat.message"]


def test_agents_that_work_for_opencode_itself_are_given_nothing(played):
    title = "You are a title generator. You output ONLY a thread title. Nothing else.\n\n<task>"
    own = [{"name": "title", "prompt": "Name this talk.\n"}, {"name": "compaction", "prompt": "Sum it up."}]
    compaction = "You are a context summarization agent. You are given"
    requests = [asks(one) for one in (title, compaction, "Name this talk.\nShortly.", "Sum it up.", BUILD)]
    given = played.systems(born(), says(), *requests, agents=[*own, {"name": "build", "prompt": BUILD[:3]}])
    assert [len(system) for system in given] == [1, 1, 1, 1, 2]


def test_a_request_without_a_session_or_before_its_first_message_is_given_nothing(played):
    assert played.systems(asks(id_=None), asks(id_="ses_2"), born(), asks()) == [[BUILD]] * 3


def test_a_session_that_goes_on_is_given_its_memory_again(played):
    assert played.systems(says(), asks()) == [[BUILD, "Always lint."]]
    assert played.told == ["session.start-resume", "session.start-startup", "chat.message"]
    assert {event.moment for event in played.events if event.kind == "start"} == {"resume"}


def test_a_newer_state_of_the_same_memory_takes_over_and_another_memory_does_not(played):
    newer = {"replace": {"path": str(played.ready), "content": "v1 g2\nLint and test."}}
    other = {"replace": {"path": str(played.ready), "content": "v2 g3\nSomething else."}}
    nothing = {"replace": {"path": str(played.ready), "content": "v1 g4\n"}}
    given = played.systems(born(), says(), asks(), newer, asks(), other, asks(), nothing, asks())
    assert [system[1:] for system in given] == [["Always lint."], ["Lint and test."], ["Lint and test."], []]


def test_where_the_project_says_no_nothing_is_given(played):
    (played.project / ".codexmem.toml").write_text('memory = "no_context"\n')
    assert played.systems(born(), says(), asks(), says(), asks()) == [[BUILD]] * 2
    assert played.systems(says(), asks()) == [[BUILD]]


def test_a_payload_that_is_a_link_or_missing_gives_nothing(played):
    played.ready.unlink()
    assert played.systems(born(), says(), asks()) == [[BUILD]]
    elsewhere = played.project / "elsewhere"
    elsewhere.write_text(LINT)
    played.ready.symlink_to(elsewhere)
    assert played.systems(born(), says(), asks(), asks()) == [[BUILD, "Always lint."]] * 2
    changed = {"replace": {"path": str(elsewhere), "content": "v1 g\nChanged."}}
    assert played.systems(born(), says(), asks(), changed, asks())[1] == [BUILD, "Always lint."]


# Whose sessions


def test_a_subagent_is_given_what_its_parent_was_and_tells_nothing_of_its_own(played):
    child = {"parentID": "ses_1", "directory": str(played.project)}
    steps = [born(), says(), born("ses_child", **child), says("look", "ses_child"), asks(id_="ses_child")]
    steps += [*idles("ses_child"), answers(f"found {BLOCK}", "ses_child"), OVER]
    assert played.systems(*steps) == [[BUILD, "Always lint."]]
    assert played.told == ["session.start-startup", "chat.message", "experimental.text.complete", "dispose"]
    assert {event.session.id for event in played.events} == {"ses_1"}


def test_our_own_sessions_are_neither_told_nor_given_anything(played):
    ours = born(title="codexmem-extraction", directory=str(played.project))
    outputs = played.play(ours, says(), asks(), answers(f"x {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    assert outputs[2]["system"] == [BUILD]
    assert played.told == []
    played.sessions["ses_1"]["title"] = "codexmem-consolidation"
    assert played.systems(says(), asks()) == [[BUILD]]
    assert played.told == []


@pytest.mark.parametrize("variable", ["CODEXMEM_CHILD", "CODEXMEM_BYPASS"])
def test_a_variable_silences_it(played, variable):
    played.environ[variable] = "1"
    assert played.systems(born(), says(), asks(), *idles(), OVER) == [[BUILD]]
    assert played.said["hooks"] == []
    assert list(played.home.glob("spool")) == []
    assert list(played.home.glob("plugins")) == []
    played.environ[variable] = "0"
    assert played.systems(born(), says(), asks()) == [[BUILD, "Always lint."]]
