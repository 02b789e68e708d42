"""What OpenViking knows reaches a session through real hooks and a real worker; a server that is gone costs nothing."""

from __future__ import annotations

import json

import pytest
from fake_openviking import FakeOpenViking

RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "I will do that."))


def context(printed):
    return json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""


def start(hooks, source, session="s2"):
    return context(hooks.call(f"SessionStart-{source}", hooks.payload("SessionStart", session, source=source)))


@pytest.fixture
def server():
    with FakeOpenViking() as fake:
        fake.memory.keep("profile.md", "Prefers small commits.")
        yield fake


@pytest.fixture
def served(hooks, server, eventually):
    """A memory of one session, which is also committed on the server; the worker is at rest."""
    hooks.with_openviking(server.url)
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")
    eventually(lambda: server.session("cx-s1").archives, "a commit")
    eventually(hooks.passes, "the end of the pass, at which every flag is there")
    return hooks


def test_a_new_session_is_given_the_memory_and_the_profile(served):
    said = start(served, "startup")
    assert "linter" in said
    assert "Prefers small commits." in said
    assert said.index("linter") < said.index("Prefers small commits.")


def test_a_session_that_goes_on_is_given_its_archive_and_no_profile_twice(served, server):
    server.session("cx-s1").overview = "## Session Title\nLinting before commits"
    assert "Prefers small commits." in start(served, "clear", "s1")
    said = start(served, "resume", "s1")
    assert "Linting before commits" in said
    assert "viking://~/sessions/cx-s1/history/" in said
    assert "Prefers small commits." not in said


def test_a_prompt_is_given_what_the_server_recalls(served, server, eventually):
    uri = "viking://~/memories/preferences/style.md"
    server.memory.context = [{"uri": uri, "category": "preferences", "score": 0.9, "text": "Prefers small commits."}]
    asked = served.payload("UserPromptSubmit", "s2", prompt="How should I write commits?")
    said = context(served.call("UserPromptSubmit", asked))
    assert f"- [preferences] Prefers small commits. ({uri})" in said
    assert server.asked("/search/search")[-1].body["session_id"] == "cx-s2"
    assert '<openviking-context source="auto-recall" format="digest">' in said
    assert said.startswith("<codexmem-reference ")


def test_without_the_server_a_prompt_is_given_nothing(served, server):
    server.cut = lambda _asked: (503, {"status": "error"})
    asked = served.payload("UserPromptSubmit", "s2", prompt="How should I write commits?")
    assert served.call("UserPromptSubmit", asked) == b""


def test_no_host_waits_for_a_recall_that_is_switched_off_or_not_installed(served, eventually):
    flag = served.home / "read" / "codex-UserPromptSubmit.live"
    assert flag.read_text() == "120.5"
    served.settings("[ov-commit]\nauto_recall = false\n")
    served.call("Stop", served.payload("Stop", "s2"))
    eventually(lambda: not flag.exists(), "the end of waiting")
    asked = served.payload("UserPromptSubmit", "s2", prompt="How should I write commits?")
    assert served.call("UserPromptSubmit", asked) == b""


def test_without_the_plugin_no_prompt_waits_and_nobody_is_asked(hooks, server, eventually):
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"), OPENVIKING_URL=server.url)
    eventually(hooks.passes, "a pass")
    assert not (hooks.home / "read" / "codex-UserPromptSubmit.live").exists()
    asked = hooks.payload("UserPromptSubmit", "s2", prompt="How should I write commits?")
    assert hooks.call("UserPromptSubmit", asked, OPENVIKING_URL=server.url) == b""
    assert server.lines == []


def test_what_was_given_never_comes_back_to_the_server(served, server, eventually):
    """Codex writes injected context into its transcript, beside the prompt or into the user's own message."""
    server.memory.context = [
        {"uri": "viking://~/x.md", "category": "events", "score": 0.9, "text": "Released on Friday."}
    ]
    asked = served.payload("UserPromptSubmit", "s3", prompt="When was the release?")
    said = context(served.call("UserPromptSubmit", asked))
    assert "Released on Friday." in said
    served.say(
        "s3",
        ("developer", said),
        ("user", f"{said}\nWhen was the release, please?"),
        ("assistant", "On a Friday, I think."),
    )
    served.call("Stop", served.payload("Stop", "s3"))
    eventually(lambda: server.session("cx-s3").messages, "turns")
    assert server.session("cx-s3").texts == ["When was the release, please?", "On a Friday, I think."]


def test_without_the_server_a_session_is_given_the_memory_all_the_same(served, server):
    server.cut = lambda _asked: (503, {"status": "error"})
    said = start(served, "startup")
    assert "linter" in said
    assert "openviking" not in said.lower()


def test_commands_speak_of_the_same_sessions(served, server):
    served.say("s4", *RULE)
    served.call("Stop", served.payload("Stop", "s4"))
    assert "cx-s4" not in served.cli("ov", "commit", "--session", "unknown").stdout
    done = served.cli("--json", "ov", "commit")
    assert done.returncode == 0, done.stderr
    assert server.session("cx-s1").archives
    assert served.cli("ov", "status").returncode == 0
    assert "openviking-server: server 0.5.2 answers" in served.cli("doctor").stdout
