"""What the tests of several hosts, and of several memories, need."""

from __future__ import annotations

import json
import re

import pytest
from codexmem_hookspecs.testing.samples import DictWorkspace, ListTranscript
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import ExtractionRequest, Reply

from codexmem_core.consolidate.digest import merge
from codexmem_core.consolidate.extensions import taken_in
from codexmem_core.models.extractive import find
from codexmem_core.safety.files import GuardedFolder

DAY_MS = 86_400_000
FIRST_DAY_MS = 1_790_000_000_000


@pytest.fixture
def guarded_services(codexmem_services, monkeypatch):
    """The engine's own path guard and line reader, which read compressed files."""
    monkeypatch.setattr(
        codexmem_services,
        "open_folder",
        lambda root, *, write=False: GuardedFolder(root, write=write, links=not write),
    )
    return codexmem_services


def _transcript(number, *turns, cwd="/home/user/shop", host="claude", day=None):
    """Turns are the user's sentences, or (command, output, ok) of a tool."""
    at_ms = FIRST_DAY_MS + (number if day is None else day) * DAY_MS
    session = Session(host=host, id=f"session-{number:04}", cwd=cwd, updated_at_ms=at_ms)
    items = []
    for position, turn in enumerate(turns, 1):
        if isinstance(turn, str):
            items.append(
                Item(tier="human", role="user", position=position, at_ms=at_ms, parts=(Part(kind="text", text=turn),))
            )
        else:
            command, output, ok = turn
            tool = ToolUse(
                id=str(position),
                name="Bash",
                input=json.dumps({"command": command}),
                output=output,
                status="completed" if ok else "failed",
            )
            items.append(Item(tier="tool", role="tool", position=position, at_ms=at_ms, tool=tool))
    return ListTranscript(session, items)


class ConsolidatedMemory:
    """A workspace that a memory consolidates again and again, from conversations read by the built-in backend."""

    def __init__(self, plugin):
        self.plugin = plugin
        self.rows = []
        self.notes = {}
        self.workspace = DictWorkspace("any", {})

    def note(self, *, findings=None, data=None):
        """What the memory makes of a reply."""
        request = ExtractionRequest(instructions="", input="", schema={})
        return self.plugin.codexmem_extract_result(request=request, reply=Reply(findings=findings, data=data))

    def row(self, conversation, **values):
        """The row that the engine would keep; the session must have substance."""
        findings = find(conversation)
        note = self.note(findings=findings)
        assert note.summary
        name = f"2026-09-21T00-00-00-{conversation.session.id[-4:]}-recap.md"
        return Stored(session=conversation.session, extraction=note, recap_file=name, findings=findings, **values)

    def add(self, *rows):
        self.rows += rows
        return self

    def consolidate(self):
        """Consolidate offline; the files that changed."""
        written = self.plugin.codexmem_consolidate_offline(
            workspace=self.workspace, stored=self.rows, changes=(), digest=self.digest
        )
        self.workspace.files.update(written)
        assert list(self.plugin.codexmem_consolidate_check(workspace=self.workspace)) == []
        return written

    @property
    def digest(self):
        return merge(self.rows, taken_in(DictWorkspace("any", self.notes), lambda text: text))

    @property
    def handbook(self):
        return self.workspace.files["MEMORY.md"]

    @property
    def summary(self):
        return self.workspace.files["memory_summary.md"]


@pytest.fixture
def consolidated_memory():
    return ConsolidatedMemory


@pytest.fixture
def conversation():
    return _transcript


@pytest.fixture
def keep_row(memory):
    """Of the memory of the folder's own ``memory``."""
    return memory.row


@pytest.fixture
def keep(memory):
    return lambda *arguments, **values: memory.row(_transcript(*arguments, **values))


@pytest.fixture
def checkout(conversation):
    """A session with a bit of everything: a task, a standing wish, a failure and what solved it, a decision."""
    return conversation(
        1,
        'Fix the "checkout" test: it fails. Always run make test before you commit.',
        ("make test", "Error: no module yaml", False),
        ("pip install pyyaml", "", True),
        ("make test", "3 passed", True),
        "let's go with Redis for the cache",
        "Thanks!",
    )


@pytest.fixture
def five_days(memory, keep):
    """A session on each of five days in one folder, consolidated; the summary has Codex's shape."""
    memory.add(*[keep(day, f"Fix the parser number {day} in p.py", ("make", "", True)) for day in range(5)])
    memory.consolidate()
    assert memory.summary.startswith("v1\n\n## User Profile\n")
    assert re.findall(r"^#+ .*$", memory.summary, re.MULTILINE) == [
        "## User Profile",
        "## User preferences",
        "## General Tips",
        "## What's in Memory",
        "### /home/user/shop",
        "#### 2026-09-25",
        "#### 2026-09-24",
        "#### 2026-09-23",
        "### Older Memory Topics",
        "#### /home/user/shop",
    ]
    return memory


@pytest.fixture
def thousand_sessions(memory, conversation):
    """A thousand sessions in seven folders, five a day, consolidated; only an old one, number 3, was ever used."""
    for number in range(1_000):
        spoken = conversation(
            number,
            f"Implement the feature number {number} in src/file{number}.py. Always mention "
            f"part{number % 200} in report{number % 50}.",
            ("make test", f"Error: problem number {number % 70}", False),
            ("make fix", "", True),
            ("make test", "1 passed", True),
            cwd=f"/home/user/project{number % 7}",
            day=number // 5,
        )
        used = {"usage_count": 5, "last_usage_ms": 2_000_000_000_000} if number == 3 else {}
        memory.add(memory.row(spoken, **used))
    memory.consolidate()
    return memory
