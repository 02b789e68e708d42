"""What a host is: pure functions about its hooks, its texts and its places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session
from codexmem_hookspecs.values.read import Caller
from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest


class Host(Protocol):
    """One coding agent. Nothing here touches a file or the network."""

    @property
    def name(self) -> str:
        """What users type, and the ``host`` of its sessions."""
        ...

    @property
    def title(self) -> str:
        """For people: ``Codex CLI``."""
        ...

    @property
    def answers(self) -> Mapping[str, Moment]:
        """The host's hook events that take an answer, each with the moment it asks for.

        An event that asks at several moments is there once for each, with the moment after a dash
        (``SessionStart-clear``): it is installed once for each as well, so that its answer can lie ready.
        """
        ...

    @property
    def kinds(self) -> Mapping[str, EventKind]:
        """The host's hook events, without a moment after a dash, each with what it tells."""
        ...

    @property
    def limit_bytes(self) -> int:
        """Most bytes of context that the host passes on whole; 0 for no limit."""
        ...

    @property
    def hides_citations(self) -> bool:
        """Whether a citation block is taken out of an answer before anybody sees it."""
        ...

    @property
    def keeps_context(self) -> bool:
        """Whether context stays in a session's history, so that one that goes on has what it was given before."""
        ...

    @property
    def gives_tools(self) -> bool:
        """Whether what ``setup`` installs hands the model our tools by itself, so that no MCP server is needed."""
        ...

    def tool_name(self, name: str) -> str:
        """How the host shows the model our tool ``name``; of an MCP server, its name is ``codexmem``.

        The host's transcripts and events name it in the same way.
        """
        ...

    def caller(self, caller: Caller, environ: Mapping[str, str], read: Callable[[str], bytes | None]) -> str:
        """Id of the session that calls a tool; empty when the host does not tell it.

        ``environ`` is that of the program which serves the tools, ``read`` gives a file by its absolute path, None
        where there is none. Of a subagent: the id of the session that the user sees.
        """
        ...

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """Absolute folders where the host keeps its sessions; the first is the one in use."""
        ...

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """Patterns of absolute folders of the host's own memory: a session inside one is never captured."""
        ...

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """A hook's payload as events; empty when there is nothing to record (a subagent's, an unknown event).

        ``event`` as in ``answers``, with or without the moment after a dash.
        """
        ...

    def encode(self, event: str, answer: Answer) -> bytes:
        """What to print for the host; empty when there is nothing to say. ``event`` as for :meth:`decode`."""
        ...

    def own_text(self, item: Item) -> bool:
        """Whether the item is context that we gave: it must not be extracted again."""
        ...

    def own_agent(self, session: Session) -> bool:
        """Whether the session is the host's own memory agent."""
        ...

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """What to change in the host's files so that they say what is wanted, one edit a file; empty: they say it.

        Entries of others stay, byte for byte, and so do order and comments. What was planned and written needs no
        further edit, and a request that wants nothing takes everything of ours out again. Raises Refused for a file
        that cannot be understood, with its path: it is never overwritten. Empty always: the host has nothing to set up.
        """
        ...

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """Entries of ours that stand in the host's files, of whatever version and place. Raises Refused like plan."""
        ...
