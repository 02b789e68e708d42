"""Temporary files of writers that were killed: swept where somebody is about to write anyway."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEMPORARY = re.compile(r"\..+\.(\d+)\.[0-9a-f]{12}\.tmp\Z", re.DOTALL)
"""As :func:`codexmem_core.safety.writing.replace_file` names them, with the writer's process id."""


def sweep_leftovers(root: str) -> int:
    """Remove temporary files below ``root`` whose writer is not running; returns how many. Links are not followed."""
    return sum(_swept(parent, names) for parent, _, names in os.walk(root))


def sweep_beside(path: str) -> int:
    """Remove those of one file only, for folders that are not ours."""
    folder, name = os.path.split(path)
    return _swept(folder, [other for other in os.listdir(folder) if other.startswith(f".{name}.")])


def _swept(folder: str, names: Iterable[str]) -> int:
    removed = 0
    for name in names:
        match = _TEMPORARY.match(name)
        if match and not is_running(int(match[1])):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
                removed += 1
    return removed


def is_running(pid: int) -> bool:
    """Whether a process has that number, whosever it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
