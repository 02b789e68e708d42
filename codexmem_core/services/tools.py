"""The tools that agents are given: the engine's over a memory, and plugins' own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from codexmem_hookspecs.values.read import Tool, ToolInfo

from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.plugins.calls import Collected

ENGINE_PREFIX = "memory_"
"""Names of tools that belong to the engine; a plugin's tool of such a name is left out."""


class EngineTools(Protocol):
    """The engine's own tools."""

    def list(self) -> Sequence[ToolInfo]:
        """Those that are on, sorted by name."""
        ...

    def call(self, name: str, arguments: Mapping[str, object], session: Session) -> str:
        """The tool's text; errors are text too. Raises KeyError for an unknown name."""
        ...


class AgentTools:
    """Implements :class:`codexmem_hookspecs.services.Tools`. Whatever a tool tells goes out without secrets."""

    def __init__(
        self,
        own: EngineTools,
        collected: Callable[[], Collected[Tool]],
        services_for: Callable[[str], Services],
    ) -> None:
        self._own = own
        self._collected = collected
        self._services_for = services_for

    def list(self) -> Sequence[ToolInfo]:
        """Sorted by name."""
        records = self._collected().records
        plugins = (given.record for name, given in records.items() if not name.startswith(ENGINE_PREFIX))
        tools = [
            *self._own.list(),
            *(ToolInfo(name=one.name, summary=one.summary, schema=one.schema) for one in plugins),
        ]
        return sorted(tools, key=lambda tool: tool.name)

    def call(self, name: str, arguments: Mapping[str, object], session: Session) -> str:
        """The tool's text; an agent reads errors as text too. A plugin's tool gets its own plugin's services."""
        if name.startswith(ENGINE_PREFIX):
            try:
                return self._own.call(name, arguments, session)
            except KeyError:
                return f"{name} error: there is no such tool"
        registered = self._collected().records.get(name)
        if registered is None:
            return redact(f"{name} error: there is no such tool")
        try:
            return redact(registered.record.call(arguments, session, self._services_for(registered.plugin)))
        except Exception as error:  # noqa: BLE001 - a tool's failure is an answer
            return redact(f"{name} error: {error}")
