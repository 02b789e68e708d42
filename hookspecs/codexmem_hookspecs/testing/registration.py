"""What both contracts ask of a plugin object before they call it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pluggy

from codexmem_hookspecs import HOOK_API, PROJECT
from codexmem_hookspecs.specs import GROUPS, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Mapping


def registered(plugin: object) -> pluggy.PluginManager:
    """A manager that knows the contract and this plugin. Raises when a hook or an argument is unknown."""
    manager = pluggy.PluginManager(PROJECT)
    for group in GROUPS:
        manager.add_hookspecs(group)
    manager.register(plugin)
    manager.check_pending()
    return manager


def missing(plugin: object, record_hook: str) -> set[str]:
    """Required hooks that the plugin lacks, given that it registers what ``record_hook`` collects."""
    hooks = {caller.name for caller in registered(plugin).get_hookcallers(plugin) or ()}
    return set(REQUIRED[record_hook] | {record_hook}) - hooks


def declared_version(plugin: object) -> object:
    """``HOOK_API`` of the package that the plugin comes from."""
    modules: Mapping[str, object] = sys.modules
    package = type(plugin).__module__.split(".", maxsplit=1)[0]
    return getattr(modules.get(package), "HOOK_API", getattr(modules.get(type(plugin).__module__), "HOOK_API", None))


__all__ = ["HOOK_API", "declared_version", "missing", "registered"]
