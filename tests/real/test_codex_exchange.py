"""Exchange with Codex's own memory, consolidated by the program itself: ours in its diff, what it wrote in ours."""

from __future__ import annotations

import pytest
from realhosts.codex_memory import CodexMemory

SUMMARY = """v1
## User Profile
Builds boats.

## User preferences
- two coats of paint

## General Tips
- the mast light is called gannet

## What's in Memory
### boat
#### 2026-11-29
- rollout_summaries/hull.md - the hull
"""
HANDBOOK = """# Task Group: boat
scope: the boat
applies_to: cwd=/home/dev/boat; reuse_rule=only here

## Reusable knowledge
- the keel is called petrel
"""
TAKEN_IN = "- use pnpm instead of npm [from codexmem]\n"
EXPORT = "extensions/codexmem_import"
SETTINGS = "[codex-interop]\nimport = true\nexport = true\nexchange_summary = true\n"


@pytest.fixture
def memory(request, machine, codex):
    """A Codex that has consolidated once, with the exchange turned on and our hooks taken out again."""
    machine.codexmem("unsetup", "codex", "--yes")
    config = machine.home / ".config" / "codexmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(SETTINGS)
    memory = CodexMemory(codex, request.param)
    memory.say("Paint the hull.")
    memory.consolidate("hull", written(request.param))
    return memory


def written(version, more=""):
    """What Codex's model writes in a consolidation."""
    files = {"memory_summary.md": SUMMARY + more}
    return {"MEMORY.md": HANDBOOK + more, **files} if version == "v1" else files


def ours(machine, folder="memories"):
    return "".join(path.read_text() for path in sorted((machine.memory_home / folder).glob("*.md")))


@pytest.mark.parametrize("memory", ["v1", "v2"], indirect=True)
def test_codex_sees_ours_in_its_diff_and_we_take_in_what_it_then_wrote(machine, memory):
    said = machine.remember_the_sample()
    exported = memory.root / EXPORT / "resources"
    assert said in (exported / "codexmem" / "MEMORY.md").read_text()
    assert said in (exported / "codexmem_v2" / "memory_summary.md").read_text()
    handbook = ["petrel"] if memory.version == "v1" else []
    for folder in ("memories", "memories_v2"):
        assert [word for word in ("gannet", *handbook) if word not in ours(machine, folder)] == []
    before = ours(machine), ours(machine, "memories_v2")

    memory.say("Paint it again.")
    shown = memory.consolidate("again", written(memory.version, TAKEN_IN), look_for=said)

    for path in ("instructions.md", "resources/codexmem/MEMORY.md", "resources/codexmem_v2/memory_summary.md"):
        assert f"- A {EXPORT}/{path}" in shown
    assert said in shown
    assert "End every line that rests on these files alone with `[from codexmem]`." in shown
    machine.codexmem("run")
    copy = machine.memory_home / "memories/extensions/codex_import/resources/codex/memory_summary.md"
    assert "[from codexmem]" in copy.read_text()
    assert (ours(machine), ours(machine, "memories_v2")) == before  # what comes back is known already
    assert TAKEN_IN.strip() not in ours(machine)
    memory.say("And varnish it.")
    memory.consolidate("varnish", written(memory.version, "- the pier is called amber\n" + TAKEN_IN))
    machine.codexmem("run")
    assert "the pier is called amber" in ours(machine)
    assert "the pier is called amber" in ours(machine, "memories_v2")


@pytest.mark.parametrize("memory", ["v1"], indirect=True)
def test_while_codex_consolidates_neither_side_reads_or_writes(machine, memory):
    def run_ours():
        said = machine.remember_the_sample()
        assert said in ours(machine)
        assert not (memory.root / EXPORT).exists()
        assert "gannet" not in ours(machine)

    memory.say("Paint it again.")
    memory.consolidate("again", written(memory.version), meanwhile=run_ours)
    assert (memory.codex.folder / f"{memory.root.name}.lock").exists()
    machine.codexmem("run")
    assert (memory.root / EXPORT / "resources/codexmem/MEMORY.md").exists()
    assert "gannet" in ours(machine)


@pytest.mark.parametrize("memory", ["v2"], indirect=True)
def test_what_is_forgotten_here_is_gone_from_what_codex_consolidates_next(machine, memory):
    said = machine.remember_the_sample()
    machine.codexmem("forget", "--text", said)
    assert said not in "".join(path.read_text() for path in (memory.root / EXPORT).rglob("*.md"))
    memory.say("Paint it again.")
    assert said not in memory.consolidate("again", written(memory.version), look_for="pnpm")
