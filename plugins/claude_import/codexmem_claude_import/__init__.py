"""Claude Code's own memory of each project, imported one way into every memory that is installed."""

from codexmem_claude_import.plugin import ClaudeImport, plugin

__all__ = ["HOOK_API", "ClaudeImport", "plugin"]

HOOK_API = 1
