"""What is kept from the memory, and what the memory keeps to itself."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from realhosts.conversation import until

FACT = "the harbor service is released with the lighthouse script"
PROMPT = f"Remember for all my projects: {FACT}, never by hand."
LATER = "the beacon is painted in red"


def say_later(machine, host, project):
    """Another session after those of a test, and wait until it is known: by then the others would be, too."""
    host.say(f"Remember for all my projects: {LATER}.", {"text": "Noted."}, cwd=project)
    machine.until_known(LATER, host)


def test_a_project_that_is_switched_off_is_told_nothing_and_teaches_nothing(machine, host):
    known = machine.remember_the_sample()
    (machine.project / ".codexmem.toml").write_text('memory = "off"\n')
    conversation = host.say(PROMPT, {"text": "Noted."})
    assert conversation.status == 0
    assert known not in conversation.told
    say_later(machine, host, machine.make_project(machine.root / "other"))
    assert FACT not in machine.codexmem("context")


def test_a_private_span_is_not_learned(machine, host):
    host.say(f"<private>{PROMPT}</private> Remember for all my projects: {LATER}.", {"text": "Noted."})
    machine.until_known(LATER, host)
    assert FACT not in machine.codexmem("context")
    assert machine.files_with(FACT) == []


def test_an_ephemeral_session_of_codex_teaches_nothing(machine, codex):
    flags = ("--skip-git-repo-check", "--ephemeral")
    ephemeral = codex.started([codex.program, "exec", *flags, PROMPT]).finish()
    assert ephemeral.status == 0
    say_later(machine, codex, machine.project)
    assert FACT not in machine.codexmem("context")


def test_a_fork_in_codex_is_told_once_and_what_was_said_before_it_is_learned_once(machine, codex):
    known = machine.remember_the_sample()
    with codex.stay_open() as session:
        session.say(PROMPT)
        session.fork()
        assert session.say("What now?").told.count(known) == 1
    machine.until_known(FACT, codex)
    say_later(machine, codex, machine.project)
    assert machine.codexmem("context").count(FACT) == 1


def test_helpers_of_opencode_are_not_given_the_memory(machine, opencode):
    """A title is made by another model; a compaction asks the model of the session."""
    known = machine.remember_the_sample()
    with opencode.stay_open() as session:
        assert known in session.say("What shall we do?").told
        before = len(opencode.server.requests)
        session.compact()
        (compaction,) = opencode.server.requests[before:]
    assert known not in compaction.raw
    titles = [asked for asked in opencode.server.requests if not opencode.belongs(asked)]
    assert titles
    assert not [asked for asked in titles if known in asked.raw]


@pytest.mark.parametrize("first_of_all", [True, False])
def test_a_session_that_is_deleted_in_opencode_is_forgotten(machine, opencode, first_of_all):
    if not first_of_all:
        machine.remember_the_sample()
    with opencode.stay_open() as session:
        session.say(PROMPT)
        machine.until_known(FACT, opencode)
        session.delete()
        machine.until_forgotten(FACT, opencode)
    assert machine.files_with(FACT) == []


def test_a_tool_acts_on_the_session_that_calls_it_also_when_another_is_newer(machine, opencode):
    gates = [machine.project / name for name in ("first", "second")]
    waits, later = [opencode.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done") for gate in gates]
    off = opencode.memory_tool("memory_mode", mode="disabled")
    milk = {"match": "I like milk"}
    with opencode.stay_open() as session, ThreadPoolExecutor() as pool:
        first = session.session
        session.clear()
        newest = session.session
        opencode.script([{**milk, **later}, {**milk, "text": "Noted."}, waits, off, {"text": "Done."}])
        asked = opencode.asked_from_now()
        turn = pool.submit(session.turn, "Forget what I said.", first)
        until(asked, "the first session at work")
        other = pool.submit(session.turn, "I like milk.", newest)
        until(lambda: len(asked()) == 2 and not machine.waiting_events(), "the newer session at work, and known")
        gates[0].touch()
        turn.result()
        answer = str(asked()[-1])
        gates[1].touch()
        other.result()
    assert f"opencode:{first}" in answer
    assert newest not in answer
