"""Switches that count at once: a setting that is looked up anew before every job, also in a pass that runs for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_core import config as configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_core.config import Config


class Learning:
    """Whether anything may be learned now. Threads may share it."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ

    def __call__(self) -> bool:
        """The settings file is read again when it has changed since it was read."""
        config = self._config
        if config.outdated:
            config = self._config = configuration.load(config.path, self._environ, complete=False)
        return config.flag("memories", "generate_memories")
