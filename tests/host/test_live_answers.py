"""What must be computed is asked of the worker, within the time that a host can wait."""

from __future__ import annotations

import json
import signal
import socket

import pytest

from codexmem_core.host.asking import SOCKET

RULE = (("user", "Always run the linter before you commit, and never push to main."), ("assistant", "ok"))


def context(printed):
    return json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""


@pytest.fixture
def remembered(hooks, eventually):
    """A memory, and a worker that is at rest and has answered before: a hook waits for an answer for a second."""
    hooks.say("s1", *RULE)
    hooks.call("SessionEnd", hooks.payload("SessionEnd"))
    eventually(lambda: b"linter" in hooks.ready("SessionStart-startup"), "a memory")
    eventually(hooks.passes, "the end of the pass, at which every flag is there")
    eventually(lambda: start(hooks, "resume", "warm"), "an answer")
    return hooks


def start(hooks, source, session="s2", **more):
    return hooks.call(f"SessionStart-{source}", hooks.payload("SessionStart", session, source=source), **more)


def test_a_resumed_session_is_not_told_again_what_it_has(remembered):
    assert "linter" in context(start(remembered, "startup"))
    assert start(remembered, "resume") == b""


def test_a_resumed_session_is_told_what_is_new(remembered, eventually):
    start(remembered, "startup")
    before = remembered.ready("SessionStart-startup")
    remembered.say("s3", ("user", "Never edit generated files by hand."), ("assistant", "ok"))
    remembered.call("SessionEnd", remembered.payload("SessionEnd", "s3"))
    eventually(lambda: remembered.ready("SessionStart-startup") != before, "a newer memory")
    eventually(lambda: "generated files" in context(start(remembered, "resume")), "what is new")
    assert start(remembered, "resume") == b""


def test_a_session_that_was_never_told_anything_is_told_at_its_resume(remembered, eventually):
    eventually(lambda: "linter" in context(start(remembered, "resume")), "the memory")


def test_a_fork_is_told_only_what_its_parent_was_not(remembered, eventually):
    start(remembered, "startup")
    remembered.say("f1", parent="s2")
    assert start(remembered, "fork", "f1") == b""
    assert start(remembered, "resume", "f1") == b"", "it has it from its parent"
    remembered.say("f2", parent="s0")
    eventually(lambda: "linter" in context(start(remembered, "fork", "f2")), "that parent was told nothing")
    before = remembered.ready("SessionStart-startup")
    remembered.say("s3", ("user", "Never edit generated files by hand."), ("assistant", "ok"))
    remembered.call("SessionEnd", remembered.payload("SessionEnd", "s3"))
    eventually(lambda: remembered.ready("SessionStart-startup") != before, "a newer memory")
    remembered.say("f3", parent="s2")
    eventually(lambda: "generated files" in context(start(remembered, "fork", "f3")), "what is new")


@pytest.fixture
def ask(remembered, monkeypatch):
    """A hook's question on its way; the connection."""
    monkeypatch.chdir(remembered.home)

    def send(session):
        hook = socket.socket(socket.AF_UNIX)
        hook.settimeout(60)
        hook.connect(SOCKET)
        payload = json.dumps(remembered.payload("SessionStart", session, source="resume"))
        hook.sendall(f"codex SessionStart-resume\n{payload}".encode())
        hook.shutdown(socket.SHUT_WR)
        return hook

    return send


def test_whoever_asks_next_finds_what_the_session_was_given(remembered, ask):
    for number in range(5):
        with ask(f"a{number}") as hook:
            while hook.recv(65536):
                pass
        given = f"SELECT count(*) FROM session_contexts WHERE session_id = 'a{number}' AND generation <> ''"
        assert remembered.catalogue(given) == 1


def test_what_a_hook_could_not_wait_for_is_told_at_the_next_resume(remembered, ask, eventually):
    ask("s2").close()
    eventually(lambda: "linter" in context(start(remembered, "resume")), "the answer")
    assert start(remembered, "resume") == b"", "once"


def test_after_compaction_and_clear_a_session_is_told_again(remembered):
    for source in ("startup", "compact", "clear"):
        assert "linter" in context(start(remembered, source))


def test_without_a_worker_a_resumed_session_is_told_nothing_and_one_is_started(remembered, eventually):
    remembered.cli("worker", "--stop")
    assert start(remembered, "resume") == b""
    remembered.worker_soon()


def test_a_worker_that_does_not_answer_costs_the_wait_and_not_the_memory(remembered):
    """It hangs, and has not yet done so for long: what lies ready is printed after all."""
    remembered.worker_with("sources")
    (worker,) = remembered.children
    assert worker.pid == remembered.worker().pid
    worker.send_signal(signal.SIGSTOP)
    assert "linter" in context(start(remembered, "startup"))
    assert remembered.call("UserPromptSubmit", remembered.payload("UserPromptSubmit", "s2", prompt="?")) == b""


