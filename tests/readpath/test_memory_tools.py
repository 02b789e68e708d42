"""The tools as an agent meets them: listed, called with JSON, answered in text."""

from __future__ import annotations

import msgspec
import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Memory
from codexmem_hookspecs.values.read import Tool

from codexmem_core.store.values import Candidate, Output

SESSION = Session(host="codex", id="0001")
ALL = ["memory_add_note", "memory_inspect", "memory_list", "memory_mode", "memory_read", "memory_search"]


@pytest.fixture
def tools_of():
    return lambda engine: engine.services_for("memory-v1").tools


@pytest.fixture
def call(engine, tools_of):
    def called(name, session=SESSION, **arguments):
        return tools_of(engine).call(name, arguments, session)

    return called


@pytest.fixture
def learned(engine):
    """A stored note of a session, consolidated or not."""

    def store(session_id="0001", *, consolidated=True):
        with engine.jobs("memory-v1") as jobs:
            claims = jobs.claim_extractions(
                [Candidate(host="codex", id=session_id, watermark_ms=engine.clock.now_ms())],
                worker="w",
                limit=1,
                running_cap=9,
            ).claims
            jobs.finish_extraction(claims[0], Output(rollout_summary="learned"))
            if consolidated:
                claim = jobs.claim_consolidation(worker="w", at_once=True)
                jobs.finish_consolidation(claim, jobs.outputs())

    return store


def test_the_memory_tools_are_listed_with_plain_schemas(engine, tools_of):
    infos = tools_of(engine).list()
    assert [info.name for info in infos] == ALL
    for info in infos:
        assert info.schema["type"] == "object"
        assert info.schema["additionalProperties"] is False
        assert b"$ref" not in msgspec.json.encode(info.schema)


@pytest.mark.parametrize("setting", ["use_memories", "dedicated_tools"])
def test_reading_tools_go_with_the_settings_and_the_others_stay(engine_with, tools_of, setting):
    tools = tools_of(engine_with(config=f"[memories]\n{setting} = false\n"))
    assert [info.name for info in tools.list()] == ["memory_inspect", "memory_mode"]
    assert tools.call("memory_list", {}, SESSION).startswith("memory_list error: the memory tools are switched off")
    assert "outputs" in tools.call("memory_inspect", {}, SESSION)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("memory_read", {"path": "a.md", "colour": "red"}, "colour"),
        ("memory_read", {}, "path"),
        ("memory_read", {"path": "a.md", "line_offset": 0}, "line_offset"),
        ("memory_read", {"path": "nope.md"}, "Not found: nope.md"),
        ("memory_list", {"max_results": 2001}, "max_results"),
        ("memory_search", {"queries": ["x"], "match_mode": "regex"}, "match_mode"),
        ("memory_search", {"queries": ["x"], "max_results": 201}, "max_results"),
        ("memory_search", {}, "at least one"),
        ("memory_add_note", {"note": ""}, "empty"),
        ("memory_mode", {"mode": "forgotten"}, "mode"),
        ("memory_reset", {}, "codexmem reset"),
        ("nonsense", {}, "no such tool"),
    ],
)
def test_errors_are_text_that_names_the_tool(call, name, arguments, why):
    answer = call(name, **arguments)
    assert answer.startswith(f"{name} error: ")
    assert why in answer


def test_arguments_are_taken_as_models_send_them(call, put):
    put({"a.md": "one\ntwo\n"})
    assert "\ntwo\n" in call("memory_read", path="a.md", line_offset="2", max_lines=None)
    nested = {"type": "all_within_lines", "line_count": 2}
    assert "a.md:1" in call("memory_search", queries=["one", "two"], match_mode=nested)
    assert "a.md:2: two" in call("memory_search", queries="two")


def test_a_session_reads_the_memory_that_it_was_given(engine_with, tools_of, tmp_path):
    from codexmem_memory_v1 import plugin as v1

    class Second(type(v1)):
        @hookimpl
        def codexmem_memory(self):
            return [Memory(name="v2", folder="memories_v2", database="memory_v2.db", agent_writes=("MEMORY.md",))]

    engine = engine_with(("second", Second()))
    tools = tools_of(engine)
    engine.catalogue.freeze_memory("codex", "old", "v2")
    for folder in ("memories", "memories_v2"):
        (tmp_path / "home" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / folder / "MEMORY.md").write_text(f"this is {folder}\n")
    old = Session(host="codex", id="old")
    assert "\nthis is memories_v2\n" in tools.call("memory_read", {"path": "MEMORY.md"}, old)
    assert ": this is memories_v2\n" in tools.call("memory_search", {"queries": ["this is"]}, old)
    assert "\nthis is memories\n" in tools.call("memory_read", {"path": "MEMORY.md"}, SESSION)
    tools.call("memory_add_note", {"note": "mine", "title": "t"}, old)
    assert list((tmp_path / "home" / "memories_v2").rglob("*-t.md"))
    assert not list((tmp_path / "home" / "memories").rglob("*-t.md"))
    assert "read_version: v2" in tools.call("memory_inspect", {}, old)


