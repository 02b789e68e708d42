"""Memories that Claude Code was told to keep elsewhere: ``autoMemoryDirectory`` in its settings (Claude Code 2.1).

A project's own settings may name a folder for that project. One named for the whole user holds the memories of all
projects, and nobody can say which belongs to which: it is not imported.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_lines import whole_text
from codexmem_hookspecs.places import overlap
from codexmem_hookspecs.session_files import expanded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codexmem_hookspecs.services import Folder, Services

SETTING = "autoMemoryDirectory"
SHARED = "settings.json"
OF_PROJECT = ("settings.local.json", SHARED)
"""In ``<project>/.claude``, the stronger first."""
MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
"""Where an administrator's settings are; stronger than all others."""
SETTINGS_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A folder that a settings file names for memories."""

    folder: str
    by: str
    """The settings file."""


def for_everybody(home: str, services: Services, managed: Iterable[str] = MANAGED) -> Iterator[Named]:
    """Folders that are named for all projects, the one that counts first."""
    for place in managed:
        yield from _named(place, ("managed-settings.json",), services)
        yield from _named(os.path.join(place, "managed-settings.d"), None, services)
    yield from _named(home, (SHARED,), services)


def for_project(cwd: str, services: Services) -> Named | None:
    """The folder that a project's settings name for its own memories."""
    return next(_named(os.path.join(cwd, ".claude"), OF_PROJECT, services), None)


def too_wide(named: Named, cwd: str, home: str, services: Services) -> str:
    """Why a named folder is not taken: it holds far more than memories, or ours. Empty when nothing speaks against it.

    A settings file that is shared comes with a repository: it may name folders of the repository and no others.
    """
    wide: Mapping[str, str] = {
        "the project itself": cwd,
        "your home folder": services.environ.get("HOME", ""),
        "Claude Code's home": home,
    }
    real = os.path.realpath(named.folder)
    shared = os.path.basename(named.by) == SHARED
    if shared and os.path.commonpath((real, os.path.realpath(cwd))) != os.path.realpath(cwd):
        return "a file that is shared may only name folders of its project"
    for what, place in wide.items():
        if os.path.isabs(place) and os.path.commonpath((real, os.path.realpath(place))) == real:
            return f"it holds {what}"
    ours = (name for name, root in services.memories.items() if overlap(real, root))
    return f"it overlaps with codexmem's own memory {name}" if (name := next(ours, "")) else ""


def _named(place: str, names: tuple[str, ...] | None, services: Services) -> Iterator[Named]:
    """From the files of one folder, in their order; None for all files that are settings."""
    folder = services.open_folder(place)
    if names is None:
        try:
            found = sorted(stat.path for stat in folder.scan(suffixes=(".json",), on_error=lambda _path, _error: None))
        except (Refused, OSError):
            return
        names = tuple(name for name in found if "/" not in name)
    for name in names:
        value = expanded(_setting(folder, name), services.environ)
        if os.path.isabs(value):
            yield Named(folder=os.path.normpath(value), by=os.path.join(place, name))


def _setting(folder: Folder, name: str) -> str:
    """Empty when there is none, or when the file cannot be understood: then Claude Code has none from it either."""
    try:
        settings = json.loads(folder.read(name, SETTINGS_BYTES))
    except (Refused, OSError, ValueError, RecursionError):
        return ""
    value = settings.get(SETTING) if isinstance(settings, dict) else None
    return whole_text(value) if isinstance(value, str) and "\0" not in value else ""
