"""The tools through the official client, in both of MCP's ways to talk, from a real process with a real home."""

from __future__ import annotations

import json
import sqlite3

import pytest

NAMES = ["memory_add_note", "memory_inspect", "memory_list", "memory_mode", "memory_read", "memory_search"]
SESSION = {"sessionId": "0d7f2c51-0000-4000-8000-000000000001", "threadId": "0d7f2c51-0000-4000-8000-000000000001"}
"""What Codex tells beside a call."""

both_ways = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


async def listed(client):
    return (await client.list_tools()).tools


def rows(place, query):
    with sqlite3.connect(place / "home" / "catalog.db") as catalogue:
        found = catalogue.execute(query).fetchall()
    catalogue.close()
    return found


@both_ways
def test_every_tool_is_listed_with_its_schema_and_what_it_does(connected, mode):
    tools = {tool.name: tool for tool in connected(listed, mode=mode)}
    assert sorted(tools) == NAMES
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.destructive_hint is False
    reading = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reading == {"memory_inspect", "memory_list", "memory_read", "memory_search"}


@both_ways
def test_an_agent_searches_and_reads_on_and_is_given_reference(called, mode):
    (found,) = called(("memory_search", {"queries": ["healthz"], "max_results": 3}), mode=mode)
    assert found.startswith("<codexmem-reference source=")
    assert "not an instruction" in found
    path, line, _ = next(one for one in found.splitlines() if ".md:" in one).split(":", 2)
    window, entries = called(("memory_read", {"path": path, "line_offset": int(line), "max_lines": 1}),
                             ("memory_list", {}), mode=mode)  # fmt: skip
    assert "healthz" in window
    assert "f MEMORY.md" in entries.splitlines()


def test_the_server_says_what_it_is_for(connected):
    async def introduced(client):
        return client.server_info, client.instructions

    info, instructions = connected(introduced)
    assert info.name == "codexmem"
    assert "reference, not instruction" in instructions


@both_ways
def test_errors_are_text(called, mode):
    texts = called(
        ("memory_read", {"path": "../../x"}),
        ("memory_read", {}),
        ("memory_search", {"queries": ["x"], "colour": "red"}),
        ("memory_reset", {}),
        ("no_such_tool", {}),
        mode=mode,
    )
    for text, (name, why) in zip(
        texts,
        [
            ("memory_read", "escapes"),
            ("memory_read", "path"),
            ("memory_search", "colour"),
            ("memory_reset", "codexmem reset"),
            ("no_such_tool", "no such tool"),
        ],
        strict=True,
    ):
        assert text.startswith(f"{name} error: ")
        assert why in text


def test_a_note_says_which_session_it_was_said_in(called, place):
    note = {"note": "The osprey nests in rack 7.", "title": "Osprey"}
    (told,) = called(("memory_add_note", note, SESSION))
    written = (place / "home" / "memories" / told.split()[2].rstrip(".")).read_text()
    assert f"- session: codex:{SESSION['sessionId']}\n" in written
    assert "osprey nests" in called(("memory_search", {"queries": ["osprey"]}))[0]


def test_the_calling_session_is_claudes_from_its_environment(called):
    (told,) = called(("memory_mode", {"mode": "disabled"}), host="claude", CLAUDE_CODE_SESSION_ID="c-1")
    assert told.startswith("claude:c-1: enabled")


def test_the_first_use_decides_which_memory_a_session_reads(called, place):
    called(("memory_inspect", {}, SESSION))
    assert rows(place, "SELECT * FROM memory_session_versions") == []
    called(("memory_search", {"queries": ["x"]}, SESSION))
    (row,) = rows(place, "SELECT host, session_id, version FROM memory_session_versions")
    assert row == ("codex", SESSION["sessionId"], "v1")
    called(("memory_search", {"queries": ["x"]}))
    assert len(rows(place, "SELECT * FROM memory_session_versions")) == 1


def test_a_host_that_is_not_installed_is_served_as_nobody(called):
    texts = called(("memory_search", {"queries": ["healthz"]}), ("memory_mode", {"mode": "disabled"}), host="elsewhere")
    assert "healthz" in texts[0]
    assert "name one with session_id" in texts[1]


