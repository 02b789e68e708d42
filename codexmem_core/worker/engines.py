"""Engines of one home: a warm one that follows the settings, and a fresh one for each pass."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from codexmem_core.engine import Engine
from codexmem_core.plugins.discovery import installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codexmem_core.plugins.discovery import Candidate

IDLE_S = 300.0
"""Until the settings are read."""


class Engines:
    """Threads may share it."""

    def __init__(
        self, home: str, config: str, environ: Mapping[str, str], plugins: Sequence[Candidate] | None = None
    ) -> None:
        self._home = home
        self._config = config
        self._environ = environ
        self._candidates = list(installed() if plugins is None else plugins)
        self._lock = threading.Lock()
        self._warm: Engine | None = None
        self._before: Engine | None = None
        self.idle_s = IDLE_S
        """Seconds without an event after which the worker may end."""

    def fresh(self) -> Engine:
        """For one pass, which remembers nothing of the last. Close it."""
        return Engine(home=self._home, config=self._config, environ=self._environ, plugins=self._candidates)

    def warm(self) -> Engine:
        """Kept, with everything that a question needs, until the settings change."""
        with self._lock:
            return _warmed(self._current())

    def current(self) -> Engine:
        """The same, with nothing made that was not wanted yet."""
        with self._lock:
            return self._current()

    def _current(self) -> Engine:
        if self._warm is None or self._warm.outdated:
            if self._before is not None:
                self._before.close()
            # Who still works with the one before may finish.
            made = self.fresh()
            self.idle_s = made.config.decimal("worker", "idle_s")
            self._before, self._warm = self._warm, made
        return self._warm

    def close(self) -> None:
        """Give files and databases back."""
        with self._lock:
            for engine in (self._warm, self._before):
                if engine is not None:
                    engine.close()
            self._warm = self._before = None


def _warmed(engine: Engine) -> Engine:
    """Make what threads would otherwise make at the same time."""
    _ = (engine.config, engine.hosts, engine.stages, engine.catalogue, engine.deliveries, engine.guards)
    _ = (engine.contexts, engine.access, engine.memory_tools)
    return engine
