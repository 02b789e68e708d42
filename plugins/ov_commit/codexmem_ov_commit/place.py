"""Everything that belongs to one host's sessions in one directory: settings, state folder, server, peer."""

from __future__ import annotations

import os
import re
import string
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
    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import Session

STATE_FOLDER = ".openviking/codex-plugin-state"
"""Of Codex, below the user's home: where the original plugin keeps its own, so that its sessions go on."""
HOSTS = "hosts"
"""In the plugin's own folder, a file a host: sweeps look after the sessions of them all."""
_PEER_LETTERS = frozenset(string.ascii_letters + string.digits + "._-")
_NO_NAME = r"[^a-z0-9_-]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What an event of a session needs."""

    settings: Settings
    states: States
    markers: Markers
    server: Server
    reach: Reach
    rejected: Rejected
    passed_over: tuple[Settings, ...]
    """Whose bypass counts: a project's file may pass over more than the user does, and never less."""
    own_peer: str
    """The peer that the user named; it goes before any other."""
    workspace: str
    """The peer that the directory makes."""

    @classmethod
    def of(cls, services: Services, host: str, cwd: str = "") -> Place:
        """For a host's sessions in a directory; without one, for all of them."""
        settings = Settings(services, cwd)
        folder = services.open_folder(state_folder(settings, services, host), write=True)
        # A server refuses every message of a peer whose name it does not like (0.5.2: ``a/b c``).
        own = utf16.replaced(settings.text("peer_id"), _PEER_LETTERS.__contains__, "-")
        workspace = workspace_peer(cwd) if settings.flag("workspace_peer") else ""
        server = Server(services.http, settings.connection, peer=own or workspace)
        return cls(
            settings=settings,
            states=States(folder, host, services.clock),
            markers=Markers(folder, services.clock),
            server=server,
            reach=Reach(services, server, settings.connection.url),
            rejected=Rejected(services.folder),
            passed_over=(settings, Settings(services)) if _has_project(services, cwd) else (settings,),
            own_peer=own,
            workspace=workspace,
        )

    @property
    def peer(self) -> str:
        """Whose view of the server a session in this directory has; empty: nobody's in particular."""
        return self.own_peer or self.workspace

    def codex_folder(self, services: Services) -> Folder:
        """Where the original keeps what belongs to no session of ours."""
        return services.open_folder(state_folder(self.settings, services, "codex"), write=True)

    def at(self, cwd: str, services: Services) -> Place:
        """The same for a session in another directory; where that is not known, this one stands for it."""
        return Place.of(services, self.states.host, cwd) if cwd else self

    def passes_over(self, session: Session) -> bool:
        """Whether the user wants this session left alone."""
        places = [text for text in (session.id, session.cwd) if text]
        return any(
            settings.flag("bypass_session")
            or any(_matches(pattern, text) for pattern in settings.words("bypass_session_patterns") for text in places)
            for settings in self.passed_over
        )


def _has_project(services: Services, cwd: str) -> bool:
    """Whether a directory has settings of its own: a prompt waits while files are read, so none is read for nothing."""
    return bool(cwd) and dict(services.settings_for(cwd)) != dict(services.settings)


def state_folder(settings: Settings, services: Services, host: str) -> str:
    """Absolute path: Codex's as the original has it, every other host's beside it."""
    codex = settings.path("state_dir") or os.path.join(services.environ.get("HOME", "/"), STATE_FOLDER)
    if host == "codex":
        return codex
    name = re.sub(_NO_NAME, "_", host)
    return os.path.join(os.path.dirname(codex), f"{name}-plugin-state")


def hosts(services: Services, new: str = "codex") -> list[str]:
    """Hosts that ever had a session here, Codex before all, for whose sessions the original plugin has files."""
    known = services.folder
    if new not in (found := _listed(known)) and new != "codex":
        known.write(f"{HOSTS}/{re.sub(_NO_NAME, '_', new)}", new.encode())
    return ["codex", *sorted({*found, new} - {"codex"})]


def _listed(folder: Folder) -> set[str]:
    try:
        return {folder.read(found.path, 200).decode() for found in folder.scan(HOSTS)}
    except FileNotFoundError:
        return set()


def workspace_peer(cwd: str) -> str:
    """The directory as a name: all that is no ASCII letter or digit becomes a dash (OpenViking Codex plugin 0.7.5)."""
    return utf16.replaced(cwd, lambda character: character.isascii() and character.isalnum(), "-")


def _matches(pattern: str, text: str) -> bool:
    """``**`` is anything, ``*`` anything but a slash."""
    parts = [re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for part in pattern.split("**")]
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None
