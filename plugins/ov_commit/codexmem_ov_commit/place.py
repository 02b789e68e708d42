"""Everything that belongs to one host's sessions in one directory: settings, state folder, server, peer."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_ov_commit import utf16
from codexmem_ov_commit.markers import Markers
from codexmem_ov_commit.reach import Reach
from codexmem_ov_commit.rejected import Rejected
from codexmem_ov_commit.server import Server
from codexmem_ov_commit.settings import Settings
from codexmem_ov_commit.states import States

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

STATE_FOLDER = ".openviking/codex-plugin-state"
"""Of Codex, below the user's home: where the original plugin keeps its own, so that its sessions go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What an event of a session needs."""

    settings: Settings
    states: States
    markers: Markers
    server: Server
    reach: Reach
    rejected: Rejected
    peer: str

    @classmethod
    def of(cls, services: Services, host: str, cwd: str = "") -> Place:
        """For a host's sessions in a directory; without one, for all of them."""
        settings = Settings(services, cwd)
        folder = services.open_folder(state_folder(settings, services, host), write=True)
        peer = settings.text("peer_id") or (workspace_peer(cwd) if settings.flag("workspace_peer") else "")
        server = Server(services.http, settings.connection, peer=peer)
        return cls(
            settings=settings,
            states=States(folder, host, services.clock),
            markers=Markers(folder, services.clock),
            server=server,
            reach=Reach(services, server, settings.connection.url),
            rejected=Rejected(services.folder),
            peer=peer,
        )

    def passes_over(self, session: Session) -> bool:
        """Whether the user wants this session left alone."""
        patterns = self.settings.words("bypass_session_patterns")
        return self.settings.flag("bypass_session") or any(
            _matches(pattern, text) for pattern in patterns for text in (session.id, session.cwd) if text
        )


def state_folder(settings: Settings, services: Services, host: str) -> str:
    """Absolute path: Codex's as the original has it, every other host's beside it."""
    codex = settings.path("state_dir") or os.path.join(services.environ.get("HOME", "/"), STATE_FOLDER)
    if host == "codex":
        return codex
    name = re.sub(r"[^a-z0-9_-]", "_", host)
    return os.path.join(os.path.dirname(codex), f"{name}-plugin-state")


def workspace_peer(cwd: str) -> str:
    """The directory as a name: all that is no ASCII letter or digit becomes a dash (OpenViking Codex plugin 0.7.5)."""
    return utf16.replaced(cwd, lambda character: character.isascii() and character.isalnum(), "-")


def _matches(pattern: str, text: str) -> bool:
    """``**`` is anything, ``*`` anything but a slash."""
    parts = [re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for part in pattern.split("**")]
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None
