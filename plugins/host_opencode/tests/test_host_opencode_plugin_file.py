"""The plugin file tells codexmem what happens in OpenCode, and gives sessions what lies ready. Run by node."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.readpath import citations

from .plugin_file import BUILD, BUSY, LINT, OVER, PluginFile, answers, asks, born, happens, idles, says

BLOCK = "<memory-citation><session_ids>\nses_old\n</session_ids></memory-citation>"


@pytest.fixture
def opencode(tmp_path):
    world = PluginFile(tmp_path)
    yield world
    os.close(world.bell)


# Context


def test_a_session_is_given_the_same_bytes_at_every_turn(opencode):
    systems = opencode.systems(born(), says(), asks(), asks(), says("more"), asks())
    assert systems == [[BUILD, "Always lint."]] * 3
    (first, header, payload) = opencode.spooled[0]
    assert (first, payload["source"], payload["session_id"]) == ("session.start-startup", "startup", "ses_1")
    assert header.startswith("v1 generation"), "what was really given is known to the worker"
    assert f"pid={os.getpid()}" not in header
    assert " pid=" in header
    assert opencode.told == ["session.start-startup", "chat.message", "chat.message"]


def test_agents_that_work_for_opencode_itself_are_given_nothing(opencode):
    title = "You are a title generator. You output ONLY a thread title. Nothing else.\n\n<task>"
    own = [{"name": "title", "prompt": "Name this talk.\n"}, {"name": "compaction", "prompt": "Sum it up."}]
    compaction = "You are a context summarization agent. You are given"
    requests = [asks(one) for one in (title, compaction, "Name this talk.\nShortly.", "Sum it up.", BUILD)]
    given = opencode.systems(born(), says(), *requests, agents=[*own, {"name": "build", "prompt": BUILD[:3]}])
    assert [len(system) for system in given] == [1, 1, 1, 1, 2]


def test_a_request_without_a_session_or_before_its_first_message_is_given_nothing(opencode):
    assert opencode.systems(asks(id_=None), asks(id_="ses_2"), born(), asks()) == [[BUILD]] * 3


def test_a_session_that_goes_on_is_given_its_memory_again(opencode):
    assert opencode.systems(says(), asks()) == [[BUILD, "Always lint."]]
    assert opencode.told == ["session.start-resume", "session.start-startup", "chat.message"]
    assert {event.moment for event in opencode.events if event.kind == "start"} == {"resume"}


def test_a_newer_state_of_the_same_memory_takes_over_and_another_memory_does_not(opencode):
    newer = {"replace": {"path": str(opencode.ready), "content": "v1 g2\nLint and test."}}
    other = {"replace": {"path": str(opencode.ready), "content": "v2 g3\nSomething else."}}
    nothing = {"replace": {"path": str(opencode.ready), "content": "v1 g4\n"}}
    given = opencode.systems(born(), says(), asks(), newer, asks(), other, asks(), nothing, asks())
    assert [system[1:] for system in given] == [["Always lint."], ["Lint and test."], ["Lint and test."], []]


def test_where_the_project_says_no_nothing_is_given(opencode):
    (opencode.project / ".codexmem.toml").write_text('memory = "no_context"\n')
    assert opencode.systems(born(), says(), asks(), says(), asks()) == [[BUILD]] * 2
    assert opencode.systems(says(), asks()) == [[BUILD]]


def test_a_payload_that_is_a_link_or_missing_gives_nothing(opencode):
    opencode.ready.unlink()
    assert opencode.systems(born(), says(), asks()) == [[BUILD]]
    elsewhere = opencode.project / "elsewhere"
    elsewhere.write_text(LINT)
    opencode.ready.symlink_to(elsewhere)
    assert opencode.systems(born(), says(), asks(), asks()) == [[BUILD, "Always lint."]] * 2
    changed = {"replace": {"path": str(elsewhere), "content": "v1 g\nChanged."}}
    assert opencode.systems(born(), says(), asks(), changed, asks())[1] == [BUILD, "Always lint."]


# Whose sessions


def test_a_subagent_is_given_what_its_parent_was_and_tells_nothing_of_its_own(opencode):
    child = {"parentID": "ses_1", "directory": str(opencode.project)}
    steps = [born(), says(), born("ses_child", **child), says("look", "ses_child"), asks(id_="ses_child")]
    steps += [*idles("ses_child"), answers(f"found {BLOCK}", "ses_child"), OVER]
    assert opencode.systems(*steps) == [[BUILD, "Always lint."]]
    assert opencode.told == ["session.start-startup", "chat.message", "experimental.text.complete", "dispose"]
    assert {event.session.id for event in opencode.events} == {"ses_1"}


def test_our_own_sessions_are_neither_told_nor_given_anything(opencode):
    ours = born(title="codexmem-extraction", directory=str(opencode.project))
    outputs = opencode.play(ours, says(), asks(), answers(f"x {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    assert outputs[2]["system"] == [BUILD]
    assert opencode.told == []
    opencode.sessions["ses_1"]["title"] = "codexmem-consolidation"
    assert opencode.systems(says(), asks()) == [[BUILD]]
    assert opencode.told == []


@pytest.mark.parametrize("variable", ["CODEXMEM_CHILD", "CODEXMEM_BYPASS"])
def test_a_variable_silences_it(opencode, variable):
    opencode.environ[variable] = "1"
    assert opencode.systems(born(), says(), asks(), *idles(), OVER) == [[BUILD]]
    assert opencode.said["hooks"] == []
    assert list(opencode.home.glob("spool")) == []
    assert list(opencode.home.glob("plugins")) == []
    opencode.environ[variable] = "0"
    assert opencode.systems(born(), says(), asks()) == [[BUILD, "Always lint."]]


# What is told


def test_a_prompt_is_told_as_the_user_typed_it(opencode):
    opencode.play(born(), says('"run the \\"tests\\" please"'))
    assert [event.prompt for event in opencode.events] == ["", 'run the "tests" please']


def test_that_a_session_is_idle_is_told_once_until_it_has_worked_again(opencode):
    opencode.play(born(), says(), BUSY, *idles(), says(), BUSY, *idles(), BUSY, *idles())
    assert opencode.told.count("session.idle") == 3
    assert [event.kind for event in opencode.events if event.kind not in ("start", "prompt")] == ["idle"] * 3


def test_the_end_is_told_for_every_session_of_the_process(opencode):
    opencode.sessions["ses_2"] = {"id": "ses_2", "directory": str(opencode.project)}
    opencode.play(born(), says(), says(id_="ses_2"), OVER, OVER)
    assert opencode.told.count("dispose") == 1
    assert [event.session.id for event in opencode.events if event.kind == "end"] == ["ses_1", "ses_2"]


def test_a_deleted_session_is_told_and_its_subagents_are_not(opencode):
    child = {"id": "ses_child", "parentID": "ses_1"}
    known = {"id": "ses_0", "title": "Old", "directory": "/home/user/old"}
    opencode.play(happens("session.deleted", "ses_child", info=child), happens("session.deleted", "ses_0", info=known))
    assert [(event.kind, event.session.id, event.session.cwd) for event in opencode.events] == [
        ("deleted", "ses_0", "/home/user/old")
    ]


def test_tools_are_told_by_names_that_tell_whose_they_are(opencode):
    def calls(tool):
        return {"hook": "tool.execute.before", "input": {"tool": tool, "sessionID": "ses_1", "callID": tool}}

    servers = {"my.tickets": {}, "my.tickets_old": {}, "codexmem": {}}
    tools = ("bash", "webfetch", "my_tickets_find", "my_tickets_old_find", "codexmem_memory_search")
    opencode.play(born(), says(), *map(calls, tools), servers=servers)
    assert [event.tool for event in opencode.events if event.kind == "tool"] == [
        "bash",
        "webfetch",
        "mcp__my_tickets__find",
        "mcp__my_tickets_old__find",
        "codexmem_memory_search",
    ]


def test_a_compaction_is_told_before_it_begins(opencode):
    opencode.play(born(), says(), {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}})
    assert opencode.told[-1] == "experimental.session.compacting"


def test_only_what_is_wanted_is_told_beside_what_always_is(opencode):
    opencode.install(kinds=["start"])
    compacting = {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}}
    calls = {"hook": "tool.execute.before", "input": {"tool": "bash", "sessionID": "ses_1"}}
    opencode.play(born(), says(), calls, compacting, answers(f"x {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    assert opencode.told == [
        "session.start-startup",
        "experimental.text.complete",
        "session.idle",
        "session.deleted",
    ]


def test_a_session_that_lives_elsewhere_tells_from_there(opencode, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    opencode.play(born(directory=str(tmp_path / "elsewhere")), says(), *idles())
    assert {event.session.cwd for event in opencode.events} == {str(tmp_path / "elsewhere")}
    opencode.play(born(directory="/no/such/place"), says(), *idles())
    assert opencode.events[-1].session.cwd == "/no/such/place"


# Citations


def test_a_citation_is_taken_out_of_the_answer_and_told(opencode):
    (_, _, answer, plain) = opencode.play(
        born(), says(), answers(f"Linted.\n\n{BLOCK}"), answers("A citation needed here.  ")
    )
    assert answer == {"text": "Linted."}
    assert plain == {"text": "A citation needed here.  "}, "text without one keeps every space"
    cited = [event.cited for event in opencode.events if event.kind == "cited"]
    assert [citations.parse(text).session_ids for text in cited] == [("ses_old",)]


PIECES = st.sampled_from(
    [
        *("<memory-citation>", "</memory-citation>", "<Memory_Citation>", "</memory_citation>"),
        *("<oai-mem-citation>", "</oai-mem-citation>", "```memory-citation\n", "````memory-citation\n", "```", "````"),
        *("\n", "\n\n\n", " ", "   ", "\t", "\r\n", "x", "a:1-2|note=[n]", "session: s1, s2\n"),
        "<session_ids>\ns3\n</session_ids>",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5, deadline=None)
@given(st.lists(TEXTS, min_size=100, max_size=100))
def test_it_takes_out_what_the_rest_of_codexmem_takes_for_citations(opencode, texts):
    for path in (opencode.home / "spool").glob("*"):
        path.unlink()
    outputs = opencode.play(*[answers(text, id_=f"ses_{number}") for number, text in enumerate(texts)])
    assert [output["text"] for output in outputs] == [citations.strip(text) for text in texts]
    cited = {event.session.id: citations.parse(event.cited).session_ids for event in opencode.events}
    for number, text in enumerate(texts):
        assert set(citations.parse(text).session_ids) <= set(cited.get(f"ses_{number}", ()))


# Faults


def test_it_leaves_word_where_opencode_is_reached(opencode):
    opencode.play(born(), says())
    (word,) = (opencode.home / "plugins" / "host-opencode" / "seen").iterdir()
    first = json.loads(word.read_text())
    assert (first["directory"], first["url"]) == (str(opencode.project), ""), "nobody listens there"
    assert Path(first["program"]).is_absolute()
    assert word.stat().st_mode & 0o777 == 0o600
    opencode.play(url="http://127.0.0.1:4199/")
    assert json.loads(word.read_text())["url"] == "http://127.0.0.1:4199/"


def test_word_is_touched_whenever_something_happens(opencode):
    opencode.play(born(), says())
    (word,) = (opencode.home / "plugins" / "host-opencode" / "seen").iterdir()
    os.utime(word, (1, 1))
    opencode.play(says())
    assert word.stat().st_mtime > 1


def test_nothing_reaches_opencode_when_codexmem_is_gone(opencode):
    opencode.install(program="/nowhere/python")
    everything = (born(), says(), asks(), answers(f"Done. {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    outputs = opencode.play(*everything)
    assert outputs[2]["system"] == [BUILD]
    assert outputs[3]["text"] == "Done."
    opencode.install(program="/bin/false")
    assert opencode.systems(*everything) == [[BUILD]]


def test_nothing_reaches_opencode_when_the_home_cannot_be_written(opencode):
    (opencode.home / "spool").write_text("in the way")
    (opencode.home / "plugins").write_text("in the way")
    assert opencode.systems(born(), says(), asks(), *idles(), OVER) == [[BUILD, "Always lint."]]


def test_a_program_that_hangs_is_left_behind(opencode):
    hang = opencode.project / "hang"
    hang.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    hang.chmod(0o755)
    opencode.install(program=str(hang), kinds=["start"])
    assert opencode.systems(born(), says(), asks(), *idles()) == [[BUILD]]


def test_an_opencode_that_tells_nothing_of_itself_is_no_obstacle(opencode):
    calls = {"hook": "tool.execute.before", "input": {"tool": "tickets_find", "sessionID": "ses_1", "callID": "c"}}
    assert opencode.systems(says(), asks(), calls, silent=True) == [[BUILD, "Always lint."]]
    assert {event.session.id for event in opencode.events} == {"ses_1"}
    assert [event.tool for event in opencode.events if event.kind == "tool"] == ["tickets_find"]


def test_of_many_sessions_the_one_that_was_not_used_for_longest_is_let_go_of(opencode):
    few = opencode.file.read_bytes().replace(b"const KEPT = 1000", b"const KEPT = 2")
    opencode.file.write_bytes(few)
    opencode.sessions |= {f"ses_{number}": opencode.sessions["ses_1"] for number in (2, 3)}
    one, two, three = (says(id_=f"ses_{number}") for number in (1, 2, 3))
    given = opencode.systems(one, two, asks(id_="ses_1"), three, asks(id_="ses_2"), asks(id_="ses_1"))
    assert [len(system) for system in given] == [2, 1, 2]


@pytest.mark.parametrize("given", [None, {}, {"sessionID": None}, {"event": None}, {"event": {"type": "session.idle"}}])
def test_odd_calls_come_to_nothing(opencode, given):
    hooks = ("chat.message", "experimental.chat.system.transform", "experimental.text.complete", "event", "dispose")
    opencode.play(*[{"hook": hook, "input": given, "output": given} for hook in hooks])
    assert opencode.told == []
