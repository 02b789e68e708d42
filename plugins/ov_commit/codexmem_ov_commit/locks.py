"""One writer a session: Stop, PreCompact, the end and the sweep each write the whole state.

Ours is a lock of the operating system on a file beside the state: it cannot be held twice and is free when its holder
dies, so nothing is ever taken over (the original's takeover of a stale folder let two in; OpenViking PR 4591, 4701).
A lock folder of the original plugin is respected while it is fresh, and never removed.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_ov_commit.names import file_stem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Clock, Deadline, Folder

STALE_MS = 300_000
"""A foreign lock that nobody refreshed for so long is abandoned."""
POLL_S = 0.1


@contextmanager
def session_lock(folder: Folder, session_id: str, clock: Clock, deadline: Deadline, *, wait_s: float) -> Iterator[bool]:
    """Whether the session is ours for now; false when somebody had it for all of ``wait_s`` seconds (0: one try)."""
    stem = file_stem(session_id)
    until = time.monotonic() + min(wait_s, deadline.left_s)
    with folder.lock(lock_name(session_id), max(0.0, until - time.monotonic())) as held:
        yield held and _left_alone(folder, stem, clock, until)


def lock_name(session_id: str) -> str:
    """One of 256, by a digest: sessions that share a state file share a lock, and no more files are left than that."""
    return "writer-" + hashlib.sha256(file_stem(session_id).encode()).hexdigest()[:2]


def _left_alone(folder: Folder, stem: str, clock: Clock, until: float) -> bool:
    """Whether the original plugin let go of the session in time."""
    while _foreign(folder, stem, clock):
        if time.monotonic() + POLL_S > until:
            return False
        time.sleep(POLL_S)
    return True


def _foreign(folder: Folder, stem: str, clock: Clock) -> bool:
    """Whether the original plugin holds the session: by its owner's stamp, and by the folder's while it has none."""
    for look, path in ((folder.stat, f"{stem}.lock/owner"), (folder.stat_folder, f"{stem}.lock")):
        try:
            stamp_ms = look(path).mtime_ns // 1_000_000
        except (FileNotFoundError, NotADirectoryError, Refused):
            continue
        return clock.now_ms() - stamp_ms <= STALE_MS
    return False
