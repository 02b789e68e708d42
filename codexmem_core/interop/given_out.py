"""Where copies of our memories were put: plugins leave, settings change, and forgetting reaches every copy even so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.interop import Mirror

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from codexmem_core.store.catalogue import Catalogue

_KEY = "exported:"
_NO_LOCK = "-"


def place_of(mirror: Mirror) -> str:
    """The folder of an extension in another tool's memory."""
    return os.path.join(mirror.root, "extensions", mirror.extension)


class GivenOut:
    """Places to which something was exported, kept in the catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def remember(self, mirror: Mirror) -> None:
        """To be called before the first copy is written."""
        key, lock = _KEY + place_of(mirror), mirror.lock or _NO_LOCK
        if self._catalogue.mark(key) != lock:
            self._catalogue.set_mark(key, lock)

    def elsewhere(self, known: Container[str]) -> Iterator[Mirror]:
        """Mirrors that take our copies out of every other place in which they still lie."""
        for place, lock in self._catalogue.marks(_KEY).items():
            if place not in known and os.path.isdir(os.path.join(place, "resources")):
                root = os.path.dirname(os.path.dirname(place))
                lock_of = "" if lock == _NO_LOCK else lock
                yield Mirror(extension=os.path.basename(place), instructions="", files={}, root=root, lock=lock_of)
