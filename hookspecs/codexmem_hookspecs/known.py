"""Which states of sessions the engine holds, so that a host opens and gives only what is new or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Known:
    """States by place: ask file by file, or a whole folder at once.

    A place is a folder and a name: a locator is cut behind its last ``/``, whether it is a path or a URL. What is held
    is counted, so ask once for each session and believe the first yes.
    """

    def __init__(self, folders: Mapping[str, list[str]] | None = None) -> None:
        self._folders: Mapping[str, list[str]] = folders or {}
        self._states: dict[str, frozenset[str]] = {}
        self.count = 0
        """How many states were asked for and held."""

    @classmethod
    def of(cls, stamps: Iterable[tuple[str, str]]) -> Known:
        """From pairs of a locator and a stamp."""
        return cls(folders_of(stamps))

    def holds(self, locator: str, stamp: str) -> bool:
        """Whether the engine holds the session in this state: then neither open it nor give it."""
        folder, name = placed(locator)
        if folder not in self._states:
            self._states[folder] = frozenset(self._folders.get(folder, ()))
        if state(name, stamp) not in self._states[folder]:
            return False
        self.count += 1
        return True

    def holds_all(self, folder: str, states: list[str]) -> bool:
        """Whether it holds these states of a folder and no other: a tenth of the cost of asking for each.

        folder: with its last ``/``. states: of all its sessions, ``name/stamp``, sorted. When the answer is no, each
        has to be asked for, because some may be held all the same.
        """
        if self._folders.get(folder) != states:
            return False
        self.count += len(states)
        return True


def placed(locator: str) -> tuple[str, str]:
    """The folder of a locator, with its last ``/``, and the name in it."""
    cut = locator.rfind("/") + 1
    return locator[:cut], locator[cut:]


def state(name: str, stamp: str) -> str:
    """A name with a stamp, as :meth:`Known.holds_all` takes it."""
    return f"{name}/{stamp}"


def folders_of(stamps: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Folder → its sorted states, from pairs of a locator and a stamp."""
    folders: dict[str, list[str]] = {}
    for locator, stamp in stamps:
        folder, name = placed(locator)
        folders.setdefault(folder, []).append(state(name, stamp))
    for states in folders.values():
        states.sort()
    return folders