def test_plugins_tools_stand_beside_ours_and_show_no_secret(engine_with, tools_of, secret):
    class Extra:
        @hookimpl
        def codexmem_read_tools(self):
            schema = {"type": "object"}
            return [
                Tool(name="archive", summary="", schema=schema, call=lambda given, *_: f"{given['x']} {secret}"),
                Tool(name="memory_read", summary="", schema=schema, call=lambda *_: "not yours"),
            ]

    tools = tools_of(engine_with(("extra", Extra())))
    assert [info.name for info in tools.list()] == ["archive", *ALL]
    answer = tools.call("archive", {"x": "found"}, SESSION)
    assert answer.startswith("found ")
    assert secret not in answer
    assert tools.call("archive", {}, SESSION) == "archive error: 'x'"
    assert tools.call("memory_read", {"path": "no"}, SESSION) == "memory_read error: Not found: no"


def test_opening_a_recap_counts_once_a_session_and_a_hit_alone_does_not(engine, call, learned, put):
    learned("0001")
    put(
        {"rollout_summaries/a.md": "session_id: 0001\nhost: codex\nusage_count: 0\n\nlearned\nmore\n", "MEMORY.md": "x"}
    )

    def uses():
        with engine.jobs("memory-v1") as jobs:
            return jobs.output("codex", "0001").usage_count

    call("memory_search", queries=["learned"])
    call("memory_read", path="MEMORY.md")
    call("memory_list", path="rollout_summaries")
    assert uses() == 0
    call("memory_read", path="rollout_summaries/a.md", line_offset=6)
    call("memory_read", path="./rollout_summaries//a.md")
    assert uses() == 1
    call("memory_read", session=Session(host="codex", id="other"), path="rollout_summaries/a.md")
    assert uses() == 2


def test_a_recap_that_names_no_known_session_is_read_all_the_same(call, put):
    put({"rollout_summaries/a.md": "thread_id: 5\n\ncodex wrote this\n", "rollout_summaries/b.md": "no header\n"})
    assert "codex wrote this" in call("memory_read", path="rollout_summaries/a.md")
    assert "\nno header\n" in call("memory_read", path="rollout_summaries/b.md")


def test_a_mode_is_the_callers_own_or_a_named_sessions(engine, call):
    assert call("memory_mode", mode="disabled") == "codex:0001: enabled → disabled"
    assert engine.catalogue.mode_of("codex", "0001") == "disabled"
    call("memory_mode", mode="disabled", session_id="0002")
    call("memory_mode", mode="polluted", session_id="codex:0003")
    assert [engine.catalogue.mode_of("codex", one) for one in ("0002", "0003")] == ["disabled", "polluted"]


def test_only_the_user_enables_a_polluted_session_again(engine, call):
    call("memory_mode", mode="polluted")
    refused = call("memory_mode", mode="enabled")
    assert "codexmem mode codex:0001 enabled" in refused
    assert engine.catalogue.mode_of("codex", "0001") == "polluted"
    assert engine.memory_tools.mode("codex:0001", "enabled").before == "polluted"
    assert engine.catalogue.mode_of("codex", "0001") == "enabled"


@pytest.mark.parametrize("mode", ["disabled", "polluted"])
def test_a_session_that_may_not_be_remembered_is_forgotten_where_it_was_consolidated(engine, call, learned, mode):
    def status():
        with engine.jobs("memory-v1") as jobs:
            return jobs.consolidation_snapshot().status

    learned("0001")
    assert status() == "done"
    assert "what v1 holds of it is forgotten" in call("memory_mode", mode=mode)
    assert status() == "pending"
    learned("0002", consolidated=False)
    assert "forgotten" not in call("memory_mode", mode=mode, session_id="0002")


def test_inspect_tells_state_settings_and_files_and_changes_nothing(engine, call, learned, put, root, tmp_path):
    learned()
    put(
        {
            "memory_summary.md": "v1\nsummary\n",
            "MEMORY.md": "# Task Group: x\n",
            "skills/a/SKILL.md": "x",
            ".git/HEAD": "x",
        }
    )
    (root / "link").symlink_to(tmp_path)
    answer = call("memory_inspect", min_consolidated_threads=1)
    facts = dict(line.split(": ", 1) for line in answer.splitlines())
    assert facts["v1.outputs"] == "1"
    assert facts["v1.ready"] == "True"
    assert facts["v1.consolidation_last_success"] == "2026-11-30T12:00:00Z"
    assert "max_unused_days=30" in facts["options"]
    files = [line.partition(": ")[2] for line in answer.splitlines() if line.startswith("v1.file: ")]
    assert files == ["MEMORY.md", "link@", "memory_summary.md", "skills/", "skills/a/", "skills/a/SKILL.md"]


def test_inspect_says_none_before_any_success_and_never_calls_a_failure_one(engine, call, secret):
    assert "v1.consolidation_last_success: none" in call("memory_inspect")
    with engine.jobs("memory-v1") as jobs:
        jobs.fail_consolidation(jobs.claim_consolidation(worker="w"), f"broken with {secret}")
    answer = call("memory_inspect")
    assert "v1.consolidation_status: failed" in answer
    assert "v1.consolidation_last_success: none" in answer
    assert "broken with" in answer
    assert secret not in answer


def test_inspect_shows_what_was_wrong_with_the_settings(engine_with, tools_of):
    tools = tools_of(engine_with(config='[memories]\nmax_unused_days = "many"\nno_such = 1\n'))
    answer = tools.call("memory_inspect", {}, SESSION)
    assert "max_unused_days=30" in answer
    assert "no_such" in answer


def test_inspect_does_not_follow_a_linked_summary_or_root(call, root, tmp_path):
    (tmp_path / "outside.md").write_text("x" * 400)
    (root / "memory_summary.md").symlink_to(tmp_path / "outside.md")
    assert "v1.summary_tokens: 0" in call("memory_inspect")
