"""Services of a plugin's command that runs for hours: they follow the settings, so that what is switched off is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codexmem_core.worker.engines import Engines


class FollowingServices:
    """As :class:`codexmem_hookspecs.services.Services`, each part of the settings as they are when it is asked for.

    Threads may share it.
    """

    def __init__(self, engines: Engines, plugin: str) -> None:
        self._engines = engines
        self._plugin = plugin

    def __getattr__(self, name: str) -> Any:
        """A part. Only the list of tools, which a host waits for, is had before everything is ready for calls."""
        engine = self._engines.current() if name in ("clock", "tools", "log") else self._engines.warm()
        return getattr(engine.services_for(self._plugin), name)
