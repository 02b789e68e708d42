"""Whether a session may be remembered, as the user says it; with the consequences for what was learned from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.readpath.errors import ToolError
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import MemoryMode

    from codexmem_core.readpath.access import MemoryAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMode:
    """A session's mode, and what a change of it led to."""

    host: str
    session_id: str
    mode: MemoryMode
    before: MemoryMode
    forgetting: tuple[str, ...] = ()
    """Memories that hold something of the session and forget it with their next consolidation."""

    def text(self) -> str:
        """For an agent or a user."""
        name = f"{self.host}:{self.session_id}"
        told = f"{name} is {self.mode}" if self.mode == self.before else f"{name}: {self.before} → {self.mode}"
        if self.forgetting:
            told += f"; what {', '.join(self.forgetting)} holds of it is forgotten with the next consolidation"
        return told


def session_key(access: MemoryAccess, name: str, *, host: str = "") -> tuple[str, str]:
    """(host, id) of ``HOST:ID``, or of an id that one host alone knows; ``host`` is where the asker is.

    A session of a named host need not be known yet. Raises ToolError.
    """
    prefix, colon, rest = name.partition(":")
    if colon and rest and prefix in access.hosts:
        return prefix, rest
    if host:
        return host, name
    found = [known.key for known in access.catalogue().candidates() if known.session.id == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolError(f"several hosts have a session {name}: say {' or '.join(':'.join(key) for key in found)}")
    raise ToolError(f"no host knows a session {name}; say HOST:ID for one that was not seen yet")


def current_mode(access: MemoryAccess, key: tuple[str, str]) -> SessionMode:
    """Looking changes nothing."""
    mode = access.catalogue().mode_of(*key)
    return SessionMode(host=key[0], session_id=key[1], mode=mode, before=mode)


def needs_approval(access: MemoryAccess, key: tuple[str, str], mode: MemoryMode) -> bool:
    """Whether only the user may make this change: what is polluted took in what others wrote."""
    return mode == "enabled" and access.catalogue().mode_of(*key) == "polluted"


def set_mode(access: MemoryAccess, key: tuple[str, str], mode: MemoryMode, *, approved: bool) -> SessionMode:
    """Record the mode; memories that consolidated a session that is no longer remembered are asked to forget it.

    A polluted session is enabled again only with the user's approval. Raises ToolError.
    """
    catalogue = access.catalogue()
    before = catalogue.mode_of(*key)
    if not approved and needs_approval(access, key, mode):
        name = ":".join(key)
        raise ToolError(
            f"{name} took in outside content; only the user may enable it again: codexmem mode {name} enabled"
        )
    catalogue.set_mode(*key, mode)
    forgetting = []
    if mode != "enabled":
        for plugin, memory in access.memories.items():
            if asked_to_forget(access, plugin, key):
                forgetting.append(memory.name)
    return SessionMode(host=key[0], session_id=key[1], mode=mode, before=before, forgetting=tuple(forgetting))


def asked_to_forget(access: MemoryAccess, plugin: str, key: tuple[str, str]) -> bool:
    """Queue a memory's consolidation when it holds the session, which is not remembered any more.

    A memory whose database cannot be opened costs the others nothing: it takes in no session that is switched off.
    """
    try:
        with access.jobs(plugin) as jobs:
            return jobs.requeue_if_held(*key)
    except StoreError as error:
        access.log.warning("not queued for forgetting", memory=access.memories[plugin].name, error=str(error))
        return False
