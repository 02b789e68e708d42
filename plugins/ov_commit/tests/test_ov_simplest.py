"""The shortest way: turns go out on every stop, the end commits, nothing twice."""


def test_a_stop_sends_what_was_said_since_the_last_one(machine):
    talk = machine.conversation().user("Run make check before every commit.").agent("I will do that from now on.")
    talk.stop()
    talk.user("And squash before pushing, please.").agent("Squashed commits it is.").stop()
    assert talk.stored.texts == [
        "Run make check before every commit.",
        "I will do that from now on.",
        "And squash before pushing, please.",
        "Squashed commits it is.",
    ]
    assert [message["role"] for message in talk.stored.messages] == ["user", "assistant"] * 2
    assert talk.stored.archives == []


def test_nothing_but_health_and_messages_is_asked_on_a_short_stop(machine):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    assert machine.server.lines == [
        "GET /health",
        f"POST /api/v1/sessions/{talk.name}/messages/batch",
        f"GET /api/v1/sessions/{talk.name}",
    ]


def test_the_end_sends_the_tail_and_commits(machine):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    talk.agent("I will do that from now on.").end()
    assert len(talk.stored.archives) == 1
    assert talk.stored.texts == ["Run make check before every commit.", "I will do that from now on."]
    assert talk.state["ovSessionId"] is None
    assert talk.state["capturedTurnCount"] == 2
    assert talk.ended == []


def test_a_second_end_of_an_unchanged_session_neither_sends_nor_commits(machine):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.end()
    before = len(machine.server.requests)
    talk.end()
    assert machine.server.lines[before:] == ["GET /health"]
    assert talk.ended == []


def test_the_state_file_has_the_keys_of_the_original(machine):
    talk = machine.conversation().user("Run make check before every commit.")
    talk.stop()
    state = talk.state
    assert state["codexSessionId"] == talk.session.id
    assert state["ovSessionId"] == talk.name
    assert state["transcriptPath"] == talk.session.locator
    assert state["capturedTurnCount"] == 1
    assert state["createdAt"] <= state["lastUpdatedAt"] == machine.clock.now_ms()
