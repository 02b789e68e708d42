"""What ``codexmem setup`` changes in a host's own files, as values: hosts plan, the engine shows and writes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import EventKind
    from codexmem_hookspecs.values.records import SettingValue

SHIM = "codexmem_core.host.shim"
"""Every hook command of ours names this module. By it a host tells our entries, whichever version and place they come
from, from those of others."""

MCP_NAME = "codexmem"
"""Name of our MCP server in every host."""

MCP_EVENT = "mcp"
"""``InstalledHook.event`` of the MCP server's entry."""

Trust = Literal["trusted", "untrusted", "not needed"]


def no_command(_event: str) -> tuple[str, ...]:
    """For a request that installs nothing."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupRequest:
    """What shall be installed in one host. :meth:`Host.installed` looks at the first four fields, and at ``kinds``."""

    environ: Mapping[str, str]
    read: Callable[[str], bytes | None]
    """Content of a file by its absolute path, None where there is none. Raises Refused for what cannot be read."""
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    """The plugin's own table of config.toml."""
    resolve: Callable[[str], str] = os.path.normpath
    """An absolute path with every link in it followed, for hosts that name files by that."""
    kinds: Mapping[EventKind, float] = field(default_factory=dict)
    """Kinds of events that are wanted, each with the seconds that the host must wait for its hook (0: the hook only
    records). Empty: take everything of ours out."""
    hook: Callable[[str], tuple[str, ...]] = no_command
    """The program and arguments that a hook runs, by the host's name of the event; see :attr:`Host.answers`."""
    mcp: tuple[str, ...] = ()
    """The program and arguments of the MCP server; empty: no entry."""
    python: str = ""
    """Absolute path of the interpreter in the commands."""
    home: str = ""
    """Absolute folder of everything codexmem knows."""
    config: str = ""
    """Absolute path of codexmem's own settings."""

    def command(self, event: str) -> str:
        """The hook's command, quoted for ``sh -c``."""
        return shlex.join(self.hook(event))


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A file of a host as it is and as it shall be."""

    path: str
    """Absolute, as the host names it; where it is a link, the file that it leads to is written."""
    before: bytes | None
    """None: there is no such file."""
    after: bytes | None
    """None: the file goes."""
    summary: str
    """What changes, for people, without the path: ``6 hooks``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHook:
    """One entry of ours, as it stands in a host's file."""

    event: str
    """What :attr:`SetupRequest.hook` was given for it; :data:`MCP_EVENT` for the MCP server."""
    path: str
    """The file that names it."""
    command: str
    """As written; a program and arguments quoted for ``sh -c``."""
    trust: Trust = "not needed"
    """Whether the host runs it without asking first."""
    problem: str = ""
    """Why the host will not do with it what is meant, such as a switch that turns all hooks off; empty: nothing."""
    fix: str = ""
    """What the user must do about the problem where another ``setup`` does not mend it."""
