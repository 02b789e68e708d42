"""The plugin file in OpenCode 2: context, events, citations, and folders that come and go. Run by node."""

import sys
from importlib.resources import files

import pytest

from codexmem_core.readpath import citations

from .plugin_file2 import asks, assistant, calls, happens, prompts, systems

FENCE = "```memory-citation\nMEMORY.md:1-2|note=lint\nsessions: ses_old\n```"
BLOCK = "<memory-citation><session_ids>\nses_old\n</session_ids></memory-citation>"
BORN = happens("session.created", info={"id": "ses_1", "title": "New"})


def replied(text=f"Linted.\n\n{FENCE}", message="msg_2", id_="ses_1"):
    return happens("session.text.ended", id_, assistantMessageID=message, ordinal=0, text=text)


# Context


def test_a_session_is_given_the_same_block_in_every_request(second):
    results = second.plays(BORN, prompts(), asks(), asks(), prompts("more"), asks())
    assert systems(results) == [["Always lint."]] * 3
    (first, header, payload) = second.spooled[0]
    assert (first, payload["source"], payload["cwd"]) == ("session.start-startup", "startup", second.folder)
    assert header.startswith("v1 generation")
    assert second.told == ["session.start-startup", "chat.message", "chat.message"]


def test_a_session_that_goes_on_is_resumed_and_given_its_memory_again(second):
    assert systems(second.plays(asks(), prompts(), asks())) == [["Always lint."]] * 2
    assert {event.moment for event in second.events if event.kind == "start"} == {"resume"}


def test_requests_that_come_at_once_begin_a_session_once_and_all_have_the_memory(second):
    both, request = prompts()["hook"], asks()["hook"]
    (results,) = second.plays({"atOnce": [both, request, request]})
    assert systems(results) == [["Always lint."]] * 2
    assert second.told.count("session.start-startup") == 1


def test_titles_compactions_and_generated_texts_are_given_nothing(second):
    results = second.plays(BORN, prompts(), *[asks(kind=kind) for kind in ("title", "compaction", "generate")])
    assert systems(results) == [[], [], []]
    assert second.told[-1] == "experimental.session.compacting"


def test_a_subagent_is_given_what_its_parent_was(second):
    second.put("ses_child", second.folder, parentID="ses_1")
    results = second.plays(BORN, prompts(), prompts("look", "ses_child"), asks(id_="ses_child"))
    assert systems(results) == [["Always lint."]]
    assert {event.session.id for event in second.events} == {"ses_1"}


def test_how_to_cite_is_said_in_opencode_2s_own_form(second):
    shown = "<memory-citation>\n<citation_entries>\nMEMORY.md:12-18|note=[why]\n</citation_entries>\n<session_ids>\n"
    shown += "the id\n</session_ids>\n</memory-citation>"
    second.ready.write_text(f"v1 generation\nEnd with this block:\n\n{shown}\n\nThe summary.")
    ((text,),) = systems(second.plays(BORN, prompts(), asks()))
    assert "<memory-citation>" not in text
    assert "\n```memory-citation\nMEMORY.md:12-18|note=[why]\nsessions: the id\n```\n" in text
    assert (text[:20], text[-12:]) == ("End with this block:", "The summary.")


@pytest.mark.parametrize("memory", ["memory_v1", "memory_v2"])
def test_what_the_memories_say_about_citing_has_that_form(second, memory):
    template = files(f"codexmem_{memory}").joinpath("templates", "context_citations.md").read_text()
    second.ready.write_text(f"v1 generation\n{template}")
    ((text,),) = systems(second.plays(BORN, prompts(), asks()))
    assert "memory-citation>" not in text
    inner = text.partition("````\n")[2].partition("````")[0]
    assert citations.parse(inner).entries


# Citations


def test_a_citation_is_told_once_however_often_it_is_seen(second):
    cited = assistant(f"Linted.\n\n{FENCE}", id="msg_2")
    second.plays(BORN, prompts(), replied(), replied(), asks(cited), asks(cited, kind="compaction"), asks(cited))
    (event,) = [event for event in second.events if event.kind == "cited"]
    assert (event.session.id, event.message) == ("ses_1", "msg_2")
    assert citations.parse(event.cited).session_ids == ("ses_old",)


@pytest.mark.parametrize("kind", ["context", "compaction", "generate", "title"])
@pytest.mark.parametrize("block", [FENCE, BLOCK])
def test_what_the_model_is_sent_holds_no_citation(second, kind, block):
    user = {"role": "user", "content": [{"type": "text", "text": f"what is {block}"}]}
    both = assistant(f"Linted.\n\n{block}", block, id="msg_2")
    only = assistant(block, id="msg_3")
    *_, request = second.plays(BORN, prompts(), asks(user, both, only, kind=kind))
    texts = [[part["text"] for part in message["content"]] for message in request["messages"]]
    assert texts == [[f"what is {block}"], ["Linted."], [""]], "a message keeps one piece, even when it is empty"


