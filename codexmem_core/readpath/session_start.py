"""What a session gets at its start, for one host or for nobody in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.readpath.context import Wanted

if TYPE_CHECKING:
    from codexmem_core.config import Config
    from codexmem_core.engine import Engine

HIDE_MARKUP = frozenset({"opencode"})
"""Hosts in which citations can be taken out of an answer before anybody sees it."""


def session_start_context(engine: Engine, *, host: str = "", memory: str = "") -> str:
    """The bytes that a hook prints, before the host's own encoding. Raises UnknownNameError."""
    if not engine.config.flag("memories", "use_memories"):
        return ""
    plugin = engine.memory_plugin(memory)
    limit = engine.host(host).limit_bytes if host else 0
    return engine.contexts.get(
        Wanted(
            plugin=plugin,
            memory=engine.memories[plugin],
            root=engine.memory_root(plugin),
            tools=engine.config.flag("memories", "dedicated_tools"),
            citations=citations_wanted(engine.config, host),
            limit_bytes=limit,
        )
    )


def citations_wanted(config: Config, host: str) -> bool:
    """Whether a session of this host is asked to cite."""
    setting = config.text("memories", "citations")
    return setting == "on" or (setting == "auto" and host in HIDE_MARKUP)
