"""Codex CLI as a host of codexmem: its rollouts and its hooks."""

from codexmem_hookspecs import HOOK_API as HOOK_API

from codexmem_host_codex.plugin import plugin as plugin

__all__ = ["HOOK_API", "plugin"]
