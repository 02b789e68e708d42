"""OpenCode as a host of codexmem: its sessions, its events and its models."""

from codexmem_hookspecs import HOOK_API as HOOK_API

from codexmem_host_opencode.plugin import plugin as plugin

__all__ = ["HOOK_API", "plugin"]
