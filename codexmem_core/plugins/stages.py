"""The hooks with types: what the pipeline calls, one method a hook, for pluggy itself has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from codexmem_hookspecs.values.capture import Event, Item, Presence, Reaction, Session, SessionQuery, Skipped
from codexmem_hookspecs.values.consolidate import AgentRequest, Change, Digest, Problem, Stored
from codexmem_hookspecs.values.extract import Extraction, ExtractionRequest, Reply
from codexmem_hookspecs.values.records import Forgotten

from codexmem_core.plugins.calls import Hooks, MissingHookError, Outcome, PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Deadline, Transcript, Workspace
    from codexmem_hookspecs.values.interop import Mirror, Snapshot
    from codexmem_hookspecs.values.records import Selector

T = TypeVar("T")


class Stages:
    """Directed hooks take the plugin's name first; the rest go to every plugin."""

    def __init__(self, hooks: Hooks, host_plugins: Mapping[str, str]) -> None:
        self.hooks = hooks
        self._host_plugins = dict(host_plugins)

    # capture

    @property
    def host_names(self) -> list[str]:
        """Installed hosts, sorted."""
        return sorted(self._host_plugins)

    def sessions(self, host: str, query: SessionQuery) -> list[Session]:
        """New and changed sessions of one host."""
        hook = "codexmem_capture_sessions"
        plugin = self.host_plugin(host, hook)
        return [_checked(plugin, hook, Session, found) for found in self.hooks.call_one(plugin, hook, query=query)]

    def transcript(self, session: Session, after: int) -> Iterator[Item | Skipped]:
        """Raw items of the session's host, streamed."""
        plugin = self.host_plugin(session.host, "codexmem_capture_transcript")
        return self.hooks.call_stream(plugin, "codexmem_capture_transcript", session=session, after=after)

    def presence(self, host: str, sessions: Sequence[Session]) -> Mapping[str, Presence]:
        """By session id; what a host does not say is unknown."""
        plugin = self.host_plugin(host, "codexmem_capture_presence")
        said = self.hooks.call_one(plugin, "codexmem_capture_presence", sessions=sessions)
        return {session.id: said.get(session.id, Presence.unknown) for session in sessions}

    def reactions(self) -> dict[str, tuple[Reaction, ...]]:
        """By plugin."""
        wanted: dict[str, tuple[Reaction, ...]] = {}
        for outcome in self.hooks.call_each("codexmem_capture_reactions"):
            wanted[outcome.plugin] = tuple(outcome.value or ())
        return wanted

    def react(self, plugin: str, event: Event, deadline: Deadline | None = None) -> None:
        """Deliver one event to one plugin."""
        self.hooks.call_one(plugin, "codexmem_capture_event", deadline=deadline, event=event)

    def host_plugin(self, host: str, hook: str) -> str:
        """The plugin that owns a host. Raises MissingHookError when it is not installed."""
        try:
            return self._host_plugins[host]
        except KeyError:
            raise MissingHookError(host, hook, "no installed plugin provides this host") from None

    # extract

    def extract_request(self, plugin: str, transcript: Transcript, budget_bytes: int) -> ExtractionRequest:
        """The question to the model."""
        hook = "codexmem_extract_request"
        value = self.hooks.call_one(plugin, hook, transcript=transcript, budget_bytes=budget_bytes)
        return _checked(plugin, hook, ExtractionRequest, value)

    def extract_result(self, plugin: str, request: ExtractionRequest, reply: Reply) -> Extraction:
        """The note, or NOTHING."""
        hook = "codexmem_extract_result"
        return _checked(plugin, hook, Extraction, self.hooks.call_one(plugin, hook, request=request, reply=reply))

    # consolidate

    def consolidate_files(self, plugin: str, stored: Sequence[Stored]) -> Mapping[str, str]:
        """Generated files by path."""
        hook = "codexmem_consolidate_files"
        return _files(plugin, hook, self.hooks.call_one(plugin, hook, stored=stored))

    def consolidate_request(self, plugin: str, workspace: Workspace, changes: Sequence[Change]) -> AgentRequest:
        """What the agent is told."""
        hook = "codexmem_consolidate_request"
        value = self.hooks.call_one(plugin, hook, workspace=workspace, changes=changes)
        return _checked(plugin, hook, AgentRequest, value)

    def consolidate_offline(
        self, plugin: str, workspace: Workspace, stored: Sequence[Stored], changes: Sequence[Change], digest: Digest
    ) -> Mapping[str, str]:
        """Changed files by path."""
        hook = "codexmem_consolidate_offline"
        value = self.hooks.call_one(plugin, hook, workspace=workspace, stored=stored, changes=changes, digest=digest)
        return _files(plugin, hook, value)

    def consolidate_check(self, plugin: str, workspace: Workspace) -> list[Problem]:
        """Why the files are not valid."""
        return list(self.hooks.call_one(plugin, "codexmem_consolidate_check", workspace=workspace))

    # interop

    def interop_import(self, workspace: Workspace) -> list[Outcome[list[Mirror]]]:
        """Other tools' memories, by plugin."""
        return self.hooks.call_each("codexmem_interop_import", workspace=workspace)

    def interop_export(self, snapshot: Snapshot) -> list[Outcome[list[Mirror]]]:
        """Ours for other tools, by plugin."""
        return self.hooks.call_each("codexmem_interop_export", snapshot=snapshot)

    # read path

    def read_summary(self, plugin: str, workspace: Workspace, *, tools: Mapping[str, str], citations: bool) -> str:
        """The memory's own context text."""
        hook = "codexmem_read_summary"
        text = self.hooks.call_one(plugin, hook, workspace=workspace, tools=tools, citations=citations)
        return _checked(plugin, hook, str, text)

    def forget(self, selector: Selector) -> list[Outcome[Forgotten]]:
        """Stores that the engine does not own."""
        return self.hooks.call_each("codexmem_forget", selector=selector)

    def forget_again(self, plugin: str, selector: Selector) -> Forgotten:
        """The same of one plugin that could not before."""
        hook = "codexmem_forget"
        return _checked(plugin, hook, Forgotten, self.hooks.call_one(plugin, hook, selector=selector))


def _checked(plugin: str, hook: str, kind: type[T], value: object) -> T:
    if not isinstance(value, kind):
        raise PluginError(plugin, hook, f"returned {value!r:.80}, not {kind.__name__}")
    return value


def _files(plugin: str, hook: str, value: object) -> Mapping[str, str]:
    files = _checked(plugin, hook, dict, value)
    for path, text in files.items():
        if not isinstance(path, str) or not isinstance(text, str):
            raise PluginError(plugin, hook, f"{path!r:.80} is not a text file by path")
    return files
