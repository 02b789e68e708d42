"""What a real OpenViking server knows reaches conversations in every host, agents' tools and the command line."""

import pytest
from realhosts.conversation import until

PROMPTS = {"codex": "UserPromptSubmit", "claude": "UserPromptSubmit", "opencode": "chat.message"}
"""The event of each host in front of which it waits for what is recalled."""
STYLE = "viking://user/ada/memories/preferences/commits.md"


@pytest.fixture
def known(ov):
    """The user's account, with a profile and a preference."""

    def keep(name, text):
        content = {"uri": f"viking://~/memories/{name}", "content": text, "mode": "create", "wait": True}
        ov.call("POST", "/api/v1/content/write", content)

    keep("profile.md", "Sails on harbor-days.")
    keep("preferences/commits.md", "The user prefers compact commits, one subject each.")
    return ov


@pytest.fixture
def warm(known, machine, host):
    """A worker runs, and hooks ask it: after the first session of all."""
    host.say("Hello pier-1.")
    asks = machine.memory_home / "read" / f"{host.name}-{PROMPTS[host.name]}.live"
    until(asks.exists, "hooks that ask", 90.0)
    return host


def test_a_new_session_is_given_the_profile_and_what_is_recalled_about_its_prompt(warm):
    told = warm.say("What do compact commits look like?").told
    assert "Sails on harbor-days." in told
    assert f"- [preferences] The user prefers compact commits, one subject each. ({STYLE})" in told
    assert "openviking_read" in told


def test_nothing_that_was_given_is_sent_as_if_it_had_been_said(known, warm):
    warm.say("What do compact commits look like?")
    name = known.until_said("What do compact commits look like?")
    assert not [text for _, text in known.messages(name) if "harbor-days" in text or "one subject each" in text]


def test_the_command_line_speaks_of_this_server(known, machine, warm):
    assert "it knows us as ada" in machine.codexmem("ov", "doctor")
    assert "server 0.5" in machine.codexmem("ov", "status")
    machine.codexmem("ov", "commit")  # which the worker may be doing at the same moment
    until(
        lambda: "no session waits for a commit" in machine.codexmem("ov", "status"), "every commit", 60.0, pause_s=0.5
    )
