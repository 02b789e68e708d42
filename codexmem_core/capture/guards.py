"""Which sessions are never remembered: helpers, the hosts' own memory agents, and what the user switched off."""

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import Session

Key = tuple[str, str]
"""(host, session id)."""

OWN = "codexmem's own helper session"
FORGOTTEN = "forgotten; codexmem forget --lift lets it be learned again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """Everything that says no. Explicit choices (``--session``, ``--sessions``) do not pass these."""

    hosts: Mapping[str, Host]
    """By host name."""
    own_folders: tuple[str, ...]
    """Patterns of absolute folders: memory homes of ours and of the hosts."""
    excluded: frozenset[Key]
    """Sessions whose memory mode is not ``enabled``."""
    own: frozenset[Key]
    """Our own helper sessions."""
    forgotten: frozenset[Key] = frozenset()
    """Sessions that the user had forgotten."""
    learning: bool = True
    """Whether sessions that begin now may be learned from."""

    def refusal(self, session: Session) -> str:
        """Why the session is not captured; empty when it may be."""
        host, key = self.hosts.get(session.host), (session.host, session.id)
        if session.kind == "subagent":
            return "subagent"
        if key in self.own or key in self.forgotten:
            return OWN if key in self.own else FORGOTTEN
        if session.kind == "internal" or (host is not None and host.own_agent(session)):
            return "the host's own internal session"
        if session.cwd and inside_any(session.cwd, self.own_folders):
            return "works inside a memory folder"
        if session.memory_mode != "enabled" or key in self.excluded:
            return "memory is switched off for this session"
        return ""


def inside_any(folder: str, patterns: Iterable[str]) -> bool:
    """Whether the folder or one above it matches a pattern; links resolved where they exist."""
    places = {os.path.normpath(folder), os.path.realpath(folder)}
    for pattern in patterns:
        for place in places:
            current = place
            while True:
                if fnmatch.fnmatchcase(current, pattern):
                    return True
                parent = os.path.dirname(current)
                if parent == current:
                    break
                current = parent
    return False


def own_folders(home: str, hosts: Iterable[Host], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Our home and every host's own memories, also under their resolved names."""
    patterns = [home, *(pattern for host in hosts for pattern in host.own_memories(environ))]
    resolved = [os.path.join(os.path.realpath(os.path.dirname(p)), os.path.basename(p)) for p in patterns]
    return tuple(dict.fromkeys([*patterns, *resolved]))
