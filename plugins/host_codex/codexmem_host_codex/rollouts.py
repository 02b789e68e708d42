"""Where a rollout's file is and in which form: plain, or compressed after a quiet week (Codex 0.137 and later)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import Line

COMPRESSED = ".zst"


@dataclass(slots=True, kw_only=True)
class Rollout:
    """One file, opened through the path guard."""

    folder: Folder
    name: str
    """In the form that was seen last; reading may find the other one."""

    def lines(self, after: int) -> Iterator[Line]:
        """Lines past a byte. Raises Unreadable and Rewritten.

        Whether the file is there is asked only when it cannot be read: most are, and a pass may read thousands.
        """
        lines = self.folder.lines(self.name, after)
        try:
            first = next(lines, None)
        except Unreadable:
            other = other_form(self.name)
            if exists(self.folder, self.name) or not exists(self.folder, other):
                raise
            self.name, first, lines = other, None, self.folder.lines(other, after)
        if first is not None:
            yield first
        yield from lines


def other_form(path: str) -> str:
    """The name that the same rollout has when it is compressed, or not any more."""
    return path[: -len(COMPRESSED)] if path.endswith(COMPRESSED) else path + COMPRESSED


def exists(folder: Folder, path: str) -> bool:
    """Whether a regular file is there."""
    try:
        folder.stat(path)
    except (OSError, Refused):
        return False
    return True


def rollout_of(locator: str, services: Services) -> Rollout:
    """The file of a locator, be it there or not. Raises Unreadable for none."""
    if not locator:
        raise Unreadable("the session has no rollout file")
    return Rollout(folder=services.open_folder(os.path.dirname(locator)), name=os.path.basename(locator))


def present_rollout(locator: str, services: Services) -> Rollout:
    """The same in the form that it has now. Raises Unreadable when it is not there."""
    rollout = rollout_of(locator, services)
    for form in (rollout.name, other_form(rollout.name)):
        if exists(rollout.folder, form):
            return Rollout(folder=rollout.folder, name=form)
    raise Unreadable(f"{locator} is not there")
