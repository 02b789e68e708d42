"""The plugin file tells codexmem what happens in OpenCode, citations included. Run by node."""

import json
import shutil

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codexmem_core.readpath import citations

from .plugin_file import BUSY, OVER, answers, born, happens, idles, says

CALLS = "plugins/host-opencode/calls"
BLOCK = "<memory-citation><session_ids>\nses_old\n</session_ids></memory-citation>"


def test_a_prompt_is_told_as_the_user_typed_it(played):
    played.play(born(), says('"run the \\"tests\\" please"'))
    assert [event.prompt for event in played.events] == ["", 'run the "tests" please']


def test_that_a_session_is_idle_is_told_once_until_it_has_worked_again(played):
    played.play(born(), says(), BUSY, *idles(), says(), BUSY, *idles(), BUSY, *idles())
    assert played.told.count("session.idle") == 3
    assert [event.kind for event in played.events if event.kind not in ("start", "prompt")] == ["idle"] * 3


def test_the_end_is_told_for_every_session_of_the_process(played):
    played.sessions["ses_2"] = {"id": "ses_2", "directory": str(played.project)}
    played.play(born(), says(), says(id_="ses_2"), OVER, OVER)
    assert played.told.count("dispose") == 1
    assert [event.session.id for event in played.events if event.kind == "end"] == ["ses_1", "ses_2"]


def test_a_deleted_session_is_told_and_its_subagents_are_not(played):
    child = {"id": "ses_child", "parentID": "ses_1"}
    known = {"id": "ses_0", "title": "Old", "directory": "/home/user/old"}
    played.play(happens("session.deleted", "ses_child", info=child), happens("session.deleted", "ses_0", info=known))
    assert [(event.kind, event.session.id, event.session.cwd) for event in played.events] == [
        ("deleted", "ses_0", "/home/user/old")
    ]


def test_tools_are_told_by_names_that_tell_whose_they_are(played):
    def calls(tool):
        return {"hook": "tool.execute.before", "input": {"tool": tool, "sessionID": "ses_1", "callID": tool}}

    servers = {"my.tickets": {}, "my.tickets_old": {}, "codexmem": {}}
    tools = ("bash", "webfetch", "my_tickets_find", "my_tickets_old_find", "codexmem_memory_search")
    played.play(born(), says(), *map(calls, tools), servers=servers)
    assert [event.tool for event in played.events if event.kind == "tool"] == [
        "bash",
        "webfetch",
        "mcp__my_tickets__find",
        "mcp__my_tickets_old__find",
        "codexmem_memory_search",
    ]


def test_who_waits_for_our_own_tools_is_written_down_as_long_as_it_waits(played):
    def calls(hook, call, id_="ses_1", tool="codexmem_memory_search"):
        return {"hook": f"tool.execute.{hook}", "input": {"tool": tool, "sessionID": id_, "callID": call}}

    def waiting(*steps):
        played.play(*steps)
        return [json.loads(path.read_text())["sessions"] for path in (played.home / CALLS).iterdir()]

    began = [born(), says(), born("ses_child", parentID="ses_1"), says(id_="ses_child")]
    assert waiting(*began, calls("before", "c1"), calls("before", "c2", "ses_child")) == [["ses_1"]]
    shutil.rmtree(played.home / CALLS)
    one = [calls("before", "c1"), calls("after", "c1"), calls("before", "c2", tool="bash")]
    assert waiting(*began, *one, calls("before", "c3"), *idles()) == []


def test_a_compaction_is_told_before_it_begins(played):
    played.play(born(), says(), {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}})
    assert played.told[-1] == "experimental.session.compacting"


def test_only_what_is_wanted_is_told_beside_what_always_is(played):
    played.install(kinds=["start"])
    compacting = {"hook": "experimental.session.compacting", "input": {"sessionID": "ses_1"}}
    calls = {"hook": "tool.execute.before", "input": {"tool": "bash", "sessionID": "ses_1"}}
    played.play(born(), says(), calls, compacting, answers(f"x {BLOCK}"), *idles(), happens("session.deleted"), OVER)
    assert played.told == [
        "session.start-startup",
        "experimental.text.complete",
        "session.idle",
        "session.deleted",
    ]


def test_a_session_that_lives_elsewhere_tells_from_there(played, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    played.play(born(directory=str(tmp_path / "elsewhere")), says(), *idles())
    assert {event.session.cwd for event in played.events} == {str(tmp_path / "elsewhere")}
    played.play(born(directory="/no/such/place"), says(), *idles())
    assert played.events[-1].session.cwd == "/no/such/place"


# Citations


def test_a_citation_is_taken_out_of_the_answer_and_told(played):
    (_, _, answer, plain) = played.play(
        born(), says(), answers(f"Linted.\n\n{BLOCK}"), answers("A citation needed here.  ")
    )
    assert answer == {"text": "Linted."}
    assert plain == {"text": "A citation needed here.  "}, "text without one keeps every space"
    cited = [event.cited for event in played.events if event.kind == "cited"]
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
def test_it_takes_out_what_the_rest_of_codexmem_takes_for_citations(played, texts):
    for path in (played.home / "spool").glob("*"):
        path.unlink()
    outputs = played.play(*[answers(text, id_=f"ses_{number}") for number, text in enumerate(texts)])
    assert [output["text"] for output in outputs] == [citations.strip(text) for text in texts]
    cited = {event.session.id: citations.parse(event.cited).session_ids for event in played.events}
    for number, text in enumerate(texts):
        assert set(citations.parse(text).session_ids) <= set(cited.get(f"ses_{number}", ()))
