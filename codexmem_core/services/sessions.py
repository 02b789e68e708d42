"""The catalogue as plugins see it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import Session

from codexmem_core.store.workers import process_started

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Log
    from codexmem_hookspecs.values.capture import MemoryMode
    from codexmem_hookspecs.values.read import Caller

    from codexmem_core.store.catalogue import Catalogue

HOST_FILE_BYTES = 1024 * 1024
"""Most of a host's file that is read to learn which session calls."""


class CatalogueSessions:
    """Looks sessions up; looking freezes nothing."""

    def __init__(
        self,
        catalogue: Catalogue,
        default_memory: Callable[[], str],
        *,
        hosts: Mapping[str, Host],
        environ: Mapping[str, str],
        log: Log,
    ) -> None:
        self._catalogue = catalogue
        self._default_memory = default_memory
        self._hosts = hosts
        self._environ = environ
        self._log = log

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

    def caller(self, caller: Caller) -> Session:
        """As the host tells it, else the one last seen in its process, else the newest active one in the folder.

        When there is none of them, one without an id.
        """
        host = self._hosts.get(caller.host)
        if host is None:
            return Session(host="", id="", cwd=caller.cwd)
        told = self._told(host, caller) or self._seen_in(caller)
        if told:
            try:
                return self.get(caller.host, told)
            except KeyError:
                return Session(host=caller.host, id=told, cwd=caller.cwd)
        newest = None
        if caller.cwd:
            folders = tuple({caller.cwd, os.path.realpath(caller.cwd)})
            newest = self._catalogue.newest_active(caller.host, folders, since_ms=caller.started_ms)
        return newest or Session(host=caller.host, id="", cwd=caller.cwd)

    def _seen_in(self, caller: Caller) -> str:
        """By what hooks said of their process, which a host starts its tools from as well."""
        started = process_started(caller.parent) if caller.parent else ""
        return self._catalogue.newest_in(caller.host, caller.parent, started) if started else ""

    def _told(self, host: Host, caller: Caller) -> str:
        try:
            return host.caller(caller, self._environ, _content)
        except Exception as error:  # noqa: BLE001 - a host's mistake must not cost the agent its answer
            self._log.warning("calling session not told", host=host.name, error=str(error))
            return ""


def _content(path: str) -> bytes | None:
    """A host's file; None where there is none, or none that is to be trusted."""
    from codexmem_core.safety.files import GuardedFolder

    try:
        return GuardedFolder(os.path.dirname(path), links=True).read(os.path.basename(path), HOST_FILE_BYTES)
    except (OSError, Refused):
        return None
