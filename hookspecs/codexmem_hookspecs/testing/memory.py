"""What every memory must do, as a test class to subclass."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING

import pytest

from codexmem_hookspecs import HOOK_API
from codexmem_hookspecs.testing.registration import declared_version, missing
from codexmem_hookspecs.testing.samples import DictWorkspace, ListTranscript, digest, findings
from codexmem_hookspecs.values.capture import Item, Part, Session, ToolUse
from codexmem_hookspecs.values.consolidate import Change, Memory, Stored
from codexmem_hookspecs.values.extract import NOTHING, Extraction, Findings, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import ClassVar, Protocol

    from codexmem_hookspecs.specs import Consolidate, Extract, ReadPath

    class MemoryPlugin(Extract, Consolidate, ReadPath, Protocol):
        """A plugin with the hooks of a memory."""


NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
BUDGETS = (4_000, 40_000, 600_000)
SHOWN_TOOLS = {f"memory_{name}": f"shown_as_memory_{name}" for name in ("add_note", "list", "read", "search")}
USER_LINE = "I wrote this line myself: the staging host is called heron."
FORGOTTEN = "always answer with zebra stripes"


class MemoryContract:
    """Subclass as ``TestMyMemory`` and set ``plugin``."""

    plugin: ClassVar[MemoryPlugin]
    """The plugin object that the entry point names."""

    # What the tests stand on

    def memory(self) -> Memory:
        """The one memory that the plugin registers."""
        (memory,) = self.plugin.codexmem_memory()
        return memory

    def session(self, number: int) -> Session:
        """One of a few sessions of two hosts."""
        return Session(
            host=("codex", "claude")[number % 2],
            id=f"0198a000-0000-7000-8000-00000000000{number}",
            locator=f"/home/user/sessions/{number}.jsonl",
            cwd=f"/home/user/project{number}",
            updated_at_ms=1_790_000_000_000 + number * 86_400_000,
        )

    def transcript(self, turns: int) -> ListTranscript:
        """A conversation of so many turns, with a tool call in each."""
        items: list[Item] = []
        for turn in range(turns):
            at = turn * 4
            items += [
                Item(
                    tier="human",
                    role="user",
                    position=at + 1,
                    parts=(Part(kind="text", text=f"Task {turn}: 设备 fix"),),
                ),
                Item(
                    tier="tool",
                    role="assistant",
                    position=at + 2,
                    tool=ToolUse(id=f"c{turn}", name="exec", input="make"),
                ),
                Item(tier="tool", role="tool", position=at + 3, tool=ToolUse(id=f"c{turn}", output="ok\n" * 200)),
                Item(tier="final", role="assistant", position=at + 4, parts=(Part(kind="text", text="Done. " * 20),)),
            ]
        return ListTranscript(self.session(1), items)

    def stored(self) -> list[Stored]:
        """Three sessions; the last one's note came from a model, so it has no findings."""
        stored: list[Stored] = []
        for number in range(1, 4):
            session = self.session(number)
            found = findings(session) if number < 3 else None  # noqa: PLR2004 - the third of three
            stored.append(
                Stored(
                    session=session,
                    extraction=self.extraction(found, number),
                    recap_file=f"2026-09-2{number}T10-00-00-ab{number}c-build_cache_{number}.md",
                    findings=found,
                )
            )
        return stored

    def extraction(self, found: Findings | None, number: int) -> Extraction:
        """A note: the memory's own of findings, or one as a model writes it."""
        if found is not None:
            request = self.plugin.codexmem_extract_request(transcript=self.transcript(1), budget_bytes=BUDGETS[1])
            return self.plugin.codexmem_extract_result(request=request, reply=Reply(findings=found))
        return Extraction(
            summary=f"The model's recap {number}.", raw=f"The model's raw memory {number}.", slug=f"recap_{number}"
        )

    def workspace(self, stored: Sequence[Stored]) -> DictWorkspace:
        """A root as it is when consolidation begins."""
        files = {f"rollout_summaries/{one.recap_file}": one.extraction.summary for one in stored}
        files.update(self.plugin.codexmem_consolidate_files(stored=stored))
        return DictWorkspace(self.memory().name, files)

    def changes(self, workspace: DictWorkspace) -> list[Change]:
        """Everything is new."""
        return [Change(status="A", path=path) for path in workspace.walk()]

    def consolidated(self, workspace: DictWorkspace, stored: Sequence[Stored]) -> Mapping[str, str]:
        """What offline consolidation writes."""
        return self.plugin.codexmem_consolidate_offline(
            workspace=workspace, stored=stored, changes=self.changes(workspace), digest=digest(stored)
        )

    # Registration

    def test_the_package_speaks_this_version_of_the_contract(self) -> None:
        """Another version is refused at load."""
        assert declared_version(self.plugin) == HOOK_API

    def test_all_hooks_of_a_memory_are_there(self) -> None:
        """A memory that lacks one is refused at load; so are unknown hooks and arguments."""
        assert missing(self.plugin, "codexmem_memory") == set()

    def test_the_memory_describes_itself(self) -> None:
        """A name that can be typed, places inside the home, caps that let something through."""
        memory = self.memory()
        assert NAME.fullmatch(memory.name)
        for place in (memory.folder, memory.database, memory.summary, *memory.generated, *memory.agent_writes):
            assert place
            assert not place.startswith(("/", "."))
            assert ".." not in place.split("/")
        assert memory.summary_tokens > 0
        assert within(memory.summary, memory.agent_writes)

    # Extraction

    @pytest.mark.parametrize("budget", BUDGETS)
    def test_a_request_is_pure_and_within_its_budget(self, budget: int) -> None:
        """However long the conversation was."""
        for turns in (0, 1, 400):
            transcript = self.transcript(turns)
            request = self.plugin.codexmem_extract_request(transcript=transcript, budget_bytes=budget)
            assert request == self.plugin.codexmem_extract_request(transcript=transcript, budget_bytes=budget)
            assert len(request.input.encode()) <= budget
            assert request.instructions.strip()

    def test_the_schema_is_strict(self) -> None:
        """An object with all keys required and no others."""
        schema = self.request_schema()
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(self.required()) == set(self.properties())

    def test_findings_without_substance_are_nothing(self) -> None:
        """Names of files alone are not worth a note."""
        for empty in (Findings(), Findings(files=("Makefile",), identifiers=("E42",))):
            assert self.result(Reply(findings=empty)) == NOTHING

    def test_findings_become_a_note(self) -> None:
        """With a recap; the same again for the same findings; in the user's own words."""
        reply = Reply(findings=findings(self.session(1)))
        note = self.result(reply)
        assert note == self.result(reply)
        assert note.summary.strip()
        assert "always use tabs in Makefiles" in note.summary + note.raw

    def test_a_reply_of_a_model_becomes_a_note(self) -> None:
        """When it fits the schema; blank texts mean that nothing was worth keeping."""
        assert self.result(Reply(data=dict.fromkeys(self.properties(), "worth keeping"))).summary == "worth keeping"
        assert self.result(Reply(data=dict.fromkeys(self.properties(), ""))) == NOTHING

    def test_an_invalid_reply_is_an_error(self) -> None:
        """A missing key, a wrong type, a key too many, no answer: the job is tried again."""
        good: dict[str, object] = dict.fromkeys(self.properties(), "text")
        bad: list[Mapping[str, object] | None] = [None, {}, good | {"no_such_key": "x"}]
        for key in good:
            bad += [good | {key: 7}, good | {key: ["x"]}, {other: good[other] for other in good if other != key}]
        for data in bad:
            with pytest.raises(ValueError, match=r"."):
                self.result(Reply(data=data))

    def request_schema(self) -> Mapping[str, object]:
        """The schema of the answer."""
        return self.plugin.codexmem_extract_request(transcript=self.transcript(1), budget_bytes=BUDGETS[1]).schema

    def properties(self) -> Mapping[str, object]:
        """Keys of the answer."""
        properties = self.request_schema()["properties"]
        assert isinstance(properties, dict)
        return properties

    def required(self) -> Sequence[str]:
        """Keys that the answer must have."""
        required = self.request_schema()["required"]
        assert isinstance(required, (list, tuple))
        return required

    def result(self, reply: Reply) -> Extraction:
        """The note of a reply."""
        request = self.plugin.codexmem_extract_request(transcript=self.transcript(1), budget_bytes=BUDGETS[1])
        return self.plugin.codexmem_extract_result(request=request, reply=reply)

    # Consolidation

    def test_generated_files_stay_inside_their_patterns(self) -> None:
        """The same sessions give the same bytes, each session is in them, and a changed note changes them."""
        stored = self.stored()
        files = self.plugin.codexmem_consolidate_files(stored=stored)
        assert files == self.plugin.codexmem_consolidate_files(stored=stored)
        for path in files:
            assert within(path, self.memory().generated)
        if files:
            text = "\n".join(files.values())
            assert all(one.session.id in text for one in stored)
            changed = replace(stored[0], extraction=Extraction(summary="other", raw="other"))
            assert self.plugin.codexmem_consolidate_files(stored=[changed, *stored[1:]]) != files
        for path in self.plugin.codexmem_consolidate_files(stored=[]):
            assert within(path, self.memory().generated)

    def test_the_agent_is_told_the_same_for_the_same_workspace(self) -> None:
        """And is told something."""
        workspace = self.workspace(self.stored())
        told = [
            self.plugin.codexmem_consolidate_request(workspace=workspace, changes=self.changes(workspace))
            for _ in range(2)
        ]
        assert told[0] == told[1]
        assert told[0].instructions.strip()
        assert told[0].prompt.strip()

    def test_offline_consolidation_stays_inside_its_patterns_and_is_repeatable(self) -> None:
        """The same input gives the same bytes."""
        stored = self.stored()
        workspace = self.workspace(stored)
        written = self.consolidated(workspace, stored)
        assert written
        assert list(written.items()) == list(self.consolidated(workspace, stored).items())
        for path in written:
            assert within(path, self.memory().agent_writes)

    def test_offline_consolidation_represents_every_session(self) -> None:
        """Also one whose note came from a model and has no findings."""
        stored = self.stored()
        text = "\n".join(self.consolidated(self.workspace(stored), stored).values())
        for one in stored:
            assert one.session.id in text or one.recap_file in text

    def test_offline_consolidation_passes_the_memorys_own_check(self) -> None:
        """With sessions and without any; and its summary is not missed only because nobody looks."""
        for stored in ([], self.stored()[:1], self.stored()):
            workspace = self.workspace(stored)
            workspace.files.update(self.consolidated(workspace, stored))
            assert list(self.plugin.codexmem_consolidate_check(workspace=workspace)) == []
        del workspace.files[self.memory().summary]
        assert list(self.plugin.codexmem_consolidate_check(workspace=workspace))

    def test_offline_consolidation_over_its_own_files_changes_nothing(self) -> None:
        """So that a run with nothing new ends."""
        stored = self.stored()
        workspace = self.workspace(stored)
        workspace.files.update(self.consolidated(workspace, stored))
        again = self.consolidated(workspace, stored)
        assert {path: text for path, text in again.items() if workspace.files.get(path) != text} == {}

    def test_what_a_user_wrote_stays(self) -> None:
        """In every file that consolidation wrote."""
        stored = self.stored()
        workspace = self.workspace(stored)
        written = self.consolidated(workspace, stored)
        workspace.files.update(written)
        for path in written:
            edited = DictWorkspace(workspace.memory, dict(workspace.files))
            edited.files[path] += f"\n{USER_LINE}\n"
            edited.files.update(self.consolidated(edited, stored))
            assert USER_LINE in edited.files[path]

    def test_forgotten_sessions_leave_nothing_behind(self) -> None:
        """Neither names nor words of them stay in any file, whoever wrote the note."""
        first, second, models = self.stored()
        assert first.findings is not None
        preferences = tuple(replace(one, quote=FORGOTTEN) for one in first.findings.preferences)
        found = replace(first.findings, preferences=preferences)
        first = replace(first, findings=found, extraction=self.extraction(found, 1))
        stored = [first, second, models]
        written = self.consolidated(self.workspace(stored), stored)
        for forgotten, words in ((first, FORGOTTEN), (models, models.extraction.summary)):
            left = [one for one in stored if one is not forgotten]
            workspace = self.workspace(left)
            workspace.files.update(written)
            workspace.files.update(self.consolidated(workspace, left))
            text = "\n".join(workspace.files.values())
            assert [said for said in (forgotten.session.id, forgotten.recap_file, words) if said in text] == []

    # Read path

    def test_there_is_no_context_without_a_summary(self) -> None:
        """Instructions about a memory that is empty only cost tokens."""
        for text in ({}, {self.memory().summary: " \n"}):
            workspace = DictWorkspace(self.memory().name, dict(text))
            for tools, citations in ((SHOWN_TOOLS, True), ({}, False)):
                assert self.plugin.codexmem_read_summary(workspace, tools, citations) == ""

    def test_the_context_holds_the_summary(self) -> None:
        """With tools and without; the same for the same files; and it asks for citations only where they are wanted."""
        stored = self.stored()
        workspace = self.workspace(stored)
        workspace.files.update(self.consolidated(workspace, stored))
        workspace.files[self.memory().summary] += "\nThe heron nests in the staging rack.\n"
        for tools, citations in product((SHOWN_TOOLS, dict[str, str]()), (True, False)):
            context = self.plugin.codexmem_read_summary(workspace, tools, citations)
            assert "The heron nests in the staging rack." in context
            assert context == self.plugin.codexmem_read_summary(workspace, tools, citations)
            assert citations or "memory-citation" not in context
            plain = context.replace("shown_as_memory_", "")
            assert not any(name in plain for name in SHOWN_TOOLS)


def within(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits one of a memory's patterns."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)
