"""What the parts of Jobs and of the Catalogue have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Clock

    from codexmem_core.store.database import Database


class StorePart:
    """A group of operations on one database, with the clock that they take times from."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
