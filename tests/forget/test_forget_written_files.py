"""Files that people or models wrote: one session's part goes, what others gave stays, letter by letter."""

from __future__ import annotations

from pathlib import Path

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.interop import Mirror
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.readpath.forgetting.lines import Provenance, without_raw_sections, without_sessions

GONE = "0198a000-0000-7000-8000-000000000001"
STAYS = "0198a000-0000-7000-8000-000000000002"
HANDBOOK = f"""# Task Group: harbor releases

scope: how harbor is released
applies_to: cwd=/home/dev/harbor; reuse_rule=only there

## Task 1: tag the release, success

### rollout_summary_files

- rollout_summaries/2026-11-01T10-00-00-aaaa-tag.md (cwd=/home/dev/harbor, session_id={GONE})

### keywords

- tag, release

## Task 2: write the changelog, success

### rollout_summary_files

- rollout_summaries/2026-11-01T10-00-00-aaaa-tag.md (cwd=/home/dev/harbor, session_id={GONE})
- rollout_summaries/2026-11-02T10-00-00-bbbb-log.md (cwd=/home/dev/harbor, session_id={STAYS})

### keywords

- changelog

## User preferences

- when tagging, the user said: "sign it with key R77-blue" -> sign it [Task 1]
- when writing the changelog, the user said: "newest first" -> put new entries on top [Task 2]
- both agreed on the main branch [Task 1, Task 2]
- the person asked to always announce each release in the harbor channel first -> do it

# Task Group: only of the first

## Task 1: something else, fail

### rollout_summary_files

- rollout_summaries/2026-11-01T10-00-00-aaaa-tag.md

## Reusable knowledge

- nothing that is worth a line [Task 1]
"""


def provenance(theirs=(), others=()):
    return Provenance.of([GONE], ["2026-11-01T10-00-00-aaaa-tag.md"], theirs, others)


def test_one_of_two_sessions_goes_from_a_mixed_block_and_the_other_stays():
    left = without_sessions(
        HANDBOOK,
        provenance(
            ["please always announce each release in the harbor channel first, and sign it with key R77-blue"],
            ["put the newest entries first"],
        ),
    )
    assert GONE not in left
    assert "aaaa-tag" not in left
    assert "Task 1" not in left.replace("[Task 1, Task 2]", "")
    assert "R77-blue" not in left
    assert "announce each release" not in left
    assert "only of the first" not in left
    assert f"- rollout_summaries/2026-11-02T10-00-00-bbbb-log.md (cwd=/home/dev/harbor, session_id={STAYS})" in left
    assert '- when writing the changelog, the user said: "newest first" -> put new entries on top [Task 2]' in left
    assert "- both agreed on the main branch [Task 1, Task 2]" in left
    assert "scope: how harbor is released" in left


def test_text_that_names_nothing_of_it_is_not_touched():
    text = "# Mine\n\n- my own line\n\n\n   strange   spacing\n"
    assert without_sessions(text, provenance()) == text


def test_a_topic_goes_whole_and_a_shared_one_only_loses_the_name():
    text = (
        "- tagging: release, tag\n"
        f"  - desc: success, rollout_summaries/2026-11-01T10-00-00-aaaa-tag.md, session_id={GONE}\n"
        "  - learnings: sign it\n"
        "- changelog: entry\n"
        "  - desc: rollout_summaries/2026-11-01T10-00-00-aaaa-tag.md, rollout_summaries/b.md\n"
    )
    assert without_sessions(text, provenance()) == (
        "- changelog: entry\n  - desc: [forgotten], rollout_summaries/b.md\n"
    )


def test_what_another_session_said_too_stays():
    said = "the user wants the changelog written before every single release of harbor"
    text = f"- {said}\n"
    assert without_sessions(text, provenance([said], [said])) == text
    assert without_sessions(text, provenance([said])) == ""


def test_an_id_is_not_found_inside_a_longer_word():
    gone = Provenance.of(["s1"], [], [], [])
    assert without_sessions("- s1\n- s12 stays\n", gone) == "- s12 stays\n"


def test_raw_memories_lose_the_section_of_the_session_alone():
    section = f"## Session `{GONE}`\ncwd: x\n\ngone\n\n"
    raw = f"# Raw Memories\n\n{section}## Thread `{STAYS}`\n\nstays\n\n{section}"
    assert without_raw_sections(raw, provenance()) == f"# Raw Memories\n\n## Thread `{STAYS}`\n\nstays\n\n"


class Scribe:
    """A model that consolidates as an agent; forgetting must not ask it."""

    name = "scribe"

    def __init__(self):
        self.turns = 0

    @hookimpl
    def codexmem_models(self):
        def ask(request, transcript, services):
            said = next(item.text for item in transcript if item.tier == "human")
            raw = f"---\ndescription: said\ntask: t\ncwd: /home/dev/harbor\n---\n\nPreference signals:\n- {said}\n"
            return Reply(
                data={"rollout_summary": f"# Recap\n\n{said}", "rollout_slug": said.lower()[:14], "raw_memory": raw}
            )

        def turn(request, services):
            self.turns += 1
            raise AssertionError("the agent was asked")

        return [ModelBackend(name="scribe", summary="x", costs=False, ask=ask, turn=turn)]


