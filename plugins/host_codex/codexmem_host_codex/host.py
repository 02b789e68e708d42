"""Codex CLI's hooks, places and limits, as pure functions (Codex 0.171)."""

from __future__ import annotations

import glob
import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from codexmem_hookspecs.command_hooks import CommandHost, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.values.capture import EventKind
    from codexmem_hookspecs.values.read import Caller
    from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest


class CodexHost(CommandHost):
    """Codex CLI."""

    name = "codex"
    title = "Codex CLI"
    limit_bytes = 9_900
    """Codex counts 2,500 tokens of 4 bytes and cuts the middle out of more."""
    home_variable = "CODEX_HOME"
    home_folder = ".codex"
    kinds: Mapping[str, EventKind] = MappingProxyType(
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
    notices = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "PostCompact"})
    """Output is strict: an unknown key fails the hook."""
    turn_keys = ("tool_use_id", "turn_id")
    hook_file = "hooks.json"
    installs: Mapping[EventKind, Sequence[tuple[str, str]]] = MappingProxyType(
        {
            "start": [("SessionStart", source) for source in ("startup", "resume", "clear", "compact", "fork")],
            "prompt": [("UserPromptSubmit", "")],
            "tool": [("PostToolUse", "")],
            "stop": [("Stop", ""), ("Interrupt", "")],
            "compaction": [("PreCompact", "")],
            "end": [("SessionEnd", "")],
        }
    )
    longest_s = MappingProxyType({"SessionEnd": 3, "Interrupt": 3})
    """Codex ends these after 3 s, whatever is said."""

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """``memories``, ``memories_v2`` and whatever comes next beside them."""
        return tuple(os.path.join(glob.escape(home), "memories*") for home in self.homes(environ))

    def caller(
        self,
        caller: Caller,
        environ: Mapping[str, str],  # noqa: ARG002 - Codex tells with the call
        read: Callable[[str], bytes | None],  # noqa: ARG002
    ) -> str:
        """``sessionId`` beside the arguments; of a subagent it is the session that began it. Older ones nest it."""
        nested = caller.meta.get("x-codex-turn-metadata")
        return text_of(caller.meta, "sessionId") or (text_of(nested, "session_id") if isinstance(nested, dict) else "")

    def counts(self, payload: Mapping[str, object]) -> bool:
        """Not without a rollout: such a session is ephemeral. Codex's memory agent runs the user's hooks like that."""
        return super().counts(payload) and bool(text_of(payload, "transcript_path"))

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """The file of hooks, then config.toml with the trust in them and the MCP server."""
        from codexmem_host_codex import setup

        return setup.plan(request, self.hook_path(request), super().plan(request))

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """Hooks with what config.toml says about each, then the MCP server."""
        from codexmem_host_codex import setup

        return setup.installed(request, self.hook_path(request), super().installed(request))
