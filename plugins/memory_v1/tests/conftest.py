"""Stored sessions made by the built-in backend from conversations written by hand."""

from __future__ import annotations

import json

import pytest
from codexmem_hookspecs.testing.memory import DictWorkspace, ListTranscript
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import ExtractionRequest, Reply
from codexmem_memory_v1 import plugin

from codexmem_core.consolidate.digest import merge
from codexmem_core.models.extractive import find

DAY_MS = 86_400_000
FIRST_DAY_MS = 1_790_000_000_000
REQUEST = ExtractionRequest(instructions="", input="", schema={})


def transcript(number, *turns, cwd="/home/user/shop", host="claude", day=None):
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


def stored(conversation, **values):
    """The row that the engine would keep; the session must have substance."""
    findings = find(conversation)
    note = plugin.codexmem_extract_result(request=REQUEST, reply=Reply(findings=findings))
    assert note.summary
    name = f"2026-09-21T00-00-00-{conversation.session.id[-4:]}-recap.md"
    return Stored(session=conversation.session, extraction=note, recap_file=name, findings=findings, **values)


class Memory:
    """A workspace that is consolidated again and again."""

    def __init__(self):
        self.rows = []
        self.notes = {}
        self.workspace = DictWorkspace("v1", {})

    def add(self, *rows):
        self.rows += rows
        return self

    def consolidate(self):
        """Consolidate offline; the files that changed."""
        written = plugin.codexmem_consolidate_offline(
            workspace=self.workspace, stored=self.rows, changes=(), digest=merge(self.rows, self.notes)
        )
        self.workspace.files.update(written)
        assert list(plugin.codexmem_consolidate_check(workspace=self.workspace)) == []
        return written

    @property
    def handbook(self):
        return self.workspace.files["MEMORY.md"]

    @property
    def summary(self):
        return self.workspace.files["memory_summary.md"]


@pytest.fixture
def memory():
    return Memory()


@pytest.fixture
def conversation():
    return transcript


@pytest.fixture
def keep():
    return lambda *arguments, **values: stored(transcript(*arguments, **values))


@pytest.fixture
def keep_row():
    return stored
