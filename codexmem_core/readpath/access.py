"""What the memory tools work on: made by the engine, so that tools need not know it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.projects import BYPASS, ProjectRules
from codexmem_core.readpath.errors import ToolError
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Clock, Log
    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.consolidate import Memory

    from codexmem_core.config import Config
    from codexmem_core.paths import Home
    from codexmem_core.plugins.stages import Stages
    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.store.catalogue import Catalogue
    from codexmem_core.store.jobs import Jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess:
    """The memories of one home. Callables make what is expensive when it is first wanted."""

    home: Home
    memories: Mapping[str, Memory]
    """By plugin."""
    hosts: Mapping[str, Host]
    """By name."""
    memory_of: Callable[[Session], str]
    """Name of the memory that a session reads. Asking freezes nothing."""
    stages: Stages
    """The hooks of the installed plugins."""
    jobs_at: Callable[[str], AbstractContextManager[Jobs]]
    """Notes and jobs in a database file."""
    catalogue: Callable[[], Catalogue]
    config: Callable[[], Config]
    rules: Callable[[str], ProjectRules]
    """What is said about a folder."""
    bypassed: bool
    """Whether this process was started by a host that is to be left alone."""
    tombstones: Callable[[], Tombstones]
    """What must not be learned again."""
    own_tools: Callable[[str], Container[str]]
    """Our own tools by the names under which a host shows them."""
    clock: Clock
    log: Log

    def root(self, plugin: str) -> str:
        """A memory's folder."""
        return self.home.below(self.memories[plugin].folder)

    def jobs(self, plugin: str) -> AbstractContextManager[Jobs]:
        """A memory's notes and jobs."""
        return self.jobs_at(self.home.below(self.memories[plugin].database))

    def used_by(self, session: Session) -> str:
        """Name of the memory that the session reads, from now on for good: it makes use of it.

        Nobody in particular is given nothing for good. What cannot be written down now is no reason not to read.
        """
        name = self.memory_of(session)
        if not (session.host and session.id):
            return name
        try:
            catalogue = self.catalogue()
            return catalogue.memory_of(session.host, session.id) or catalogue.freeze_memory(
                session.host, session.id, name
            )
        except StoreError as error:
            self.log.warning("which memory a session reads is not written down", error=str(error))
            return name

    def installed(self, name: str) -> str:
        """Plugin of the memory that a session reads. Raises ToolError when it is not there any more."""
        for plugin, memory in self.memories.items():
            if memory.name == name:
                return plugin
        there = ", ".join(sorted(memory.name for memory in self.memories.values())) or "none"
        raise ToolError(
            f"this session reads memory {name}, which is not installed (installed: {there});"
            f" install it again, or start a new session"
        )

    def rules_for(self, session: Session) -> ProjectRules:
        """What holds for a session, by where it began; whoever asks need not know more of it than its id."""
        if self.bypassed or (session.id and self.catalogue().is_bypassed(session.host, session.id)):
            return ProjectRules(memory="off", place=BYPASS)
        cwd = session.cwd
        if session.id and not cwd:
            with suppress(KeyError):
                cwd = self.catalogue().session(session.host, session.id).session.cwd
        return self.rules(cwd)
