"""Sessions of every host reach OpenViking under names of their own, and what one of them was told can be forgotten."""

from realhosts.conversation import until

PREFIXES = {"codex": "cx-", "claude": "cc-", "opencode": "oc-"}


def test_a_session_of_each_host_is_sent_once_and_sealed(ov, machine, host):
    host.say("Remember harbor-1.", {"text": "Noted pier-1."})
    name = ov.until_said("Remember harbor-1.", "Noted pier-1.")
    ov.until_committed(name)
    assert name.startswith(PREFIXES[host.name])
    assert ov.sessions() == [name]
    host.say("Remember harbor-2.", {"text": "Noted pier-2."}, resume=True)
    ov.until_committed(name, times=2)
    assert [text for _, text in ov.messages(name)] == [
        "Remember harbor-1.", "Noted pier-1.", "Remember harbor-2.", "Noted pier-2.",
    ]  # fmt: skip
    assert ov.sessions() == [name]
    until(lambda: not machine.end_markers(), "the end of the end markers")


def test_a_forgotten_session_is_gone_from_the_server(ov, machine, codex):
    codex.say("Remember harbor-1.", {"text": "Noted pier-1."})
    name = ov.until_said("Remember harbor-1.", "Noted pier-1.")
    ov.until_committed(name)
    until(lambda: not machine.waiting_events(), "the end of the events")
    machine.codexmem("forget", name.removeprefix("cx-"), "--yes")
    assert ov.session(name) is None
    assert not machine.files_with(name)
