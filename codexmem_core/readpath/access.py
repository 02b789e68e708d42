"""What the memory tools work on: made by the engine, so that tools need not know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.services import Clock, Log
    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.consolidate import Memory

    from codexmem_core.config import Config
    from codexmem_core.paths import Home
    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.store.catalogue import Catalogue
    from codexmem_core.store.jobs import Jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess:
    """The memories of one home. Callables make what is expensive when it is first wanted."""

    home: Home
    memories: Mapping[str, Memory]
    """By plugin."""
    hosts: Collection[str]
    """Names of the installed hosts."""
    plugin_of: Callable[[str], str]
    """Plugin of a memory's name; of the memory that new sessions read for an empty one. Raises for an unknown one."""
    memory_of: Callable[[Session], str]
    """Name of the memory that a session reads. Asking freezes nothing."""
    jobs_at: Callable[[str], AbstractContextManager[Jobs]]
    """Notes and jobs in a database file."""
    catalogue: Callable[[], Catalogue]
    config: Callable[[], Config]
    tombstones: Callable[[], Tombstones]
    """What must not be learned again."""
    clock: Clock
    log: Log

    def root(self, plugin: str) -> str:
        """A memory's folder."""
        return self.home.below(self.memories[plugin].folder)

    def jobs(self, plugin: str) -> AbstractContextManager[Jobs]:
        """A memory's notes and jobs."""
        return self.jobs_at(self.home.below(self.memories[plugin].database))
