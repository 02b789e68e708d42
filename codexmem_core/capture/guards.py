"""Which sessions are never remembered: helpers, the hosts' own memory agents, and what the user switched off."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.paths import inside_any
from codexmem_core.projects import BYPASS, ProjectRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.values.capture import Session

Key = tuple[str, str]
"""(host, session id)."""

OWN = "codexmem's own helper session"
BYPASSED = f"started with {BYPASS}"
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
    bypassed: frozenset[Key] = frozenset()
    """Sessions that were once started with the bypass variable; the mode says whether that still holds."""
    forgotten: frozenset[Key] = frozenset()
    """Sessions that the user had forgotten."""
    learning: bool = True
    """Whether sessions that begin now may be learned from."""
    rules: Callable[[str], ProjectRules] = lambda _cwd: ProjectRules()
    """What is said about a folder."""

    def may_learn_at(self, cwd: str) -> bool:
        """Whether a session that begins in that folder now may be learned from."""
        return self.learning and self.rules(cwd).learns

    def refusal(self, session: Session) -> str:
        """Why the session is not captured; empty when it may be."""
        return self._no_session_of_the_user(session) or self._not_wanted(session)

    def _no_session_of_the_user(self, session: Session) -> str:
        host, key = self.hosts.get(session.host), (session.host, session.id)
        if session.kind == "subagent":
            return "subagent"
        if key in self.own or key in self.forgotten:
            return OWN if key in self.own else FORGOTTEN
        if session.kind == "internal" or (host is not None and host.own_agent(session)):
            return "the host's own internal session"
        if session.cwd and inside_any(session.cwd, self.own_folders):
            return "works inside a memory folder"
        return ""

    def _not_wanted(self, session: Session) -> str:
        key = (session.host, session.id)
        is_off = session.memory_mode != "enabled" or key in self.excluded
        if is_off and key in self.bypassed:
            return BYPASSED
        rules = self.rules(session.cwd)
        if not rules.learns:
            return rules.reason
        return "memory is switched off for this session" if is_off else ""


def own_folders(home: str, hosts: Iterable[Host], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Our home and every host's own memories, also under their resolved names."""
    patterns = [home, *(pattern for host in hosts for pattern in host.own_memories(environ))]
    resolved = [os.path.join(os.path.realpath(os.path.dirname(p)), os.path.basename(p)) for p in patterns]
    return tuple(dict.fromkeys([*patterns, *resolved]))
