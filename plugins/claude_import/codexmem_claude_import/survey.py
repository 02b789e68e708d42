"""What there is to import now, and why the rest is not imported."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.places import overlap
from codexmem_hookspecs.session_files import expanded, home_in

from codexmem_claude_import import moved
from codexmem_claude_import.projects import STORE, Source, is_memory, is_safe, read_projects
from codexmem_claude_import.scope import SCOPE, Directories, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services


@dataclass(slots=True, kw_only=True)
class Wanted:
    """A project whose memories are to be imported."""

    key: str
    cwd: str = ""
    """What they are about; empty when that is not known."""
    source: Source | None = None
    """None: they cannot be seen now."""
    problem: str = ""
    """What the user may want to know."""


@dataclass(slots=True, kw_only=True)
class Survey:
    """What there is to import now."""

    home: str
    projects: list[Wanted] = field(default_factory=list)
    blocked: str = ""
    """Why nothing is done at all; nothing is removed then."""
    notices: list[str] = field(default_factory=list)


def survey(services: Services) -> Survey:
    """Look at everything, change nothing. Raises OSError and Refused for what cannot be read: then nothing is known."""
    home = _home(services)
    seen = Survey(home=home)
    if not _is_there(home):
        seen.blocked = f"Claude Code's home {home} is not there; what was imported stays"
        return seen
    store = os.path.join(home, STORE)
    if os.path.islink(store) and not _is_there(store):
        seen.blocked = f"{store} leads to {os.path.realpath(store)}, which is not there; what was imported stays"
        return seen
    ours = (name for name, root in services.memories.items() if overlap(store, root))
    if name := next(ours, ""):
        seen.blocked = f"{store} overlaps with codexmem's own memory {name}: nothing is imported"
        return seen
    folder = services.open_folder(home)
    projects = read_projects(folder)
    directories = Directories(folder, projects)
    everybody = next(moved.for_everybody(home, services), None)
    if everybody is not None:
        seen.notices.append(
            f"{everybody.by} keeps the memories of all projects in {everybody.folder}: to which project one belongs is "
            "not known there, so they are not imported"
        )
    managed = everybody is not None and os.path.dirname(everybody.by) != home
    for key in _chosen(services, projects, seen):
        found = projects.get(key)
        wanted = Wanted(key=key, source=Source(folder=folder, under=f"{STORE}/{key}/memory", files=()))
        seen.projects.append(wanted)
        if found is None:
            continue
        own = directories.own(key)
        named = moved.for_project(own, services) if own and not managed else None
        if named is not None:
            _take_moved(wanted, named, own, home, services)
        elif found.memories:
            wanted.source = Source(folder=folder, under=f"{STORE}/{key}/memory", files=_safe(found.memories, wanted))
            wanted.cwd = own or directories.of_repository(key)
            if not wanted.cwd:
                wanted.problem = (
                    f"{os.path.join(home, STORE, key)}: no session there, nor elsewhere in its repository, says which "
                    "directory it is about; nothing new is imported of it"
                )
    return seen


def _take_moved(wanted: Wanted, named: moved.Named, cwd: str, home: str, services: Services) -> None:
    """Memories that lie where the project's settings say."""
    wanted.cwd = cwd
    wide = moved.too_wide(named, cwd, home, services)
    if wide or not os.path.isdir(named.folder):
        wanted.source = None
        wanted.problem = f"{named.by} names {named.folder} for memories: {wide or 'it is not there'}; not imported"
        return
    trouble: list[tuple[str, OSError]] = []
    folder = services.open_folder(os.path.realpath(named.folder))
    paths = sorted(
        stat.path
        for stat in folder.scan(on_error=lambda path, error: trouble.append((path, error)))
        if is_memory(stat.path)
    )
    if trouble:
        wanted.source = None
        wanted.problem = f"{named.folder}: {trouble[0][1].strerror}: {trouble[0][0]}; what was imported stays"
        return
    wanted.source = Source(folder=folder, under="", files=_safe(paths, wanted))


def _safe(paths: Iterable[str], wanted: Wanted) -> tuple[str, ...]:
    """Paths that can be a file of ours, too."""
    paths = list(paths)
    safe = tuple(path for path in paths if path.isprintable() and "\\" not in path and not path.startswith(f"{SCOPE}/"))
    if len(safe) < len(paths):
        wanted.problem = f"{wanted.key}: {len(paths) - len(safe)} files are left out for their names"
    return safe


def _chosen(services: Services, projects: Iterable[str], seen: Survey) -> list[str]:
    """Keys that the user wants, sorted."""
    listed = services.settings["projects"]
    assert isinstance(listed, tuple)
    asked = [key_of(os.path.realpath(expanded(one, services.environ))) if "/" in one else one for one in listed if one]
    chosen = sorted({key for key in (asked or projects) if is_safe(key)})
    strange = [one for one in asked if one not in projects]
    if strange:
        seen.notices.append(f"[claude-import] projects: there is none called {', '.join(strange)} in {seen.home}")
    if asked and not chosen:
        seen.blocked = "[claude-import] projects names no folder that could be a project's; nothing is imported"
    return chosen


def _home(services: Services) -> str:
    chosen = str(services.settings["claude_home"])
    if chosen:
        return os.path.abspath(expanded(chosen, services.environ))
    return next(iter(home_in(services.environ, "CLAUDE_CONFIG_DIR", ".claude")), "")


def _is_there(home: str) -> bool:
    """Whether there is anything: an empty folder may be a disk that is not mounted."""
    try:
        with os.scandir(home) as entries:
            return any(entries)
    except OSError:
        return False
