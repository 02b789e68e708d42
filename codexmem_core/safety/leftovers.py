"""Temporary files of writers that were killed: swept where somebody is about to write anyway."""

from __future__ import annotations

import os
import re

_TEMPORARY = re.compile(r"\..+\.(\d+)\.[0-9a-f]{12}\.tmp\Z", re.DOTALL)
"""As :func:`codexmem_core.safety.writing.replace_file` names them, with the writer's process id."""


def sweep_leftovers(root: str) -> int:
    """Remove temporary files below ``root`` whose writer is not running; returns how many. Links are not followed."""
    removed = 0
    for parent, _, names in os.walk(root):
        for name in names:
            match = _TEMPORARY.match(name)
            if match and not _is_running(int(match[1])):
                try:
                    os.unlink(os.path.join(parent, name))
                except FileNotFoundError:
                    continue
                removed += 1
    return removed


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
