"""Both memories consolidated by agents of one model at the same time, each in its own folder and by its own rules."""

from __future__ import annotations

import threading

import pytest
from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.extract import Reply
from codexmem_hookspecs.values.models import ToolCall, Turn
from codexmem_hookspecs.values.records import ModelBackend

from codexmem_core.pipeline import run
from codexmem_core.readpath.session_start import session_start_context
from codexmem_core.request import RunRequest

V2 = ("memory-v2",)
CONFIG = '[models]\nbackend = "agents"\n[memories]\nread = "v2"\n'
TURNS = (("user", "Always sign the commits, please."), ("assistant", "I will."))
SUMMARY = (
    "v1\n\n## User Profile\n\n## User preferences\n\n- sign commits ({})\n\n## General Tips\n\n## What's in Memory\n"
)


class Agents:
    """One model; what its agent does in each memory is scripted by plugin, turn after turn."""

    name = "agents"

    def __init__(self, **scripts):
        self.scripts = {f"memory-{name}": list(turns) for name, turns in scripts.items()}
        self.results = {}
        self.meeting = threading.Barrier(2, timeout=60)

    @hookimpl
    def codexmem_models(self):
        return [ModelBackend(name=self.name, summary="scripted", costs=True, ask=self.ask, turn=self.turn)]

    def ask(self, request, transcript, services):
        return Reply(data=dict.fromkeys(request.schema["required"], "# Signed commits"), tokens_in=1, tokens_out=1)

    def turn(self, request, services):
        if len(request.messages) == 2:
            self.meeting.wait()  # neither agent goes on before the other one has begun
        told = "\n".join(message.text for message in request.messages if message.role != "tool")
        plugin = "memory-v1" if "MEMORY.md" in told else "memory-v2"  # only V1 has a handbook
        self.results[plugin] = [message.text for message in request.messages if message.role == "tool"]
        calls = self.scripts[plugin].pop(0) if self.scripts[plugin] else ()
        return Turn(
            calls=tuple(
                ToolCall(id=str(number), name=name, arguments=arguments)
                for number, (name, arguments) in enumerate(calls)
            )
        )


def write(path, content):
    return ("write", {"path": path, "content": content})


HANDBOOK = write("MEMORY.md", "# Task Group: harbor\n\n- sign commits\n")
GOOD = {"v1": [[HANDBOOK, write("memory_summary.md", SUMMARY.format("v1"))]],
        "v2": [[write("memory_summary.md", SUMMARY.format("v2"))]]}  # fmt: skip


@pytest.fixture
def consolidate(engine_of, codex_home):
    """One pass with these agents: the report and the engine."""

    def once(agents):
        codex_home(*TURNS)
        engine = engine_of(agents, config=CONFIG, beside=V2)
        return run(engine, RunRequest(idle_hours=0.0, now=True)), engine

    return once


def files(tmp_path, folder):
    root = tmp_path / "home" / folder
    return {
        str(path.relative_to(root)): path.read_text()
        for path in root.glob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_two_agents_work_side_by_side_and_the_next_session_is_told(consolidate, tmp_path):
    report, engine = consolidate(Agents(**GOOD))
    assert {memory.status for memory in report.memories.values()} == {"succeeded"}, report
    assert files(tmp_path, "memories_v2") == {"memory_summary.md": SUMMARY.format("v2")}
    assert files(tmp_path, "memories")["memory_summary.md"] == SUMMARY.format("v1")
    assert "sign commits (v2)" in session_start_context(engine)
    spent = {(row.memory, row.stage): row.calls for row in engine.catalogue.usage()}
    assert spent["memory-v1", "consolidation"] == spent["memory-v2", "consolidation"] == 2


def test_an_agent_cannot_reach_the_other_memory(consolidate, tmp_path):
    tries = [
        write("../memories/MEMORY.md", "mine now"),
        write("MEMORY.md", "a handbook that V2 does not have"),
        ("read", {"path": "../memories/MEMORY.md"}),
        ("glob", {"pattern": "../**"}),
        ("grep", {"pattern": "harbor", "path": str(tmp_path / "home" / "memories")}),
    ]
    agents = Agents(v1=GOOD["v1"], v2=[tries, *GOOD["v2"]])
    report, _ = consolidate(agents)
    assert {memory.status for memory in report.memories.values()} == {"succeeded"}
    assert files(tmp_path, "memories_v2") == {"memory_summary.md": SUMMARY.format("v2")}
    assert files(tmp_path, "memories")["MEMORY.md"] == HANDBOOK[1]["content"]
    assert len(agents.results["memory-v2"]) == 6
    assert not any("Task Group" in text for text in agents.results["memory-v2"])
    assert any("memory-v2" in warning and "may not" in warning for warning in report.warnings), report.warnings


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (SUMMARY.format("v2").replace("## General Tips", "# General Tips"), "headings are missing: ## General Tips"),
        (SUMMARY.format("x" * 10_000), "at most 9999 are allowed"),
        ("# Summary\n", "the first line is not exactly v1"),
    ],
)
def test_a_summary_that_is_not_valid_fails_its_memory_and_the_one_before_stays(consolidate, tmp_path, summary, why):
    consolidate(Agents(**GOOD))
    again = Agents(v1=[[write("MEMORY.md", "# Task Group: newer\n")]], v2=[[write("memory_summary.md", summary)]])
    report, _ = consolidate(again)
    assert report.memories["v2"].consolidation == "failed_invalid_artifacts"
    assert why in report.memories["v2"].detail
    assert files(tmp_path, "memories_v2")["memory_summary.md"] == SUMMARY.format("v2")
    assert report.memories["v1"].status == "succeeded"
    assert files(tmp_path, "memories")["MEMORY.md"] == "# Task Group: newer\n"
