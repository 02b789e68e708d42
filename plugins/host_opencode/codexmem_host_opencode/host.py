"""OpenCode's events, places and names, as pure functions (OpenCode 1.18)."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.command_hooks import STARTS, text_of
from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.session_files import home_in
from codexmem_hookspecs.values.capture import Event, Session
from codexmem_hookspecs.values.setup import MCP_NAME

from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.words import unquoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.values.capture import Answer, EventKind, Item, Moment
    from codexmem_hookspecs.values.read import Caller
    from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest

FOLDER = "opencode"
"""OpenCode's own folder below each of the XDG folders."""


class OpenCodeHost:
    """OpenCode. It keeps no transcripts in files, and the context that it is given in no history."""

    name = "opencode"
    title = "OpenCode"
    limit_bytes = 0
    hides_citations = True
    """The plugin file takes a citation out of an answer before OpenCode keeps or shows it."""
    keeps_context = False
    """The system's words are put together anew for each request."""
    answers: Mapping[str, Moment] = MappingProxyType(
        {"session.start-startup": "startup", "session.start-resume": "resume", "chat.message": "prompt"}
    )
    kinds: Mapping[str, EventKind] = MappingProxyType(
        {
            "session.start": "start",  # the first message of a session in a process
            "chat.message": "prompt",
            "tool.execute.before": "tool",
            "experimental.text.complete": "cited",
            "session.idle": "idle",
            "experimental.session.compacting": "compaction",
            "session.deleted": "deleted",
            "dispose": "end",
        }
    )

    gives_tools = False

    def tool_name(self, name: str) -> str:
        """``SERVER_TOOL``."""
        return f"{MCP_NAME}_{name}"

    def caller(
        self,
        caller: Caller,  # noqa: ARG002 - the contract's
        environ: Mapping[str, str],  # noqa: ARG002
        read: Callable[[str], bytes | None],  # noqa: ARG002
    ) -> str:
        """Not told: one server serves all sessions of a process, and a call says nothing of its own (1.18)."""
        return ""

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """Where OpenCode keeps its data; nothing in it is ever opened."""
        return tuple(os.path.join(data, FOLDER) for data in home_in(environ, "XDG_DATA_HOME", ".local/share"))

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:  # noqa: ARG002 - the contract's
        """OpenCode has no memory of its own."""
        return ()

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """What the plugin file tells. It leaves out subagents and our own sessions; a title says it once more."""
        event = event.partition("-")[0]
        kind = self.kinds.get(event)
        if kind is None or text_of(payload, "title").startswith(OWN_TITLE):
            return ()
        told = payload.get("sessions") if kind == "end" else [payload]
        named = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
        return [self._event(event, kind, one, at_ms) for one in named if text_of(one, "session_id")]

    def _event(self, event: str, kind: EventKind, payload: Mapping[str, object], at_ms: int) -> Event:
        session_id = text_of(payload, "session_id")
        turn = next(filter(None, (text_of(payload, key) for key in ("part_id", "call_id", "message_id"))), "")
        return Event(
            id=f"{at_ms:015d}-{self.name}-{session_id}-{event}-{turn}".rstrip("-"),
            host=self.name,
            kind=kind,
            session=Session(
                host=self.name,
                id=session_id,
                locator=locator(session_id),
                cwd=text_of(payload, "cwd"),
                updated_at_ms=at_ms,
                touched_at_ms=at_ms,
            ),
            at_ms=at_ms,
            moment=moment_of(kind, payload),
            prompt=unquoted(text_of(payload, "prompt")),
            tool=text_of(payload, "tool"),
            cited=text_of(payload, "cited"),
        )

    def encode(self, event: str, answer: Answer) -> bytes:
        """The context as it is: the plugin file puts it in place. OpenCode shows the user no line of ours."""
        asked = event.partition("-")[0] in {name.partition("-")[0] for name in self.answers}
        return whole_text(answer.context).encode() if asked else b""

    def own_text(self, item: Item) -> bool:
        """What the plugin file put into a message; nothing else must be given the role of the system."""
        return item.tier == "context" and item.role == "system"

    def own_agent(self, session: Session) -> bool:  # noqa: ARG002 - the contract's
        """OpenCode has no agent that works on memory."""
        return False

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """The plugin file and the MCP server's entry."""
        from codexmem_host_opencode import setup

        return setup.plan(request)

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """The same as they stand there."""
        from codexmem_host_opencode import setup

        return setup.installed(request)


def locator(session_id: str) -> str:
    """Where a session is: in OpenCode, whichever server or program gives it."""
    return f"opencode:/{session_id}"


def moment_of(kind: EventKind, payload: Mapping[str, object]) -> Moment | Literal[""]:
    """For events that begin something, what for."""
    if kind == "start":
        return STARTS.get(text_of(payload, "source"), "startup")
    return "prompt" if kind == "prompt" else ""
