"""Whether what is installed has changed since the process began: a worker may live through an upgrade."""

from __future__ import annotations

import os
import sysconfig

import codexmem_core


class Installation:
    """Looks at the engine's own file and at the folder of packages, which changes with every plugin."""

    def __init__(self) -> None:
        self._begun_with = self._seen = _stamp()

    def has_changed(self) -> bool:
        """Ask again and again: true once a change has come to rest, for an installation takes its time."""
        now = _stamp()
        settled, self._seen = now == self._seen, now
        return settled and now != self._begun_with


def _stamp() -> tuple[tuple[int, ...], ...]:
    places = (os.path.abspath(codexmem_core.__file__), sysconfig.get_path("purelib"))
    return tuple(_of(place) for place in places)


def _of(place: str) -> tuple[int, ...]:
    try:
        found = os.stat(place)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino
