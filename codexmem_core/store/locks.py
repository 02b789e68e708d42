"""Who uses a database file: shared by everyone that has it open, exclusive while it is checked, migrated, replaced.

A lock file of its own (``locks/<name>`` beside the database), because locks on the database itself are SQLite's, and
because the database may be replaced. ``flock`` ends with its process, however that ends.
"""

from __future__ import annotations

import fcntl
import os


class UseLock:
    """The lock of one opened database; close it last."""

    def __init__(self, path: str) -> None:
        folder = os.path.join(os.path.dirname(path), "locks")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._name = os.path.join(folder, os.path.basename(path))
        self._descriptor = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)

    @property
    def damage_mark(self) -> str:
        """A file whose presence says: check the database thoroughly when it is next opened."""
        return self._name + ".damaged"

    def alone(self) -> bool:
        """Try to be the only user; never waits."""
        return self._try(fcntl.LOCK_EX)

    def share(self) -> bool:
        """Try to be one of many users; never waits. Gives up being alone."""
        return self._try(fcntl.LOCK_SH)

    def wait_shared(self) -> None:
        """Give up being alone but stay a user, waiting for whoever got in between."""
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def release(self) -> None:
        """Use the database no more, but keep the lock file open."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release for good."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self, how: int) -> bool:
        try:
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