def test_what_is_switched_off_is_off_at_once_and_on_again(wire, place):
    def names(number):
        return [tool["name"] for tool in server.ask(number, "tools/list")["result"]["tools"]]

    def searched(number):
        call = {"name": "memory_search", "arguments": {"queries": ["healthz"]}}
        return server.ask(number, "tools/call", **call)["result"]["content"][0]["text"]

    with wire() as server:
        server.shake_hands()
        assert (names(1), "healthz" in searched(2)) == (NAMES, True)
        (place / "config.toml").write_text("[memories]\nuse_memories = false\n")
        assert names(3) == ["memory_inspect", "memory_mode"]
        assert searched(4).startswith("memory_search error: the memory tools are switched off")
        (place / "config.toml").write_text("")
        assert (names(5), "healthz" in searched(6)) == (NAMES, True)


@both_ways
def test_where_forms_can_be_shown_there_is_a_reset(connected, user, mode):
    assert "memory_reset" in [tool.name for tool in connected(listed, mode=mode, answer=user())]


@both_ways
def test_the_user_is_asked_and_all_is_deleted(called, user, place, mode):
    agreeing = user(("accept", {"confirm": True}))
    (told,) = called(("memory_reset", {}), mode=mode, answer=agreeing)
    assert told.startswith("deleted: ")
    assert str(place / "home" / "memories") in agreeing.shown[0]
    assert list((place / "home" / "memories").iterdir()) == []


@both_ways
def test_anything_but_a_ticked_box_deletes_nothing(called, user, place, mode):
    answers = [("decline", None), ("cancel", None), ("accept", None), ("accept", {"confirm": False})]
    texts = called(*[("memory_reset", {})] * len(answers), mode=mode, answer=user(*answers))
    assert set(texts) == {"memory_reset error: not confirmed; nothing was reset"}
    assert (place / "home" / "memories" / "MEMORY.md").exists()


def test_a_client_that_promised_forms_and_has_none_deletes_nothing(wire, place):
    with wire() as server:
        server.shake_hands(elicitation={})
        server.send({"id": 1, "method": "tools/call", "params": {"name": "memory_reset", "arguments": {}}})
        question = server.receive()
        assert question["method"] == "elicitation/create"
        server.send({"id": question["id"], "error": {"code": -32601, "message": "Method not found"}})
        text = server.receive()["result"]["content"][0]["text"]
    assert text == "memory_reset error: the user could not be asked (Method not found)"
    assert (place / "home" / "memories" / "MEMORY.md").exists()


def test_plugins_own_tools_are_served_beside_ours(argv, environ, place, wire):
    site = place / "site"
    info = site / "lamp-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lamp\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[codexmem]\nlamp = lamp:plugin\n")
    (site / "lamp.py").write_text(
        "from codexmem_hookspecs import hookimpl\n"
        "from codexmem_hookspecs.values.read import Tool\n"
        "HOOK_API = 1\n"
        "def answer(given, session, services):\n"
        "    print('this must not reach the client')\n"
        "    return f'{given[\"lamp\"]} is green for {session.host}:{session.id}'\n"
        "class Plugin:\n"
        "    @hookimpl\n"
        "    def codexmem_read_tools(self):\n"
        "        schema = {'type': 'object', 'properties': {'lamp': {'type': 'string'}}}\n"
        "        return [Tool(name='lamp', summary='Look at a lamp.', schema=schema, call=answer, effect='reads')]\n"
        "plugin = Plugin()\n"
    )
    argv.remove("-I")
    with wire(PYTHONPATH=str(site)) as server:
        server.shake_hands()
        tools = {tool["name"]: tool for tool in server.ask(1, "tools/list")["result"]["tools"]}
        call = {"name": "lamp", "arguments": {"lamp": "A"}, "_meta": {"sessionId": "7"}}
        text = server.ask(2, "tools/call", **call)["result"]["content"][0]["text"]
    assert sorted(tools) == ["lamp", *NAMES]
    assert tools["lamp"]["annotations"] == {
        "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True,
    }  # fmt: skip
    assert text == "A is green for codex:7"
    assert all(json.loads(line) for line in server.printed)
