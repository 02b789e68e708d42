"""Lock files that a git program left or holds in a memory's repository: waited for, or removed when they are stale."""

from __future__ import annotations

import os
import time

STALE_AFTER_S = 600.0
"""Git holds such a lock for milliseconds; one of this age belongs to a program that died (10 minutes)."""

_TOP_LEVEL = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock")
_PAUSE_S = 0.05


def wait_for_git(git: str, patience_s: float) -> tuple[str, ...]:
    """Return once no lock is held, with the stale ones that were removed.

    Raises TimeoutError, naming the lock, when a live one is still there after ``patience_s`` seconds.
    """
    removed: list[str] = []
    deadline = time.monotonic() + patience_s
    while True:
        held = []
        for path in _locks(git):
            if _stale(path):
                removed.append(path)
                _remove(path)
            elif os.path.lexists(path):
                held.append(path)
        if not held:
            return tuple(removed)
        if time.monotonic() >= deadline:
            raise TimeoutError(f"{held[0]} is held; if no git program is running there, delete it")
        time.sleep(_PAUSE_S)


def _locks(git: str) -> list[str]:
    references = os.path.join(git, "refs")
    # Behind a link is somebody else's repository.
    if os.path.islink(git) or os.path.islink(references):
        return []
    found = [path for path in (os.path.join(git, name) for name in _TOP_LEVEL) if os.path.lexists(path)]
    for folder, _, names in os.walk(references):
        found.extend(os.path.join(folder, name) for name in names if name.endswith(".lock"))
    return found


def _stale(path: str) -> bool:
    try:
        # Compared with the wall clock on purpose: that is the clock that set the file's time.
        return time.time() - os.lstat(path).st_mtime > STALE_AFTER_S
    except FileNotFoundError:
        return False


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
