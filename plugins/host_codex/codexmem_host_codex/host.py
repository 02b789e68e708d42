"""Codex CLI's hooks, places and limits, as pure functions (Codex 0.171)."""

from __future__ import annotations

import glob
import json
import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS: Mapping[str, EventKind] = MappingProxyType(
    {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PostToolUse": "tool",
        "Stop": "stop",
        "Interrupt": "stop",  # an interrupted turn has no Stop
        "PreCompact": "compaction",  # PostCompact tells of the same compaction again
        "SessionEnd": "end",
    }
)
NOTICES = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "PostCompact"})
"""Events whose output schema has a line for the user. Output is strict: an unknown key fails the hook."""

MOMENTS: Mapping[str, Moment] = MappingProxyType(
    {"startup": "startup", "resume": "resume", "clear": "clear", "compact": "compact", "fork": "fork"}
)
SURROGATE = re.compile("[\ud800-\udfff]")


def text_of(payload: Mapping[str, object], key: str) -> str:
    """A text field, whatever was sent; half characters replaced so that it can be stored."""
    value = payload.get(key)
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) else ""


class CodexHost:
    """Codex CLI."""

    name = "codex"
    title = "Codex CLI"
    answers: Mapping[str, Moment] = MappingProxyType({"SessionStart": "startup", "UserPromptSubmit": "prompt"})
    limit_bytes = 9_900
    """Codex counts 2,500 tokens of 4 bytes and cuts the middle out of more."""

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """CODEX_HOME, else ~/.codex; empty when neither is an absolute path."""
        chosen = environ.get("CODEX_HOME", "")
        if not os.path.isabs(chosen):
            chosen = os.path.join(environ.get("HOME", ""), ".codex")
        return (os.path.normpath(chosen),) if os.path.isabs(chosen) else ()

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """``memories``, ``memories_v2`` and whatever comes next beside them."""
        return tuple(os.path.join(glob.escape(home), "memories*") for home in self.homes(environ))

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """One event, or none: for a subagent, an ephemeral session (no rollout), an unknown event.

        In a subagent every hook carries the parent's session id; only ``agent_id`` tells them apart. Codex's memory
        agent runs the user's hooks too, without a rollout.
        """
        kind = KINDS.get(event)
        session_id, rollout = text_of(payload, "session_id"), text_of(payload, "transcript_path")
        if kind is None or not session_id or not rollout or payload.get("agent_id"):
            return ()
        session = Session(
            host=self.name,
            id=session_id,
            locator=rollout,
            cwd=text_of(payload, "cwd"),
            updated_at_ms=at_ms,
            touched_at_ms=at_ms,
        )
        moment: Moment | Literal[""] = ""
        if kind == "start":
            moment = MOMENTS.get(text_of(payload, "source"), "startup")
        elif kind == "prompt":
            moment = "prompt"
        turn = text_of(payload, "tool_use_id") or text_of(payload, "turn_id")
        return (
            Event(
                id=f"{at_ms:015d}-{self.name}-{session_id}-{event}-{turn}".rstrip("-"),
                host=self.name,
                kind=kind,
                session=session,
                at_ms=at_ms,
                moment=moment,
                prompt=text_of(payload, "prompt"),
                tool=text_of(payload, "tool_name"),
            ),
        )

    def encode(self, event: str, answer: Answer) -> bytes:
        """Only keys of the event's output schema; nothing at all when there is nothing to say."""
        output: dict[str, object] = {}
        if answer.context and event in self.answers:
            output["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": answer.context}
        if answer.notice and event in NOTICES:
            output["systemMessage"] = answer.notice
        if not output:
            return b""
        return SURROGATE.sub("\ufffd", json.dumps(output, ensure_ascii=False)).encode()

    def own_text(self, item: Item) -> bool:
        """Context that a hook gave. Of developer messages only those become items, so their role tells."""
        return item.tier == "context" and item.role == "system"

    def own_agent(self, session: Session) -> bool:
        """Codex's memory agent, which it marks as internal."""
        return session.kind == "internal"