def test_sources_have_their_say_by_priority_within_the_hosts_limit(hooks):
    hooks.say("s1", *RULE)
    hooks.worker_with("sources")
    said = context(start(hooks, "startup"))
    assert said.index("how to use it") < said.index("you asked: startup")
    assert "too late" not in said
    assert len(said.encode()) <= 9_900
    assert "recalled" in start(hooks, "startup").decode()


def test_a_prompt_is_answered_by_sources_alone(hooks):
    hooks.say("s1", *RULE)
    hooks.worker_with("sources")
    asked = hooks.payload("UserPromptSubmit", "s2", prompt="why does the build fail")
    said = context(hooks.call("UserPromptSubmit", asked))
    assert "you asked: why does the build fail" in said
    assert "linter" not in said


def test_a_source_that_hangs_or_fails_costs_the_others_nothing(hooks):
    hooks.worker_with("sources")
    for _ in range(3):
        said = context(start(hooks, "startup"))
        assert "how to use it" in said
        assert "too late" not in said
    assert any("the index is gone" in str(line) for line in hooks.log())


def test_a_host_waits_until_a_plugin_has_heard_of_the_compaction(hooks):
    hooks.worker_with("committing")
    assert hooks.call("PreCompact", hooks.payload("PreCompact", "s2", trigger="manual")) == b""
    assert (hooks.home / "told").read_text() == "compaction s2\n"


def test_a_host_waits_for_a_worker_that_is_only_just_starting(hooks):
    hooks.worker_with("committing")
    (hooks.home / "told").unlink(missing_ok=True)
    hooks.cli("worker", "--stop")
    hooks.call("PreCompact", hooks.payload("PreCompact", "s2", trigger="manual"))
    # The worker that the hook has started knows no such plugin; it has dealt with the event all the same.
    assert hooks.worker() is not None
    assert hooks.is_quiet()


def test_a_project_that_wants_no_context_gets_none_and_one_that_wants_it_does(remembered, eventually):
    project = remembered.folder / "apart"
    project.mkdir()

    def begin(memory, session):
        (project / ".codexmem.toml").write_text(f'memory = "{memory}"\n')
        payload = {**remembered.payload("SessionStart", session, source="startup"), "cwd": str(project)}
        return context(remembered.call("SessionStart-startup", payload, cwd=project))

    assert begin("off", "s2") == ""
    assert begin("no_context", "s3") == ""
    eventually(lambda: "linter" in begin("read_only", "s4"), "an answer")
    remembered.cli("worker", "--stop")
    eventually(lambda: "linter" in begin("read_only", "s5"), "a worker was started for it")
    remembered.cli("worker", "--stop")
    remembered.no_worker()
    assert begin("read_only", "s6") == "", "nobody can tell"
    assert "linter" in context(start(remembered, "startup", "s7"))


def test_a_session_goes_on_with_the_memory_that_it_was_given(remembered, eventually):
    """After compaction it would be given what new sessions read, were it not for the one that it knows."""
    start(remembered, "startup", "s2")
    eventually(remembered.is_quiet)
    remembered.settings('[memories]\nread = "v2"\n')
    remembered.call("Stop", remembered.payload("Stop", "s2"))
    eventually((remembered.home / "read" / "codex-SessionStart-compact.live").exists, "a flag")
    eventually(lambda: "codexmem memory v1" in context(start(remembered, "compact", "s2")), "the memory that it knows")
    assert "codexmem memory v2" in context(start(remembered, "startup", "s9"))


def test_a_folder_of_the_users_list_is_asked_about(remembered, eventually):
    apart = remembered.folder / "apart"
    (apart / "deep").mkdir(parents=True)
    remembered.settings(f'[memories]\nbypass = ["{apart}/**"]\n')
    remembered.call("Stop", remembered.payload("Stop", "s2"))
    eventually((remembered.home / "read" / "folders").exists, "a list of folders")
    payload = {**remembered.payload("SessionStart", "s3", source="startup"), "cwd": str(apart / "deep")}
    assert remembered.call("SessionStart-startup", payload, cwd=apart / "deep") == b""
    assert "linter" in context(start(remembered, "startup", "s4"))


def test_the_command_says_what_the_hook_prints(remembered):
    printed = context(start(remembered, "startup", "s2"))
    assert remembered.cli("context", "--host", "codex").stdout == printed
    (remembered.project / ".codexmem.toml").write_text('memory = "off"\n')
    assert remembered.cli("context", "--host", "codex").stdout == ""
