"""What Claude Code remembers by itself, imported: the program writes it, the hooks alone bring it into the memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest
from realhosts.checkout import Checkout
from realhosts.conversation import until

NOTE = """---
name: gannet
description: the mast light is called gannet
type: project
---

The mast light is called gannet.
"""
FACT = "the mast light is called gannet"


INSTALL = "pip install './[v2,claude]' ./hookspecs ./plugins/memory_v2 ./plugins/host_claude ./plugins/claude_import"
"""README's line, for the other memory."""


@pytest.fixture
def importing(machine, claude):
    """Claude Code with the import turned on."""
    config = machine.home / ".config" / "codexmem" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[claude-import]\nenabled = true\n")
    return claude


def own_memory(claude, **options):
    """The folder in which Claude Code says that it keeps its memory."""
    told = claude.say("Hello.", **options).told
    return re.search(r"(/\S+?/projects/[^/\s]+/memory)/", told)[1]


def writes(path, text):
    return {"tool": {"name": "Write", "args": {"file_path": path, "content": text}}}


def imported(machine):
    """Path → text of what lies in the import's extension of each memory."""
    base = "extensions/external_agent_import/resources"
    return {
        str(path.relative_to(machine.memory_home)).replace(f"{base}/", ""): path.read_text()
        for path in sorted(machine.memory_home.glob(f"memories*/{base}/**/*"))
        if path.is_file()
    }


def test_a_memory_of_claude_codes_own_is_known_in_every_session_and_gone_with_its_file(machine, importing):
    folder = own_memory(importing)
    importing.say("Remember the light.", writes(f"{folder}/gannet.md", NOTE), {"text": "Noted."})
    machine.until_known(FACT, importing)
    key = folder.rsplit("/", 2)[1]
    files = imported(machine)
    for memory in ("memories", "memories_v2"):
        assert json.loads(files[f"{memory}/{key}/scope.json"]) == {"cwd": str(machine.project)}
        assert "originSessionId" in files[f"{memory}/{key}/gannet.md"]  # which Claude Code itself has added
    told = importing.say("What is it called?").told
    assert f"gannet: {FACT}" in told
    assert "[from claude]" in told
    (path,) = importing.machine.home.glob(f".claude/projects/{key}/memory/gannet.md")
    path.unlink()
    machine.codexmem("run")
    assert FACT not in "".join(imported(machine).values())
    assert FACT not in machine.codexmem("context", "--host", "claude")
    everything = (path for path in machine.memory_home.glob("memories*/*.md"))
    assert not any(FACT in path.read_text() for path in everything)


@pytest.mark.parametrize("place", ["subfolder", "worktree"])
def test_written_from_elsewhere_in_the_repository_it_is_about_the_repository(machine, importing, place):
    folder = machine.project / "deep" / "down"
    if place == "worktree":
        folder = machine.root / "tree"
        subprocess.run(["git", "worktree", "add", "-q", str(folder)], cwd=machine.project, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    memory = own_memory(importing, cwd=folder)
    importing.say("Remember the light.", writes(f"{memory}/gannet.md", NOTE), {"text": "Noted."}, cwd=folder)
    machine.until_known(FACT, importing)
    scopes = [json.loads(text) for path, text in imported(machine).items() if path.endswith("/scope.json")]
    assert scopes == [{"cwd": str(machine.project)}] * 2


def test_a_folder_that_a_project_names_for_its_memory_is_followed(machine, importing):
    settings = machine.project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"autoMemoryDirectory": str(machine.root / "kept")}))
    importing.say("Remember the light.", writes(f"{machine.root}/kept/gannet.md", NOTE), {"text": "Noted."})
    until((machine.root / "kept" / "gannet.md").exists, "the memory in the folder that was named")
    machine.until_known(FACT, importing)
    shutil.rmtree(machine.root / "kept")
    machine.codexmem("run")
    assert FACT in "".join(imported(machine).values())  # a folder that is away is no deleted memory


def test_a_new_user_who_installs_v2_and_claude_has_a_session_that_knows_an_imported_memory(
    machine, bare_claude, offline, tmp_path
):
    """Line by line: Claude Code has a memory already, codexmem is installed, set up, and told to import it."""
    folder = own_memory(bare_claude)
    bare_claude.say("Remember the light.", writes(f"{folder}/gannet.md", NOTE), {"text": "Noted."})
    checkout = Checkout(tmp_path)
    environ = checkout.environ([bare_claude.program.parent], bare_claude.environ)
    checkout.type(INSTALL, os.environ | checkout.environ([], {"PATH": environ["PATH"]}), before=offline.reach_out)
    printed = checkout.type("codexmem setup claude --yes", environ)
    assert "Claude Code has memories of its own (1 file of 1 project)." in printed
    config = re.search(r"enabled = true in \[claude-import\] of (\S+)", printed)[1]
    checkout.type(f"mkdir -p $(dirname {config}); printf '[claude-import]\\nenabled = true\\n' > {config}", environ)
    checkout.type("claude -p 'Hello.'", environ)
    machine.until_known(FACT, bare_claude)
    told = bare_claude.say("What is the light called?").told
    assert f"gannet: {FACT}" in told
    status = checkout.type("codexmem status", environ)
    assert f"imports 1 file of 1 project in {machine.home}/.claude" in status
    assert "memory    v2 (new sessions read it)" in status
    assert "memory    v1" not in status
