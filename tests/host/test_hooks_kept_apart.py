"""Where a project, a folder or a session is to be kept apart, a hook is silent and writes no word down."""

from __future__ import annotations

import json

import pytest

PREFERS = (("user", "Always use tabs in this repository."), ("assistant", "Yes."))


@pytest.fixture
def remembered(hooks):
    """Something is in the memory, and no worker is there."""
    hooks.say("first", *PREFERS)
    assert hooks.cli("run", "--idle-hours", "0", "--all").returncode == 0
    return hooks


def start(hooks, cwd=None, **environ):
    cwd = cwd or hooks.project
    payload = hooks.payload("SessionStart", "new", source="startup", cwd=str(cwd))
    return hooks.call("SessionStart-startup", payload, cwd=cwd, **environ)


def test_a_host_that_runs_with_the_variable_is_left_alone(remembered):
    hooks = remembered
    assert b"tabs" in start(hooks)
    hooks.worker_soon()
    hooks.cli("worker", "--stop")
    hooks.cli("run", "--idle-hours", "0")
    before = hooks.starts()
    assert start(hooks, CODEXMEM_BYPASS="1") == b""
    for event in ("UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        payload = hooks.payload(event, "new", prompt="the words", last_assistant_message="the words")
        assert hooks.call(event, payload, CODEXMEM_BYPASS="1") == b""
    events = hooks.spooled()
    assert [event.event for event in events] == ["SessionStart-startup", "SessionEnd"]
    assert all(event.header.bypassed for event in events)
    assert hooks.starts() == before
    hooks.say("new", ("user", "Always sign commits with the walrus key."), ("assistant", "Yes."))
    assert "started with CODEXMEM_BYPASS" in hooks.cli("run", "--idle-hours", "0").stdout
    assert "left out: started with CODEXMEM_BYPASS" in hooks.cli("status").stdout
    assert "walrus" not in hooks.cli("context").stdout


@pytest.mark.parametrize("value", ["", "0"])
def test_an_empty_variable_or_zero_means_nothing(value, remembered):
    assert b"tabs" in start(remembered, CODEXMEM_BYPASS=value)


def test_without_a_worker_a_hook_below_a_projects_file_says_nothing(remembered):
    hooks = remembered
    inner = hooks.project / "deep" / "er"
    inner.mkdir(parents=True)
    (hooks.project / "deep" / ".codexmem.toml").write_text('memory = "off"\n')
    assert start(hooks, cwd=inner) == b""
    assert b"tabs" in start(hooks)


def test_a_projects_file_that_is_about_something_else_silences_nothing(remembered):
    (remembered.project / ".codexmem.toml").write_text('[ov]\npeer = "harbor"\n')
    assert b"tabs" in start(remembered)


def test_without_a_worker_a_hook_in_a_listed_folder_says_nothing(remembered):
    hooks = remembered
    hooks.config.write_text('[memories]\nbypass = ["~/private/**"]\n')
    hooks.cli("run")
    for folder in ("private", "private/deep", "privateer"):
        (hooks.folder / folder).mkdir(parents=True, exist_ok=True)
        assert (b"tabs" in start(hooks, cwd=hooks.folder / folder)) == (folder == "privateer")


def test_what_was_noted_is_given_to_the_next_session_without_being_asked_for(hooks):  # spec case 81
    assert hooks.cli("note", "The staging server is called amber.").returncode == 0
    assert hooks.cli("run").returncode == 0
    given = start(hooks)
    assert b"amber" in given
    assert json.loads(given)["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_a_worker_answers_below_a_projects_file_as_the_file_says(remembered, eventually):
    hooks = remembered
    start(hooks)
    hooks.worker_soon()
    for memory, gives in {"on": True, "off": False, "no_context": False, "read_only": True}.items():
        inner = hooks.project / memory / "deep"
        inner.mkdir(parents=True)
        (hooks.project / memory / ".codexmem.toml").write_text(f'memory = "{memory}"\n')
        if gives:
            eventually(lambda inner=inner: b"tabs" in start(hooks, cwd=inner), memory)
        else:
            assert start(hooks, cwd=inner) == b""


def test_a_worker_answers_in_a_listed_folder_and_beside_it_as_the_list_says(remembered, eventually):
    hooks = remembered
    hooks.config.write_text('[memories]\nbypass = ["~/work*/secret"]\n')
    assert hooks.cli("run").returncode == 0
    for folder in ("work1/secret/x", "work1/open"):
        (hooks.folder / folder).mkdir(parents=True)
    start(hooks)
    hooks.worker_soon()
    eventually(lambda: b"tabs" in start(hooks, cwd=hooks.folder / "work1/open"), "an answer")
    assert start(hooks, cwd=hooks.folder / "work1/secret/x") == b""
