"""What a session gets at its start, for one host or for nobody in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.readpath.context import memory_context

if TYPE_CHECKING:
    from codexmem_core.engine import Engine


def session_start_context(engine: Engine, *, host: str = "", memory: str = "") -> str:
    """The bytes that a hook prints, before the host's own encoding. Raises UnknownNameError."""
    if not engine.config.flag("memories", "use_memories"):
        return ""
    plugin = engine.memory_plugin(memory)
    limit = engine.host(host).limit_bytes if host else 0
    return memory_context(
        engine.stages,
        plugin,
        engine.memories[plugin],
        MemoryWorkspace(engine.memories[plugin], engine.memory_root(plugin)),
        engine.memory_root(plugin),
        tools=engine.config.flag("memories", "dedicated_tools"),
        limit_bytes=limit,
    )
