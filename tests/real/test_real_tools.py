"""The tools as `setup` entered them into each agent: called by the name that its sessions are told, and answered."""

import json
import sqlite3

import pytest

WORD = "pnpm-lock.yaml"
"""Stands in a recap of the sample, and in no context."""
OFFERED = {"codex": '"name":"mcp__codexmem', "claude": '"name":"mcp__codexmem', "opencode": '"name":"codexmem_'}
"""Stands in a request that offers our tools. Codex asks its model without those of a server that has not answered
within a second or so."""


def shown(request):
    """Names of all tools that a request offers, as models call them: Codex lists a server's in a space of their own."""
    names = set()
    for tool in request["tools"]:
        space = f"{tool['name']}__" if tool.get("type") == "namespace" else ""
        names |= {space + (one.get("function") or one).get("name", "") for one in tool.get("tools", [tool])}
    return names


@pytest.fixture
def calls(host):
    """A turn in which the model calls our tools; the conversation."""

    def call(*tools):
        steps = [host.memory_tool(name, **arguments) for name, arguments in tools]
        steps = [{**step, "match": OFFERED[host.name]} for step in (*steps, {"text": "That is all."})]
        conversation = host.say("What do we know?", *steps, {**host.shell("sleep 1"), "repeat": True})
        assert "That is all." in conversation.printed, conversation.complained
        return conversation

    return call


@pytest.fixture
def catalogue(machine):
    def rows(query):
        with sqlite3.connect(machine.memory_home / "catalog.db") as database:
            found = database.execute(query).fetchall()
        database.close()
        return found

    return rows


def test_what_the_model_searches_for_is_in_its_next_request(machine, calls):
    machine.remember_the_sample()
    conversation = calls(("memory_search", {"queries": [WORD], "path": "rollout_summaries"}))
    assert WORD not in conversation.told.partition("## Summary")[0]
    answer = json.dumps(conversation.requests[-1], ensure_ascii=False).rpartition("<codexmem-reference ")[2]
    assert WORD in answer
    assert "rollout_summaries/" in answer


def test_sessions_are_told_the_names_that_the_model_sees(machine, calls):
    machine.remember_the_sample()
    conversation = calls(("memory_list", {}))
    seen = shown(conversation.requests[-1])
    for tool in ("memory_search", "memory_read", "memory_add_note"):
        (name,) = (one for one in seen if one.endswith(tool))
        assert f" {name}" in conversation.told


def test_a_note_says_in_which_session_it_was_said(machine, host, calls, catalogue):
    calls(("memory_add_note", {"note": "The osprey nests in rack 7.", "title": "Osprey"}))
    (note,) = machine.memory_home.glob("memories/extensions/ad_hoc/notes/*-osprey.md")
    (session,) = set(catalogue("SELECT host, session_id, version FROM memory_session_versions"))
    assert session[0] == host.name
    assert session[2] == "v1"
    assert f"- session: {host.name}:{session[1]}\n" in note.read_text()


def test_nothing_is_deleted_where_nobody_can_be_asked(machine, host, calls):
    machine.remember_the_sample()
    conversation = calls(("memory_reset", {}))
    offered = any(name.endswith("memory_reset") for name in shown(conversation.requests[-1]))
    assert offered == (host.name != "opencode")
    assert "nothing was reset" in conversation.told_last or not offered
    assert (machine.memory_home / "memories" / "MEMORY.md").exists()


def test_our_own_tools_leave_a_session_as_it_is(machine, host, calls, catalogue):
    settings = machine.home / ".config" / "codexmem" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[memories]\ndisable_on_external_context = true\n")
    machine.codexmem("setup", host.name, "--yes")
    machine.remember_the_sample()
    calls(("memory_search", {"queries": [WORD]}), ("memory_list", {}))
    machine.codexmem("run", "--idle-hours", "0")
    assert catalogue("SELECT * FROM memory_session_meta WHERE memory_mode <> 'enabled'") == []
    assert catalogue(f"SELECT count(*) FROM sessions WHERE host = '{host.name}'") != [(0,)]
