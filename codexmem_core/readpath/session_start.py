"""What a session gets at its start, for one host or for nobody in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core.readpath.context import Wanted
from codexmem_core.readpath.offered import OfferedTools

if TYPE_CHECKING:
    from codexmem_hookspecs.hosts import Host

    from codexmem_core.config import Config
    from codexmem_core.engine import Engine


def session_start_context(
    engine: Engine, *, host: str = "", memory: str = "", cwd: str = "", limit_bytes: int = 0
) -> str:
    """The memory's part of what a hook prints, before the host's own encoding. Raises UnknownNameError.

    ``cwd`` is where the session starts; without it nothing is said about its folder. ``limit_bytes``: what is left of
    the host's limit; 0 for all of it.
    """
    if why_none(engine, cwd):
        return ""
    plugin = engine.memory_plugin(memory)
    chosen = engine.host(host) if host else None
    return engine.contexts.get(
        Wanted(
            plugin=plugin,
            memory=engine.memories[plugin],
            root=engine.memory_root(plugin),
            tools=_shown(engine, chosen),
            citations=citations_wanted(engine.config, chosen),
            limit_bytes=limit_bytes or (chosen.limit_bytes if chosen else 0),
        )
    )


def why_none(engine: Engine, cwd: str) -> str:
    """Why sessions in a folder are given no memory, however much there is; empty when they are."""
    if not engine.config.flag("memories", "use_memories"):
        return "[memories] use_memories is off"
    rules = engine.projects.rules(cwd)
    return "" if rules.gives else rules.reason


def _shown(engine: Engine, host: Host | None) -> tuple[tuple[str, str], ...]:
    """The tools that the session really has; none: it is told the commands instead."""
    given = engine.plugins.tool_server or (host is not None and host.gives_tools)
    if not (given and engine.config.flag("memories", "dedicated_tools")):
        return ()
    names = [tool.name for tool in OfferedTools(lambda: engine.config).list()]
    return tuple((name, host.tool_name(name) if host else name) for name in names)


def citations_wanted(config: Config, host: Host | None) -> bool:
    """Whether a session of this host is asked to cite."""
    setting = config.text("memories", "citations")
    return setting == "on" or (setting == "auto" and host is not None and host.hides_citations)
