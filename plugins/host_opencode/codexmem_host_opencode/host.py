"""OpenCode's events, places and names, as pure functions (OpenCode 1.18; the plugin file tells OpenCode 2's alike)."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from codexmem_hookspecs.command_hooks import Heard, text_of
from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.session_files import home_in
from codexmem_hookspecs.values.setup import MCP_NAME

from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.words import unquoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session
    from codexmem_hookspecs.values.read import Caller
    from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest

FOLDER = "opencode"
"""OpenCode's own folder below each of the XDG folders."""
CALLER = "codexmem/session"
"""What the plugin file sends along with a call of a tool in OpenCode 2."""
CALLS_VARIABLE = "CODEXMEM_OPENCODE_CALLS"
"""Names, to the MCP server that OpenCode 1 starts, the folder in which the plugin file says who waits for it."""
TURN_KEYS = ("part_id", "call_id", "message_id")


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

    def caller(self, caller: Caller, environ: Mapping[str, str], read: Callable[[str], bytes | None]) -> str:
        """OpenCode 2's calls come from the plugin file, which says whose they are.

        In OpenCode 1.18 one server serves all sessions of a process, and a call says nothing of its own; so the plugin
        file writes down who waits for an answer. While several sessions do, nobody can tell them apart.
        """
        if told := text_of(caller.meta, CALLER):
            return told
        folder = environ.get(CALLS_VARIABLE, "")
        content = read(os.path.join(folder, f"{caller.parent}.json")) if folder and caller.parent else None
        try:
            waiting = json.loads(content or b"{}")
        except (ValueError, RecursionError):
            return ""
        sessions = waiting.get("sessions") if isinstance(waiting, dict) else None
        if not isinstance(sessions, list) or waiting.get("pid") != caller.parent or len(sessions) != 1:
            return ""
        return sessions[0] if isinstance(sessions[0], str) else ""

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
        heard = Heard(self.name, event, kind, at_ms)
        return [_event(heard, one) for one in named if text_of(one, "session_id")]

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


def _event(heard: Heard, payload: Mapping[str, object]) -> Event:
    told = heard.told(payload, TURN_KEYS, locator(text_of(payload, "session_id")))
    return replace(
        told,
        prompt=unquoted(told.prompt),
        tool=text_of(payload, "tool"),
        cited=text_of(payload, "cited"),
        message=text_of(payload, "message_id"),
    )
