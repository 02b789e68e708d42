"""OpenCode's own models take the notes and bring the memory up to date: with its login, and without a tool."""

import json
import subprocess

import pytest

FACT = "the harbor service is released with the lighthouse script"
NOTE = {"rollout_summary": f"# Harbor\n\n{FACT}", "rollout_slug": "harbor", "raw_memory": f"task: harbor\n\n{FACT}"}
SUMMARY = f"v1\n\n## User Profile\n\n## User preferences\n\n- {FACT}\n\n## General Tips\n\n## What's in Memory\n"
OURS = "StructuredOutput"


def gives(**answer):
    """A step in which the model gives an object; the user's own sessions have no such tool."""
    return {"match": OURS, "tool": {"name": OURS, "args": answer}}


def writes(path, content):
    return gives(tool="write", arguments={"path": path, "content": content})


@pytest.fixture
def by_its_models(machine, opencode):
    """OpenCode's models are chosen, and V1 is the only memory."""
    machine.environ |= opencode.environ | {"CODEXMEM_MODELS_BACKEND": "opencode", "CODEXMEM_DISABLE": "memory-v2"}
    return opencode


def sessions_in(folder, opencode):
    """What OpenCode lists there."""
    command = [opencode.program, "--pure", "session", "list", "--format", "json"]
    done = subprocess.run(command, cwd=folder, env=opencode.environ, capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout or b"[]")


def test_a_session_is_noted_and_consolidated_and_nothing_is_left_behind(machine, by_its_models):
    opencode = by_its_models
    opencode.say(f"Remember for all my projects: {FACT}, never by hand.", {"text": "Noted."})
    before = len(opencode.server.requests)
    opencode.server.script = [
        {**gives(**NOTE), "match": "codexmem-extraction-request"},
        writes("MEMORY.md", f"# Task Group: harbor\n\n- {FACT}\n"),
        writes("memory_summary.md", SUMMARY),
        gives(done=True),
    ]
    report = json.loads(machine.codexmem("--json", "run", "--idle-hours", "0", "--now"))
    assert report["memories"]["v1"]["consolidation"] == "succeeded", report
    assert FACT in machine.codexmem("context")
    asked = opencode.server.requests[before:]
    assert [[tool["function"]["name"] for tool in one.body["tools"]] for one in asked] == [[OURS]] * 4
    assert [one.body["model"] for one in asked] == ["fake-small", *["fake-model"] * 3]
    assert sessions_in(machine.memory_home / "plugins" / "host-opencode" / "own", opencode) == []
    assert json.loads(machine.codexmem("--json", "status"))["sessions"]["known"] == 1


def test_a_model_that_wants_a_tool_is_given_none(machine, by_its_models):
    opencode = by_its_models
    opencode.say("Remember that I like tea.", {"text": "Noted."})
    mark = machine.project / "touched"
    wants = opencode.shell(f"touch {mark}")
    opencode.server.script = [{**wants, "match": OURS}, gives(**NOTE)]
    report = json.loads(machine.codexmem("--json", "extract", "--idle-hours", "0"))
    assert report["sessions"]["extracted"] == 1, report
    assert not mark.exists()
