"""End markers: ``<stem>.ended.<ms>`` says that a session ended and that its commit is not confirmed yet.

The time is the token that tells one end from another, and it stands in the name, so that removing older ones can never
take a newer one with it. A bare ``<stem>.ended`` of builds before 0.8.1 is still read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_ov_commit.names import file_stem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Clock, Folder

_ENDED = ".ended"


class Markers:
    """Markers in one state folder."""

    def __init__(self, folder: Folder, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def mark(self, session_id: str, at_ms: int) -> None:
        """Write the marker of an end; the same end again changes nothing. Raises OSError."""
        try:
            self._folder.write(f"{file_stem(session_id)}{_ENDED}.{at_ms}", str(at_ms).encode(), exclusive=True)
        except FileExistsError:
            return

    def newest(self, session_id: str) -> int:
        """Time of the newest end that is not confirmed; 0 when there is none."""
        return max((at_ms for _, at_ms in self._of(session_id)), default=0)

    def clear(self, session_id: str, before_ms: int) -> int:
        """Remove the markers of ends before a time; returns how many."""
        return sum(self._folder.remove(path) for path, at_ms in self._of(session_id) if at_ms < before_ms)

    def clear_all(self, session_id: str) -> int:
        """Remove them all; returns how many."""
        return sum(self._folder.remove(path) for path, _ in self._of(session_id))

    def sessions(self) -> dict[str, int]:
        """Newest end by file stem, of every session that has a marker."""
        found: dict[str, int] = {}
        for path in self._paths():
            stem, at_ms = self._read(path)
            if at_ms:
                found[stem] = max(at_ms, found.get(stem, 0))
        return found

    def _of(self, session_id: str) -> Iterator[tuple[str, int]]:
        wanted = file_stem(session_id)
        for path in self._paths():
            stem, at_ms = self._read(path)
            if at_ms and stem == wanted:
                yield path, at_ms

    def _paths(self) -> list[str]:
        try:
            return sorted(found.path for found in self._folder.scan() if _ENDED in found.path and "/" not in found.path)
        except FileNotFoundError:
            return []

    def _read(self, path: str) -> tuple[str, int]:
        """File stem and time; 0 when it is no marker."""
        stem, _, suffix = path.rpartition(_ENDED)
        if suffix.startswith("."):
            return stem, _decimal(suffix[1:])
        if suffix:
            return stem, 0
        try:
            content = self._folder.read(path, 100).decode("ascii", "replace").strip()
        except (OSError, Refused):
            return stem, 0
        return stem, _decimal(content) or self._clock.now_ms()


def _decimal(text: str) -> int:
    """Plain ASCII digits, as the original writes them; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() else 0
