"""Hosts whose hooks are commands that are given JSON and print JSON: Codex CLI, Claude Code and their relatives.

For plugins to use: subclass :class:`CommandHost` and set its attributes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.session_files import home_in
from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session
from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest

STARTS: Mapping[str, Moment] = MappingProxyType(
    {"startup": "startup", "resume": "resume", "clear": "clear", "compact": "compact", "fork": "fork"}
)
"""What a start hook says about where the session comes from."""


def text_of(payload: Mapping[str, object], key: str) -> str:
    """A text field, whatever was sent; half characters replaced so that it can be stored."""
    value = payload.get(key)
    return whole_text(value) if isinstance(value, str) else ""


class CommandHost:
    """What such a host is; a plugin's subclass says what differs."""

    name = ""
    title = ""
    limit_bytes = 0
    home_variable = ""
    """Environment variable that names the host's home."""
    home_folder = ""
    """The home's name in the user's home without it."""
    kinds: Mapping[str, EventKind] = MappingProxyType({})
    """Hook events → what they are; others are nothing."""
    answers: Mapping[str, Moment] = MappingProxyType({"SessionStart": "startup", "UserPromptSubmit": "prompt"})
    notices: frozenset[str] = frozenset()
    """Hook events after which a line for the user is shown."""
    turn_keys: tuple[str, ...] = ("tool_use_id",)
    """Payload fields that tell two events of one kind apart, the finest first."""
    hides_citations = False

    def tool_name(self, name: str) -> str:
        """``mcp__SERVER__TOOL``."""
        return f"mcp__codexmem__{name}"

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """The one home."""
        return home_in(environ, self.home_variable, self.home_folder)

    def counts(self, payload: Mapping[str, object]) -> bool:
        """Whether the event is the user's own session's. In a subagent every hook carries the parent's session id."""
        return not payload.get("agent_id")

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """One event, or none."""
        kind, session_id = self.kinds.get(event), text_of(payload, "session_id")
        if kind is None or not session_id or not self.counts(payload):
            return ()
        moment: Moment | Literal[""] = ""
        if kind == "start":
            moment = STARTS.get(text_of(payload, "source"), "startup")
        elif kind == "prompt":
            moment = "prompt"
        turn = next(filter(None, (text_of(payload, key) for key in self.turn_keys)), "")
        return (
            Event(
                id=f"{at_ms:015d}-{self.name}-{session_id}-{event}-{turn}".rstrip("-"),
                host=self.name,
                kind=kind,
                session=Session(
                    host=self.name,
                    id=session_id,
                    locator=text_of(payload, "transcript_path"),
                    cwd=text_of(payload, "cwd"),
                    updated_at_ms=at_ms,
                    touched_at_ms=at_ms,
                ),
                at_ms=at_ms,
                moment=moment,
                prompt=text_of(payload, "prompt"),
                tool=text_of(payload, "tool_name"),
            ),
        )

    def encode(self, event: str, answer: Answer) -> bytes:
        """Only keys that the event's output may have; nothing at all when there is nothing to say."""
        output: dict[str, object] = {}
        if answer.context and event in self.answers:
            output["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": answer.context}
        if answer.notice and event in self.notices:
            output["systemMessage"] = answer.notice
        return whole_text(json.dumps(output, ensure_ascii=False)).encode() if output else b""

    def own_text(self, item: Item) -> bool:
        """Context that a hook gave; nothing else must be given the role of the system."""
        return item.tier == "context" and item.role == "system"

    def own_agent(self, session: Session) -> bool:
        """The host's memory agent, where it marks that as internal."""
        return session.kind == "internal"

    def plan(self, request: SetupRequest) -> Sequence[Edit]:  # noqa: ARG002 - the contract's
        """Nothing to set up, unless a subclass knows how."""
        return ()

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:  # noqa: ARG002 - as above
        """Nothing is there, unless a subclass knows where."""
        return ()
