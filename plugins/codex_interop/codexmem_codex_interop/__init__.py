"""Exchange with Codex CLI's own memory: what it consolidated comes in, what we consolidated goes out."""

from codexmem_codex_interop.plugin import CodexInterop, plugin

__all__ = ["HOOK_API", "CodexInterop", "plugin"]

HOOK_API = 1