def test_one_that_was_missed_is_counted_when_the_conversation_is_sent_again_if_it_has_a_name(second):
    named, nameless = assistant(f"a\n\n{FENCE}", id="msg_7"), assistant(f"b\n\n{FENCE}")
    second.plays(BORN, prompts(), asks(named, nameless))
    assert [event.message for event in second.events if event.kind == "cited"] == ["msg_7"]


# Events


def test_a_session_rests_when_its_work_is_over_whichever_way_and_once(second):
    over = [happens(f"session.execution.{how}") for how in ("succeeded", "ended", "failed", "interrupted")]
    began = happens("session.execution.started")
    second.plays(BORN, prompts(), began, *over, began, over[2])
    assert second.told.count("session.idle") == 2


def test_a_deleted_session_is_told_and_a_subagents_is_not(second):
    second.put("ses_child", second.folder, parentID="ses_1")
    second.plays(
        BORN, prompts(), prompts(id_="ses_child"), happens("session.deleted", "ses_child"), happens("session.deleted")
    )
    assert [event.session.id for event in second.events if event.kind == "deleted"] == ["ses_1"]


def test_tools_are_told_by_names_that_tell_whose_they_are(second):
    servers = ["my.tickets", "codexmem"]
    tools = ("bash", "my_tickets_find", "mcp_my_tickets_find", "codexmem_memory_search")
    second.plays(BORN, prompts(), *map(calls, tools), servers=servers)
    assert [event.tool for event in second.events if event.kind == "tool"] == [
        "bash",
        "mcp__my_tickets__find",
        "mcp__my_tickets__find",
        "codexmem_memory_search",
    ]


def test_events_are_asked_for_again_when_that_failed(second):
    soon = second.file.read_bytes().replace(b"const AGAIN_MS = 5000", b"const AGAIN_MS = 5")
    second.file.write_bytes(soon)
    second.plays(BORN, prompts(), happens("session.execution.succeeded"), deaf=3)
    assert second.told[-1] == "session.idle"


# Folders of one process


def test_an_event_that_two_folders_hear_is_told_once(second):
    other = str(second.other)
    event = happens("session.execution.succeeded", event_id="evt_1")
    second.plays({"begin": other}, BORN, prompts(), event)
    assert second.told.count("session.idle") == 1


def test_a_folder_that_is_given_up_ends_its_own_sessions_and_the_last_one_ends_all(second):
    other = str(second.other)
    second.put("ses_2", other)
    steps = [{"begin": other}, prompts(at=second.folder), prompts(id_="ses_2", at=other)]
    second.plays(*steps, {"end": other}, asks(at=second.folder), happens("session.execution.succeeded"))
    assert [event.session.id for event in second.events if event.kind == "end"] == ["ses_2"]
    assert second.told[-1] == "session.idle", "the other one goes on"
    second.plays(*steps, {"end": second.folder}, {"end": other})
    assert [event.session.id for event in second.events if event.kind == "end"] == ["ses_2", "ses_1", "ses_2"]


def test_each_folder_leaves_word_of_the_process_that_works_there(second):
    second.plays({"begin": str(second.other)}, {"ask": {"path": "/api/info"}})
    assert set(second.words) == {second.folder, str(second.other)}
    word = second.words[second.folder]
    assert (word["generation"], word["version"]) == (2, "2.0.20")
    assert word["location"]["url"].startswith("http://127.0.0.1:")
    assert {path.stat().st_mode & 0o777 for path in second.seen.iterdir()} == {0o600}


# Whoever asks the process


def test_a_process_tells_what_it_saw_itself_and_only_to_those_who_know_its_token(second):
    message = {"type": "user", "id": "msg_1", "text": "hello"}
    paths = ("/api/info", "/api/session?order=desc", "/api/session/ses_1", "/api/session/ses_1/message", "/api/x")
    *answers, stranger, missing = second.plays(
        BORN,
        prompts(),
        *[{"ask": {"path": path}} for path in paths],
        {"ask": {"path": "/api/session", "token": "guessed"}},
        {"ask": {"path": "/api/session/ses_9"}},
        messages={"ses_1": [message]},
    )
    info, listed, one, messages, unknown = answers[2:]
    assert (info["body"]["version"], info["body"]["observed"]) == ("2.0.20", True)
    assert [(row["id"], row["location"]["directory"]) for row in listed["body"]["data"]] == [("ses_1", second.folder)]
    assert one["body"]["data"]["id"] == "ses_1"
    assert messages["body"]["data"] == [message]
    assert [unknown["status"], stranger["status"], missing["status"]] == [404, 401, 404]


