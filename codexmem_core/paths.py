"""Where things are on disk."""

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

APPLICATION = "codexmem"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds everything codexmem knows. Nothing of it is split by project."""

    root: str

    @property
    def catalogue(self) -> str:
        """Database of sessions, modes, deliveries and usage, shared by all memories."""
        return os.path.join(self.root, "catalog.db")

    @property
    def spool(self) -> str:
        """Events that hooks recorded and nobody has taken in yet."""
        return os.path.join(self.root, "spool")

    @property
    def payloads(self) -> str:
        """Ready answers for hooks, ``<host>-<moment>``."""
        return os.path.join(self.root, "read")

    @property
    def locks(self) -> str:
        """Locks between processes."""
        return os.path.join(self.root, "locks")

    @property
    def logs(self) -> str:
        """JSON lines, rotated."""
        return os.path.join(self.root, "logs")

    @property
    def backups(self) -> str:
        """Databases as they were before each migration."""
        return os.path.join(self.root, "backups")

    def plugin(self, name: str) -> str:
        """A plugin's own folder."""
        return os.path.join(self.root, "plugins", name)

    def below(self, *parts: str) -> str:
        """A memory's folder or database."""
        return os.path.join(self.root, *parts)


def config_path(option: str, environ: Mapping[str, str]) -> str:
    """``--config``, else CODEXMEM_CONFIG, else the platform's user config folder."""
    chosen = option or environ.get("CODEXMEM_CONFIG", "")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    import platformdirs

    return os.path.join(platformdirs.user_config_dir(APPLICATION, appauthor=False), "config.toml")


def default_home() -> str:
    """The platform's user data folder."""
    import platformdirs

    return platformdirs.user_data_dir(APPLICATION, appauthor=False)


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
