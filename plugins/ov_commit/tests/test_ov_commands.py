"""``codexmem ov`` and the doctor: what waits, committing it now, and faults with their fixes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from codexmem_ov_commit import plugin
from codexmem_ov_commit.checks import faults_of, masked
from codexmem_ov_commit.locks import lock_name


@pytest.fixture
def ov(machine):
    """Run a command; exit status and what was printed."""
    (command,) = plugin.codexmem_commands()

    def run(*words):
        done = CliRunner().invoke(command.load(), words, obj=machine.services)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code, done.output

    return run


def findings(machine, level):
    checks = plugin.codexmem_doctor_checks()
    return [one for check in checks for one in check.run(machine.services) if one.level == level]


def write(machine, path, text):
    place = machine.folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def test_status_shows_the_server_and_what_waits(machine, ov):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    code, text = ov("status")
    assert code == 0
    assert f"{machine.server.url} (named by: environment): server 0.5.2" in text
    assert f"{talk.name}: 1 turns sent, active 2027-01-15" in text
    value = json.loads(ov("status", "--json")[1])
    assert value["server"]["answers"] is True
    assert [one["session"] for one in value["waiting"]] == [talk.name]
    talk.end()
    assert "no session waits" in ov("status")[1]


def test_status_without_a_server_still_tells_what_waits(machine, ov):
    machine.conversation().user("Run make check before every commit.").stop()
    machine.lose_server()
    code, text = ov("status")
    assert code == 0
    assert "not reachable" in text
    assert "sessions that wait for a commit: 1" in text


def test_commit_sends_the_tail_and_seals_every_session_that_waits(machine, ov):
    first = machine.conversation().user("Run make check before every commit.")
    first.stop()
    first.agent("I will do that from now on.")
    second = machine.conversation(host="claude").user("Squash before pushing, please.")
    second.stop()
    machine.start(host="claude")
    code, text = ov("commit")
    assert code == 0
    assert f"{first.name}: committed, 1 turns sent" in text
    assert f"{second.name}: committed" in text
    assert first.stored.texts == ["Run make check before every commit.", "I will do that from now on."]
    assert len(first.stored.archives) == len(second.stored.archives) == 1
    assert ov("commit") == (0, "nothing waits\n")
    first.user("One more thing to look at, please.").stop()
    assert len(first.stored.messages) == 1, "the session goes on under its name"


def test_one_session_can_be_named_by_either_of_its_names(machine, ov):
    talks = [machine.conversation().user("Run make check before every commit.") for _ in range(2)]
    for talk in talks:
        talk.stop()
    assert ov("commit", "--session", talks[0].session.id)[0] == 0
    assert [len(talk.stored.archives) for talk in talks] == [1, 0]
    assert ov("commit", "--session", talks[1].name)[0] == 0
    assert [len(talk.stored.archives) for talk in talks] == [1, 1]
    code, text = ov("commit", "--session", "unknown")
    assert code == 1
    assert "codexmem ov status" in text


def test_a_commit_that_fails_is_told_and_keeps_waiting(machine, ov):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    broken = (500, {"status": "error", "error": {"message": "no model", "trace_id": "t-1"}})
    machine.server.cut = lambda asked: broken if asked.path.endswith("/commit") else None
    code, text = ov("commit")
    assert code == 1
    assert f"{talk.name}: kept (trace_id=t-1): no model" in text
    value = json.loads(ov("commit", "--json")[1])
    assert value["ok"] is False
    assert "sessions that wait for a commit: 1" in ov("status")[1]


def test_a_session_that_another_process_works_on_is_left_to_it(machine, ov):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    with machine.states().folder.lock(lock_name(talk.session.id)) as held:
        assert held
        code, text = ov("commit")
    assert (code, text) == (0, f"{talk.name}: locked: another process works on it\n")
    assert talk.stored.archives == []


def test_a_session_that_is_not_to_be_remembered_stays_here(machine, ov):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    machine.services.sessions.known["codex", talk.session.id] = talk.session
    machine.services.sessions.modes["codex", talk.session.id] = "disabled"
    talk.agent("This must not go out any more.")
    assert ov("commit")[0] == 1
    assert talk.stored.texts == ["Run make check before every commit."]


def test_an_end_that_was_not_confirmed_is_confirmed_by_a_commit(machine, ov):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    machine.server.cut = lambda _asked: (503, {})
    talk.end()
    machine.server.cut = lambda _asked: None
    assert talk.ended
    assert "ended of them: 1" in ov("doctor")[1]
    assert ov("commit")[0] == 0
    assert talk.ended == []


def test_doctor_is_content_with_a_server_that_answers(machine, ov):
    code, text = ov("doctor")
    assert code == 0
    assert "ok    openviking-server: server 0.5.2 answers" in text
    assert "it knows us as default" in text
    assert findings(machine, "fail") == findings(machine, "warn") == []


def test_a_wrong_key_is_told_from_a_server_that_is_gone(machine, ov):
    machine.server.key = "the-right-key-of-many-letters"
    machine.set(API_KEY="a-wrong-key-of-many-letters")
    (fault,) = findings(machine, "fail")
    assert "refuses the key" in fault.message
    assert "OPENVIKING_API_KEY" in fault.fix
    assert ov("doctor")[0] == 1
    machine.lose_server()
    (fault,) = findings(machine, "fail")
    assert "no server at http://127.0.0.1:1" in fault.message
    assert "named by: environment" in fault.message


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_may_not_read_is_named(machine, status):
    error = (status, {"status": "error", "error": {"message": "ROOT API keys cannot access tenant-scoped data"}})
    machine.server.cut = lambda asked: error if asked.path.endswith("system/status") else None
    (fault,) = findings(machine, "fail")
    assert "ROOT API keys" in fault.message


def test_without_any_server_named_nothing_fails(machine):
    del machine.services.environ["OPENVIKING_URL"]
    write(machine, ".openviking/ov.conf", json.dumps({"server": {"port": 1}}))
    machine.services.environ["HOME"] = str(machine.folder)
    assert len(findings(machine, "fail")) == 1, "a port was named"
    (machine.folder / ".openviking" / "ov.conf").unlink()
    assert findings(machine, "fail") == []


def test_files_that_cannot_be_understood_are_named(machine):
    machine.services.environ["HOME"] = str(machine.folder)
    broken = write(machine, ".openviking/ovcli.conf", "{ url: ")
    other = write(machine, ".openviking/ov.conf", "[]")
    messages = " ".join(one.message for one in findings(machine, "warn"))
    assert str(broken) in messages
    assert f"{other}: no JSON object" in messages


def test_the_original_plugin_beside_ours_is_a_warning(machine):
    machine.services.environ["HOME"] = str(machine.folder)
    assert findings(machine, "warn") == []
    write(machine, ".codex/config.toml", '# openviking-memory was here\nmodel = "x"\n')
    assert findings(machine, "warn") == []
    write(machine, ".codex/config.toml", '[plugins."openviking-memory@openviking"]\nenabled = true\n')
    (warning,) = findings(machine, "warn")
    assert "twice" in warning.message
    assert "codex plugin remove" in warning.fix
    write(machine, "elsewhere/settings.json", '{"enabledPlugins": {"openviking-memory@openviking": true}}')
    machine.services.environ["CLAUDE_CONFIG_DIR"] = str(machine.folder / "elsewhere")
    assert len(findings(machine, "warn")) == 2


def test_parts_of_the_server_that_are_not_ready_are_named(machine):
    checks = {"vectordb": "ok", "embedding": "failed", "ollama": "not_configured", "agfs": {"status": "down"}}
    machine.server.extra["GET /ready"] = (503, {"status": "not_ready", "checks": checks})
    messages = [one.message for one in findings(machine, "warn")]
    assert messages == ["the server's embedding is not ready: failed", "the server's agfs is not ready: down"]


def test_writes_of_other_clients_are_counted(machine):
    machine.set(PENDING_DIR=machine.folder / "queue")
    write(machine, "queue/abc_0.json", json.dumps({"type": "commitSession", "sessionId": "cc-1", "payload": {}}))
    assert any("1 writes of other clients" in one.message for one in findings(machine, "info"))


def test_no_key_is_ever_shown_whole(machine, ov):
    key = "sk-0123456789-secret"
    machine.set(API_KEY=key)
    for words in (["status"], ["doctor"], ["status", "--json"], ["doctor", "--json"]):
        assert key not in ov(*words)[1]
    assert "sk-0…cret" in ov("doctor")[1]
    assert masked("12345678") == masked("") == "****"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://127.0.0.1:1933", ""),
        ("https://ov.example.org/base", ""),
        ("127.0.0.1:1933", "must begin with http"),
        ("localhost", "must begin with http"),
        ("http://x/api/v1", "ends in /api/v1"),
        ("http://x/mcp", "ends in /mcp"),
        ("http://0.0.0.0:1933", "where a server listens"),
        ("http://x?key=1", "query"),
        ("http://[x", "no address"),
    ],
)
def test_unusual_addresses(url, fault):
    found = list(faults_of(url))
    assert (fault in " ".join(found)) if fault else found == []
