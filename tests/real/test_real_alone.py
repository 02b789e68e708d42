"""The programs by themselves: when one of these fails, the host has changed and not codexmem."""


def test_a_host_runs_the_models_command_and_tells_the_model_what_it_printed(bare_host):
    conversation = bare_host.say("Count for me", bare_host.shell("echo lantern-$((40 + 2))"), {"text": "Forty-two."})
    assert conversation.status == 0
    assert "Forty-two." in conversation.printed
    assert len(conversation.requests) == 2
    assert "lantern-42" not in conversation.told
    assert "lantern-42" in conversation.told_last


def test_a_resumed_session_has_what_was_said_and_a_new_one_has_not(bare_host):
    bare_host.say("The word is lantern.", {"text": "I see."})
    resumed = bare_host.say("What was it?", resume=True)
    assert "The word is lantern." in resumed.told
    assert "What was it?" in resumed.told
    assert "lantern" not in bare_host.say("What was it?").told


def test_a_program_that_stays_open_compacts_and_clears(bare_host):
    with bare_host.stay_open() as session:
        session.say("The word is lantern.", {"text": "A lantern it is."})
        assert "A lantern it is." in session.say("What is the word?").told
        session.compact()
        assert "A lantern it is." not in session.say("Go on.", {"text": "Going on."}).told
        session.clear()
        assert "Going on." not in session.say("Who are you?").told
