"""Where a rollout's file is and in which form: plain, or compressed after a quiet week (Codex 0.137 and later)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Unreadable

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Folder, Services

COMPRESSED = ".zst"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One file, opened through the path guard."""

    folder: Folder
    name: str


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


def open_rollout(locator: str, services: Services) -> Rollout:
    """The file of a locator, in the form that it has now. Raises Unreadable when there is none."""
    if not locator:
        raise Unreadable("the session has no rollout file")
    folder = services.open_folder(os.path.dirname(locator))
    name = os.path.basename(locator)
    for form in (name, other_form(name)):
        if exists(folder, form):
            return Rollout(folder=folder, name=form)
    raise Unreadable(f"{locator} is not there")