def test_no_model_is_asked_when_an_agents_memory_forgets(codex_home, learn, command, home, places_of, engine_of):
    scribe = Scribe()
    config = '[models]\nbackend = "scribe"\n'
    first = codex_home(("user", "Sign releases with the key WAGTAIL-4."), ("assistant", "Yes."))
    second = codex_home(("user", "Write the changelog first."), ("assistant", "Yes."))
    from codexmem_core.pipeline import run
    from codexmem_core.request import RunRequest

    engine = engine_of(scribe, config=config)
    run(engine, RunRequest(idle_hours=0.0, all_ages=True, consolidate=False))
    engine.close()
    root = Path(home / "memories")
    (root / "rollout_summaries").mkdir(parents=True)
    names = {first: "2026-11-01T10-00-00-aaaa-tag.md", second: "2026-11-02T10-00-00-bbbb-log.md"}
    for session, name in names.items():
        (root / "rollout_summaries" / name).write_text(f"session_id: {session}\nhost: codex\n\nx\n")
    text = HANDBOOK.replace(GONE, first).replace(STAYS, second).replace("R77-blue", "WAGTAIL-4")
    (root / "MEMORY.md").write_text(text)
    (root / "memory_summary.md").write_text("v1\n\n## User preferences\n\n- the key is WAGTAIL-4\n- changelog first\n")
    status, told = command("forget", first, plugins=[scribe], config=config)
    assert status == 0, told
    assert scribe.turns == 0
    assert places_of("wagtail") == []
    assert "newest first" in (root / "MEMORY.md").read_text()
    assert "- changelog first" in (root / "memory_summary.md").read_text()
    assert "Write the changelog first." in (root / "raw_memories.md").read_text()


def test_what_another_tool_still_remembers_does_not_bring_it_back(codex_home, learn, command, home, places_of):
    class Elsewhere:
        name = "elsewhere"

        @hookimpl
        def codexmem_interop_import(self, workspace, services):
            files = {"fact.md": b"The mast is called GANNET-12.\n\nThe printer is upstairs.\n", "gannet-12.md": b"x\n"}
            return [Mirror(extension="elsewhere", instructions="Facts.\n", files=files)]

    codex_home(("user", "Always write the changelog entry first."), ("assistant", "Yes."))
    learn(Elsewhere())
    assert "memories/extensions/elsewhere/resources/fact.md" in places_of("gannet")
    assert command("forget", "GANNET-12", plugins=[Elsewhere()])[0] == 0
    assert places_of("gannet") == []
    learn(Elsewhere())
    assert places_of("gannet") == []
    assert "upstairs" in (home / "memories" / "extensions" / "elsewhere" / "resources" / "fact.md").read_text()


def test_an_answer_that_a_model_was_still_thinking_about_brings_nothing_back(
    codex_home, engine_of, command, home, places_of
):
    """The text is forgotten between the question and the answer, by another process."""
    said = "Sign releases with the key WAGTAIL-4. Also write the changelog first."

    class Slow(Scribe):
        @hookimpl
        def codexmem_models(self):
            (quick,) = super().codexmem_models()

            def ask(request, transcript, services):
                reply = quick.ask(request, transcript, services)
                other = engine_of()
                from codexmem_core.readpath.tombstones import digests, windows

                other.catalogue.forget_texts(digests(other.tombstones.key(), windows("wagtail-4")))
                other.close()
                return reply

            return [ModelBackend(name="scribe", summary="x", costs=False, ask=ask)]

    from codexmem_core.pipeline import run
    from codexmem_core.request import RunRequest

    codex_home(("user", said), ("assistant", "Yes."))
    engine = engine_of(Slow(), config='[models]\nbackend = "scribe"\n')
    run(engine, RunRequest(idle_hours=0.0, all_ages=True))
    engine.close()
    assert places_of("wagtail") == []


def test_no_model_is_shown_what_was_forgotten(codex_home, learn, command, places_of):
    shown = []

    class Listener(Scribe):
        @hookimpl
        def codexmem_models(self):
            (quick,) = super().codexmem_models()

            def ask(request, transcript, services):
                shown.append(request.input + "".join(item.text for item in transcript))
                return quick.ask(request, transcript, services)

            return [ModelBackend(name="scribe", summary="x", costs=False, ask=ask)]

    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"sign\\nWAGTAIL-4"}', "call_id": "1"}
    session = codex_home(("user", "Sign with WAGTAIL-4. Also lint."), ("assistant", "Yes, WAGTAIL-4."), items=[call])
    config = '[models]\nbackend = "scribe"\n'
    learn(Listener(), config=config)
    assert "WAGTAIL-4" in shown[0]
    assert "memory.db" in places_of("sign with wagt")
    assert command("forget", "wagtail 4", plugins=[Listener()], config=config)[0] == 0
    assert places_of("wagt") == [], "also not the beginning of it in a name that was cut"
    codex_home(("user", "And write the changelog."), session_id=session)
    learn(Listener(), config=config)
    assert len(shown) == 2
    assert "wagtail" not in shown[1].lower()
    assert "Also lint." in shown[1]
    assert "write the changelog" in shown[1]
