"""Claude Code's hooks, places and limits, as pure functions (Claude Code 2.1)."""

from __future__ import annotations

import glob
import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from codexmem_hookspecs.command_hooks import CommandHost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_hookspecs.values.capture import EventKind


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

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """The auto memory that each project has."""
        return tuple(os.path.join(glob.escape(home), "projects", "*", "memory") for home in self.homes(environ))
