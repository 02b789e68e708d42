"""The memory tools for agents, as an MCP server over standard input and output."""

from codexmem_hookspecs import HOOK_API as HOOK_API

from codexmem_mcp.plugin import plugin as plugin

__all__ = ["HOOK_API", "plugin"]