def test_a_process_that_can_list_every_session_does(second):
    second.put("ses_9", "/elsewhere")
    info, listed = second.plays({"ask": {"path": "/api/info"}}, {"ask": {"path": "/api/session"}}, lists=True)
    assert info["body"]["observed"] is False
    assert [row["id"] for row in listed["body"]["data"]] == ["ses_1", "ses_9"]


def test_text_is_generated_in_the_newest_folder_that_still_works(second):
    other = str(second.other)
    asked = {"ask": {"method": "POST", "path": "/api/experimental/generate", "body": {"prompt": "note it"}}}
    first, _, second_answer, told = second.plays({"begin": other}, asked, {"end": other}, asked, {"told": None})[1:]
    assert first["body"]["data"] == {"text": f"said in {other}"}
    assert second_answer["body"]["data"] == {"text": f"said in {second.folder}"}
    assert told[second.folder]["prompts"] == [{"prompt": "note it"}]
    (refused,) = second.plays(asked, refuses=True)
    assert refused == {"status": 503, "body": {"message": "no model is there"}}


# Tools


def test_our_tools_are_on_the_models_own_list_and_say_whose_call_it_is(second, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text("")
    places = ("--home", str(second.home), "--config", str(config))
    second.install(mcp=(sys.executable, "-I", "-m", "codexmem_core.cli", *places, "mcp", "opencode"))
    disable = {"tool": {"name": "codexmem_memory_mode", "input": {"mode": "disabled"}, "session": "ses_child"}}
    wrong = {"tool": {"name": "codexmem_memory_search", "input": {"queries": 7}, "session": "ses_1"}}
    second.put("ses_child", second.folder, parentID="ses_1")
    *_, mode, failed, told = second.plays(BORN, prompts(), prompts(id_="ses_child"), disable, wrong, {"told": None})
    tools = told[second.folder]["tools"]
    assert {"memory_search", "memory_read", "memory_list", "memory_add_note", "memory_inspect", "memory_mode"} == {
        name.removeprefix("codexmem_") for name in tools if "memory_" in name
    }, "no reset, for nobody can be asked there"
    assert {tool["options"]["codemode"] for tool in tools.values()} == {False}
    assert all(tool["input"]["type"] == "object" and tool["description"] for tool in tools.values())
    assert "ses_1" in mode["content"]
    assert "error" in failed["content"]


def test_the_entry_for_opencode_1_is_left_out_where_the_tools_come_from_the_plugin_file(second):
    second.install(mcp=("/bin/false",))
    (began,) = second.plays({"begin": str(second.other)})
    assert began["removed"] == ["codexmem"]
    assert began["tools"] == []


# Faults


@pytest.mark.parametrize("variable", ["CODEXMEM_CHILD", "CODEXMEM_BYPASS"])
def test_a_variable_silences_it(second, variable):
    second.environ[variable] = "1"
    (began,) = second.plays({"begin": str(second.other)})
    assert began["hooks"] == []
    assert not second.seen.exists()


def test_nothing_reaches_opencode_when_codexmem_is_gone(second):
    second.install(program="/nowhere/python", mcp=("/nowhere/python",))
    cited = assistant(f"Linted.\n\n{FENCE}", id="msg_2")
    results = second.plays(BORN, prompts(), asks(cited), replied(), happens("session.deleted"), {"end": second.folder})
    assert systems(results) == [[]]
    assert second.told == []


@pytest.mark.parametrize(
    "said", ["null", "7", "{", "[]", '{"id": 1}', '{"id": 1, "result": null}', '{"id": 1, "error": 7}']
)
def test_a_program_that_speaks_no_mcp_leaves_opencode_without_tools(second, said):
    talks = f"print({said!r}, flush=True); import sys; sys.stdin.read()"
    second.install(mcp=(sys.executable, "-I", "-c", talks))
    soon = second.file.read_bytes().replace(b"const LIST_MS = 3000", b"const LIST_MS = 50")
    second.file.write_bytes(soon)
    *_, request, told = second.plays(BORN, prompts(), asks(), {"told": None})
    assert systems([request]) == [["Always lint."]]
    assert told[second.folder]["tools"] == {}


@pytest.mark.parametrize("name", ["prompt", "context", "compaction", "generate", "title", "tool.execute.before"])
@pytest.mark.parametrize("event", [None, {}, {"sessionID": None}, {"sessionID": "ses_9", "messages": [None, 7]}])
def test_odd_calls_come_to_nothing(second, name, event):
    second.plays({"hook": {"name": name, "event": event}}, {"event": {"type": "session.idle"}}, {"event": {"type": 7}})
    assert [event.kind for event in second.events if event.kind not in ("start", "tool", "compaction", "prompt")] == []
