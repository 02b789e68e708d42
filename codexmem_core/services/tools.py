"""The tools that agents are given: the engine's over a memory, and plugins' own.

Hosts wait for a list of them before they begin, so a list costs no more than it must: what calls need comes with the
first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from codexmem_hookspecs.values.read import Tool, ToolInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.read import Ask

    from codexmem_core.plugins.calls import Collected
    from codexmem_core.projects import ProjectRules

ENGINE_PREFIX = "memory_"
"""Names of tools that belong to the engine; a plugin's tool of such a name is left out."""


class OwnOffer(Protocol):
    """What the engine offers."""

    @property
    def names(self) -> Collection[str]:
        """Of all tools, whether or not they are on."""
        ...

    def list(self, *, asks: bool = False) -> Sequence[ToolInfo]:
        """Those that are on, sorted by name; ``asks``: with those that put a question to the user."""
        ...


class OwnTools(Protocol):
    """The tools that the engine offers."""

    def call(self, name: str, arguments: Mapping[str, object], session: Session, ask: Ask | None = None) -> str:
        """The tool's text; errors are text too. Raises KeyError for an unknown name."""
        ...


class AgentTools:
    """Implements :class:`codexmem_hookspecs.services.Tools`. Whatever a tool tells goes out without secrets."""

    def __init__(
        self,
        offer: OwnOffer,
        own: Callable[[], OwnTools],
        collected: Callable[[], Collected[Tool]],
        services_for: Callable[[str], Services],
        hosts: Mapping[str, Host],
        rules_for: Callable[[Session], ProjectRules],
    ) -> None:
        self._offer = offer
        self._own = own
        self._collected = collected
        self._services_for = services_for
        self._hosts = hosts
        self._rules_for = rules_for
        self._shown: dict[str, frozenset[str]] = {}

    def list(self, *, asks: bool = False) -> Sequence[ToolInfo]:
        """Sorted by name."""
        records = self._collected().records
        plugins = (given.record for name, given in records.items() if not name.startswith(ENGINE_PREFIX))
        tools = [
            *self._offer.list(asks=asks),
            *(
                ToolInfo(name=one.name, summary=one.summary, schema=one.schema, effect=one.effect, local=one.local)
                for one in plugins
            ),
        ]
        return sorted(tools, key=lambda tool: tool.name)

    def shown_by(self, host: str) -> frozenset[str]:
        """Every tool of ours, whether or not it is on, by the name under which the host shows it."""
        if host not in self._hosts:
            return frozenset()
        if host not in self._shown:
            names = (*self._offer.names, *self._collected().records)
            self._shown[host] = frozenset(self._hosts[host].tool_name(name) for name in names)
        return self._shown[host]

    def call(self, name: str, arguments: Mapping[str, object], session: Session, ask: Ask | None = None) -> str:
        """The tool's text; an agent reads errors as text too.

        A plugin's tool gets its own plugin's services, and arguments without secrets: it may send them elsewhere.
        """
        from codexmem_core.safety.redaction import redact, redact_strings

        if name.startswith(ENGINE_PREFIX):
            try:
                return self._own().call(name, arguments, session, ask)
            except KeyError:
                return f"{name} error: there is no such tool"
        registered = self._collected().records.get(name)
        if registered is None:
            return redact(f"{name} error: there is no such tool")
        if refusal := self._rules_for(session).refusal(registered.record.effect):
            return redact(f"{name} error: {refusal}")
        clean = redact_strings(dict(arguments))
        assert isinstance(clean, dict)
        try:
            return redact(registered.record.call(clean, session, self._services_for(registered.plugin)))
        except Exception as error:  # noqa: BLE001 - a tool's failure is an answer
            return redact(f"{name} error: {error}")
