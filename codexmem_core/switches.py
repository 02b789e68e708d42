"""Switches that count at once: a setting that is looked up anew before every job, also in a pass that runs for long."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_core import config as configuration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_core.config import Config


class Learning:
    """Whether anything may be learned now. Threads may share it."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._path = config.path
        self._environ = environ
        self._kept = _stamp(self._path), config.flag("memories", "generate_memories")

    def __call__(self) -> bool:
        """The settings file is read again when its stat has changed."""
        stamp = _stamp(self._path)
        if stamp != self._kept[0]:
            config = configuration.load(self._path, self._environ, complete=False)
            self._kept = stamp, config.flag("memories", "generate_memories")
        return self._kept[1]


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
