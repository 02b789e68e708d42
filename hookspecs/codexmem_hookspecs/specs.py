"""The hooks, a Protocol a stage: pluggy reads them as specifications, mypy checks plugins against them.

Three kinds. **R**, registration: records, collected once, validated, sorted; two plugins that claim one name are both
refused. **E**, each: every plugin on its own, with its own outcome. **D**, directed: to the plugin that owns the item
(the session's host, the lane's memory). There is no first-result kind, so that one plugin's crash never costs another's
session. Hooks are synchronous; an implementation that does not name ``services`` does not get them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from codexmem_hookspecs.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services, Transcript, Workspace
    from codexmem_hookspecs.values.capture import Event, Item, Presence, Reaction, Session, SessionQuery, Skipped
    from codexmem_hookspecs.values.consolidate import AgentRequest, Change, Digest, Memory, Problem, Stored
    from codexmem_hookspecs.values.extract import Extraction, ExtractionRequest, Reply
    from codexmem_hookspecs.values.interop import Mirror, Snapshot
    from codexmem_hookspecs.values.read import ContextSource, Tool
    from codexmem_hookspecs.values.records import Command, DoctorCheck, Forgotten, ModelBackend, Selector, Setting


class Registration(Protocol):
    """What any plugin may add."""

    @hookspec
    def codexmem_settings(self) -> Iterable[Setting]:
        """R: keys of the plugin's table in config.toml."""
        ...

    @hookspec
    def codexmem_models(self) -> Iterable[ModelBackend]:
        """R: ways to reach a model."""
        ...

    @hookspec
    def codexmem_commands(self) -> Iterable[Command]:
        """R: commands of ``codexmem``, imported when they are run."""
        ...

    @hookspec
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """R: checks of ``codexmem doctor``."""
        ...

    @hookspec
    def codexmem_forget(self, selector: Selector, services: Services) -> Forgotten:
        """E: forget what the engine's stores do not hold, and report. A failure stays pending and is tried again."""
        ...


class Capture(Protocol):
    """Stage 1: which sessions exist and what was said in them. A host implements the first three."""

    @hookspec
    def codexmem_capture_host(self) -> Iterable[Host]:
        """R: the host, exactly one an entry point."""
        ...

    @hookspec
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """E: sessions that are new or changed, newest first. An empty or missing store is no error.

        With ``query.folder`` only that folder is read, and files are recognised by their content.
        """
        ...

    @hookspec
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """D: items past the position ``after``, streamed, raw; the engine redacts them.

        A record that cannot be understood is yielded as Skipped and stops nothing. Raises Unreadable when the store
        cannot be read now, Rewritten when what stood before ``after`` is not there any more.
        """
        ...

    @hookspec
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """D: by session id, whether each still exists. A missing id counts as unknown; a vanished file is unknown."""
        ...

    @hookspec
    def codexmem_capture_reactions(self) -> Iterable[Reaction]:
        """R: which events this plugin needs, and for how long the host waits on it. ``setup`` installs the union."""
        ...

    @hookspec
    def codexmem_capture_event(self, event: Event, services: Services) -> None:
        """E: react to an event. Called at least once for each, in order within a session. Raises TryLater.

        No plugin hears of a session that may not be captured: a subagent's, one that is switched off, or one in a
        project that is ``off`` or ``read_only``; but that a session was deleted is told in any case.
        """
        ...


class Extract(Protocol):
    """Stage 2: one finished session in, one note out."""

    @hookspec
    def codexmem_extract_request(self, transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
        """D: the question to the model; pure, and no longer than the budget."""
        ...

    @hookspec
    def codexmem_extract_result(self, request: ExtractionRequest, reply: Reply) -> Extraction:
        """D: the note, or NOTHING. Raises ValueError when the reply is not valid; the job is tried again."""
        ...


class Consolidate(Protocol):
    """Stage 3: all notes plus what changed, merged into the memory's files."""

    @hookspec
    def codexmem_memory(self) -> Iterable[Memory]:
        """R: the memory, exactly one an entry point."""
        ...

    @hookspec
    def codexmem_consolidate_files(self, stored: Sequence[Stored]) -> Mapping[str, str]:
        """D: generated files, whole, by path. Called in the claim, before imports and the diff."""
        ...

    @hookspec
    def codexmem_consolidate_request(self, workspace: Workspace, changes: Sequence[Change]) -> AgentRequest:
        """D: what the consolidation agent is told."""
        ...

    @hookspec
    def codexmem_consolidate_offline(
        self, workspace: Workspace, stored: Sequence[Stored], changes: Sequence[Change], digest: Digest
    ) -> Mapping[str, str]:
        """D: consolidation without a model: the files that change, whole, by path.

        Every stored session must be represented, also those without findings. What a user wrote into the files
        stays.
        """
        ...

    @hookspec
    def codexmem_consolidate_check(self, workspace: Workspace) -> Iterable[Problem]:
        """D: why the files are not valid; empty when they are. Called before and after consolidation."""
        ...


class Interop(Protocol):
    """Stage 4: exchange with other tools' memories."""

    @hookspec
    def codexmem_interop_import(self, workspace: Workspace, services: Services) -> Iterable[Mirror]:
        """E: other tools' memories in, before the diff. An exception removes nothing."""
        ...

    @hookspec
    def codexmem_interop_export(self, snapshot: Snapshot, services: Services) -> Iterable[Mirror]:
        """E: ours out, after a success."""
        ...


class ReadPath(Protocol):
    """Stage 5: what a new session gets, and what can be asked further."""

    @hookspec
    def codexmem_read_summary(self, workspace: Workspace, tools: Mapping[str, str], citations: bool) -> str:  # noqa: FBT001 - pluggy passes by name
        """D: the memory's own context text, whole; empty when there is nothing to say. The engine cuts and fences.

        ``tools``: the memory tools that the session has (memory_search, memory_read, memory_list and memory_add_note
        among them), each with its name as the host shows it; empty when it has none. ``citations``: the answer may end
        with a citation block, because whoever shows it takes the block out; otherwise the text must not ask for one.
        """
        ...

    @hookspec
    def codexmem_read_sources(self) -> Iterable[ContextSource]:
        """R: further context, computed when a host asks."""
        ...

    @hookspec
    def codexmem_read_tools(self) -> Iterable[Tool]:
        """R: further tools for agents. Tools over a memory belong to the engine."""
        ...


GROUPS: tuple[type, ...] = (Registration, Capture, Extract, Consolidate, Interop, ReadPath)

REQUIRED: Mapping[str, frozenset[str]] = {
    "codexmem_memory": frozenset(
        {
            "codexmem_extract_request",
            "codexmem_extract_result",
            "codexmem_consolidate_files",
            "codexmem_consolidate_request",
            "codexmem_consolidate_offline",
            "codexmem_consolidate_check",
            "codexmem_read_summary",
        }
    ),
    "codexmem_capture_host": frozenset(
        {"codexmem_capture_sessions", "codexmem_capture_transcript", "codexmem_capture_presence"}
    ),
}
"""A plugin that implements the key must implement all of the value, or it is refused at load."""
