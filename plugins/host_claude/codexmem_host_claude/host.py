"""Claude Code's hooks, places and limits, as pure functions (Claude Code 2.1)."""

from __future__ import annotations

import glob
import json
import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from codexmem_hookspecs.command_hooks import CommandHost, text_of
from codexmem_hookspecs.hook_files import document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.values.capture import EventKind
    from codexmem_hookspecs.values.read import Caller
    from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest


class ClaudeHost(CommandHost):
    """Claude Code. It has no memory agent that writes transcripts of its own."""

    name = "claude"
    title = "Claude Code"
    limit_bytes = 9_900
    """Claude Code moves context of more than 10,000 characters into a file and shows a preview of it."""
    home_variable = "CLAUDE_CONFIG_DIR"
    home_folder = ".claude"
    kinds: Mapping[str, EventKind] = MappingProxyType(
        {
            "SessionStart": "start",
            "UserPromptSubmit": "prompt",
            "PostToolUse": "tool",
            "Stop": "stop",
            "PreCompact": "compaction",  # PostCompact tells of the same compaction again
            "SessionEnd": "end",
        }
    )
    notices = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact"})
    turn_keys = ("tool_use_id", "prompt_id")
    hook_file = "settings.json"
    installs: Mapping[EventKind, Sequence[tuple[str, str]]] = MappingProxyType(
        {
            "start": [("SessionStart", source) for source in ("startup", "resume", "clear", "compact")],
            "prompt": [("UserPromptSubmit", "")],
            "tool": [("PostToolUse", "")],
            "stop": [("Stop", "")],
            "compaction": [("PreCompact", "")],
            "end": [("SessionEnd", "")],
        }
    )
    longest_s = MappingProxyType({"SessionEnd": 3})
    """Claude Code would wait for as long as it is told to, and the user with it."""

    def caller(self, caller: Caller, environ: Mapping[str, str], read: Callable[[str], bytes | None]) -> str:
        """What Claude Code keeps on its running process, which /clear and resuming change, else what it began with."""
        for home in self.homes(environ):
            content = read(os.path.join(home, "sessions", f"{caller.parent}.json")) if caller.parent else None
            try:
                running = json.loads(content or b"null")
            except (ValueError, RecursionError):
                continue
            if isinstance(running, dict) and running.get("pid") == caller.parent and text_of(running, "sessionId"):
                return text_of(running, "sessionId")
        return environ.get("CLAUDE_CODE_SESSION_ID", "")

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """The auto memory that each project has."""
        return tuple(os.path.join(glob.escape(home), "projects", "*", "memory") for home in self.homes(environ))

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """The settings with the hooks and the rule that allows our tools, and the file of the user's MCP servers."""
        from codexmem_host_claude import setup

        settings = setup.with_permission(request, self.hook_path(request), super().plan(request))
        return (*settings, *setup.plan(request, self._servers_file(request)))

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """The hooks, then the MCP server."""
        from codexmem_host_claude import setup

        path = self.hook_path(request)
        hooks = setup.with_switch(super().installed(request), document(path, request.read(path)))
        return (*hooks, *setup.installed(request, self._servers_file(request)))

    def _servers_file(self, request: SetupRequest) -> str:
        from codexmem_host_claude import setup

        usual = os.path.join(request.environ.get("HOME", ""), self.home_folder)
        home = self.home(request)
        return setup.servers_file(request, home, moved=bool(request.environ.get(self.home_variable)) or home != usual)
