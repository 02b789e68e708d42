"""Claude Code as a host of codexmem: its transcripts and its hooks."""

from codexmem_hookspecs import HOOK_API as HOOK_API

from codexmem_host_claude.plugin import plugin as plugin

__all__ = ["HOOK_API", "plugin"]
