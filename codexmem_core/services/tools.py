"""The tools that agents are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.read import Tool, ToolInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.plugins.calls import Collected


class RegisteredTools:
    """Tools that plugins registered, each called with its own plugin's services."""

    def __init__(self, collected: Callable[[], Collected[Tool]], services_for: Callable[[str], Services]) -> None:
        self._collected = collected
        self._services_for = services_for

    def list(self) -> Sequence[ToolInfo]:
        """Sorted by name."""
        tools = (registered.record for registered in self._collected().records.values())
        return [ToolInfo(name=tool.name, summary=tool.summary, schema=tool.schema) for tool in tools]

    def call(self, name: str, arguments: Mapping[str, object], session: Session) -> str:
        """The tool's text; an agent reads errors as text too."""
        registered = self._collected().records.get(name)
        if registered is None:
            return f"{name} error: there is no such tool"
        try:
            return registered.record.call(arguments, session, self._services_for(registered.plugin))
        except Exception as error:  # noqa: BLE001 - a tool's failure is an answer
            return f"{name} error: {error}"
