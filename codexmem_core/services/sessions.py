"""The catalogue as plugins see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem_hookspecs.values.capture import MemoryMode, Session

    from codexmem_core.store.catalogue import Catalogue


class CatalogueSessions:
    """Looks sessions up; looking freezes nothing."""

    def __init__(self, catalogue: Catalogue, default_memory: Callable[[], str]) -> None:
        self._catalogue = catalogue
        self._default_memory = default_memory

    def get(self, host: str, id: str) -> Session:  # noqa: A002 - the contract's name
        """Raises KeyError."""
        return self._catalogue.session(host, id).session

    def mode(self, session: Session) -> MemoryMode:
        """Whether the session may be remembered."""
        return self._catalogue.mode_of(session.host, session.id)

    def memory_of(self, session: Session) -> str:
        """The memory that it is frozen to, else the one that a new session would read."""
        return self._catalogue.memory_of(session.host, session.id) or self._default_memory()

    def register_own(self, host: str, id: str) -> None:  # noqa: A002 - the contract's name
        """Never capture it."""
        self._catalogue.register_own(host, id)
