"""What a sweep leaves alone: sessions that go on, that may not leave the machine, and a server that is away."""

import json

IDLE_MS = 1_800_000
MONTH_MS = 2_592_000_000
WORDS = "Keep the changelog by hand."


def test_a_server_that_is_away_is_asked_once_for_all_sessions(machine):
    talks = [machine.conversation().user(WORDS) for _ in range(6)]
    for talk in talks:
        talk.stop()
    machine.pass_time(IDLE_MS)
    machine.server.cut = lambda _asked: (503, {})
    asked = len(machine.server.requests)
    machine.start()
    assert machine.server.lines[asked:] == ["GET /health"]
    (finding,) = [one for one in machine.findings() if one.level == "warn"]
    assert f"session {talks[0].name} and 5 more wait for their commit: " in finding.message
    machine.server.cut = lambda _asked: None
    machine.start()
    assert [len(talk.stored.archives) for talk in talks] == [1] * 6


def test_nothing_is_swept_while_capture_is_off(machine, failing):
    machine.set(AUTO_CAPTURE="0")
    asked = len(machine.server.requests)
    machine.start()
    assert machine.server.lines[asked:] == []
    assert len(failing.ended) == 1


def test_a_session_that_is_passed_over_by_now_is_sent_no_more(machine, failing):
    failing.agent("Words said in the meantime.")
    machine.set(BYPASS_SESSION_PATTERNS=failing.session.id)
    machine.start()
    assert failing.stored.texts == [WORDS]
    assert failing.stored.archives == []
    machine.set(BYPASS_SESSION_PATTERNS="")
    machine.start()
    assert failing.stored.texts == [WORDS, "Words said in the meantime."]


def test_sessions_that_the_user_switched_off_are_told_and_no_fault(machine):
    talks = [machine.conversation().user(WORDS) for _ in range(2)]
    for talk in talks:
        talk.stop()
    machine.pass_time(IDLE_MS)
    machine.set(BYPASS_SESSION="1")
    machine.start()
    (told,) = [one for one in machine.findings() if talks[0].name in one.message]
    assert told.level == "info"
    assert told.message.endswith(
        "and 1 more are left as they are on the server: the session is passed over by the settings"
    )
    assert not any(one.level == "warn" for one in machine.findings())
    machine.set(BYPASS_SESSION="0")
    machine.start()
    assert not any(talks[0].name in one.message for one in machine.findings())
    assert [len(talk.stored.archives) for talk in talks] == [1, 1]


def test_a_session_of_a_folder_that_is_kept_apart_by_now_is_sent_no_more(machine, failing):
    machine.services.sessions.known["codex", failing.session.id] = failing.session
    machine.services.apart.add(failing.session.cwd)
    machine.start()
    assert failing.stored.archives == []


def test_a_session_that_may_not_be_sent_is_let_go_after_a_month_unsent(machine, failing):
    failing.agent("Words said in the meantime.")
    machine.services.sessions.modes["codex", failing.session.id] = "disabled"
    machine.pass_time(MONTH_MS - 60_000)
    machine.start()
    assert any(failing.name in finding.message for finding in machine.findings())
    machine.pass_time(120_000)
    machine.start()
    assert failing.ended == []
    assert failing.state["ovSessionId"] is None
    assert failing.stored.texts == [WORDS]
    assert failing.stored.archives == []
    assert not any(failing.name in finding.message for finding in machine.findings())


def test_a_session_that_the_server_lost_is_let_go_after_a_month(machine, failing):
    del machine.server.sessions[failing.name]
    machine.pass_time(MONTH_MS - 60_000)
    machine.start()
    assert failing.state["ovSessionId"] == failing.name
    assert any(failing.name in finding.message for finding in machine.findings())
    machine.pass_time(120_000)
    machine.start()
    assert failing.ended == []
    assert failing.state["ovSessionId"] is None
    assert machine.notice() == ""
    assert not any(finding.level == "warn" for finding in machine.findings())


def test_a_marker_that_is_gone_under_the_lock_leaves_only_the_idle_rule(machine, failing):
    """The session was resumed between listing and locking: another process took its marker away."""
    first = machine.conversation("000-first").user(WORDS)
    first.stop()
    machine.markers().mark("000-first", machine.clock.now_ms())

    def cut(asked):
        if asked.path.endswith("/commit"):
            machine.markers().clear_all(failing.session.id)

    machine.server.cut = cut
    machine.start()
    assert len(first.stored.archives) == 1
    assert failing.stored.archives == []
    assert failing.state["ovSessionId"] == failing.name
    machine.pass_time(IDLE_MS)
    machine.start()
    assert len(failing.stored.archives) == 1


def test_a_session_that_showed_life_since_it_was_listed_is_left_alone(machine, live):
    first = machine.conversation("000-first").user(WORDS)
    first.stop()
    machine.pass_time(IDLE_MS)

    def cut(asked):
        if asked.path.endswith("/commit"):
            live.state_path.write_text(json.dumps({**live.state, "lastUpdatedAt": machine.clock.now_ms()}))

    machine.server.cut = cut
    machine.start()
    assert len(first.stored.archives) == 1
    assert live.stored.archives == []
