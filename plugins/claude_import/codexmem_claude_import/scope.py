"""The working directory that a project's memories are about.

The key of a project's folder is its path with every sign but letters and digits made a dash: many paths have the same,
so nothing is ever read out of it. A directory is only known from a transcript, which states it, and can then be held
against the key.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.json_lines import NotUnderstood, decoded, whole_text
from codexmem_hookspecs.places import repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.places import Repository
    from codexmem_hookspecs.services import Folder

    from codexmem_claude_import.projects import Project

SCOPE = "scope.json"
"""Beside the imported files of a project (Codex 0.171)."""
LOOKED_AT = 10
"""Newest transcripts of a project in which a directory is looked for."""
HEAD_BYTES = 1024 * 1024
"""How far into one; the first record that states it is one of the first of all."""
KEY_LENGTH = 200
"""Characters of a key (Claude Code 2.1); a longer one is cut there and goes on with a dash and a digest."""

_OTHER = re.compile(r"[^A-Za-z0-9]")


def key_of(path: str) -> str:
    """What Claude Code calls the folder of a directory, as far as it is not a digest."""
    # One dash for each UTF-16 unit: a character outside of the basic plane counts twice.
    return _OTHER.sub(lambda sign: "-" * (1 + (ord(sign[0]) > 0xFFFF)), path)  # noqa: PLR2004 - the last one of the plane


def fits(key: str, path: str) -> bool:
    """Whether the folder may be that of the directory."""
    whole = key_of(path)
    return key == whole if len(whole) <= KEY_LENGTH else key.startswith(f"{whole[:KEY_LENGTH]}-")


class Directories:
    """Directories of projects, each looked for once."""

    def __init__(self, home: Folder, projects: Mapping[str, Project]) -> None:
        self._home = home
        self._projects = projects
        self._own: dict[str, str] = {}

    def own(self, key: str) -> str:
        """Where the newest session of the project began that still has its directory; empty when none has."""
        if key not in self._own:
            self._own[key] = next(self._stated(self._projects[key]), "") if key in self._projects else ""
        return self._own[key]

    def of_repository(self, key: str) -> str:
        """The root of the repository whose memories these are, known from a session in another of its directories.

        Claude Code keeps one memory for a repository, all its worktrees and subfolders, under the key of its main
        folder; the sessions' transcripts lie under the keys of the directories in which they began.
        """
        for worktree in self._worktrees:
            if fits(key, worktree.main):
                return worktree.root if worktree.bare else worktree.main
            if fits(key, worktree.root):
                return worktree.root
        return ""

    @cached_property
    def _worktrees(self) -> list[Repository]:
        """Of all projects, the one that was used last first."""
        newest = sorted(self._projects.values(), key=lambda project: (-project.touched_ns, project.key))
        found = (repository(cwd) for project in newest if (cwd := self.own(project.key)))
        return [one for one in found if one is not None]

    def _stated(self, project: Project) -> Iterator[str]:
        """Directories that exist, from the newest transcript on."""
        gone: set[object] = set()
        for stat in islice(project.transcripts, LOOKED_AT):
            try:
                for cwd in _cwds(self._home, stat.path):
                    if cwd in gone:
                        continue
                    real = os.path.realpath(cwd)
                    if os.path.isdir(real):
                        yield real
                    gone.add(cwd)
            except (Unreadable, Rewritten, Refused, OSError):
                continue  # the next one may say it


def _cwds(folder: Folder, path: str) -> Iterator[str]:
    """Absolute directories that the first records of a transcript state."""
    for line in folder.lines(path):
        if b'"cwd"' in line.data:
            try:
                record = decoded(json.loads, line.data)
            except NotUnderstood:
                continue
            cwd = record.get("cwd") if isinstance(record, dict) else None
            if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd:
                yield whole_text(cwd)
        if line.end > HEAD_BYTES:
            return
