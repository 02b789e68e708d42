"""OpenViking's tools, served to agents beside the memory's by the real server."""

from __future__ import annotations

import pytest
from fake_openviking import FakeOpenViking

URI = "viking://user/default/memories/preferences/style.md"


@pytest.fixture
def openviking():
    with FakeOpenViking() as server:
        server.memory.keep("preferences/style.md", "Prefers small commits.")
        server.memory.found[""] = [{"uri": URI, "level": 2, "score": 0.9, "abstract": "Small commits."}]
        yield server


def test_agents_read_and_search_what_openviking_keeps(called, openviking):
    calls = (
        ("openviking_read", {"uri": URI}),
        ("openviking_search", {"query": "commits"}),
        ("openviking_commit_pending", {}),
        ("openviking_read", {"uri": "/etc/passwd"}),
    )
    read, found, committed, refused = called(*calls, OPENVIKING_URL=openviking.url, CODEXMEM_DISABLE="")
    assert "Prefers small commits." in read
    assert f"- [preferences] Small commits. ({URI}, 0.90)" in found
    assert committed == "nothing waits for a commit"
    assert refused == "openviking_read error: '/etc/passwd' is no viking:// address"


def test_a_server_that_is_gone_is_an_answer(called):
    (said,) = called(("openviking_read", {"uri": URI}), OPENVIKING_URL="http://127.0.0.1:1", CODEXMEM_DISABLE="")
    assert said.startswith("openviking_read error: OpenViking: ")
    assert "codexmem ov doctor" in said


def test_agents_are_told_what_the_tools_do(connected, openviking):
    async def listed(client):
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = connected(listed, OPENVIKING_URL=openviking.url, CODEXMEM_DISABLE="")
    assert tools["openviking_read"].annotations.read_only_hint is True
    assert tools["openviking_search"].annotations.read_only_hint is True
    assert tools["openviking_commit_pending"].annotations.destructive_hint is False
    assert "memory_search" in tools
