"""What is to be forgotten, as every store is asked for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from codexmem_core.readpath.tombstones import NOTHING_FORGOTTEN

if TYPE_CHECKING:
    from collections.abc import Collection

    from codexmem_hookspecs.values.capture import Session

    from codexmem_core.readpath.tombstones import Tombstones

_NOTHING = re.compile(r"(?!)")

Kind = Literal["session", "file", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the user named."""

    kind: Kind
    name: str
    """For the report; empty for a text, which is not repeated."""
    sessions: tuple[Session, ...] = ()
    files: tuple[str, ...] = ()
    """Absolute paths of memory files that go."""
    text: str = ""
    windows: tuple[tuple[str, ...], ...] = ()
    """Runs of words that are forgotten wherever they stand."""

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """(host, id) of the sessions."""
        return tuple((session.host, session.id) for session in self.sessions)


def naming(ids: Collection[str]) -> re.Pattern[str]:
    """Finds any of some session ids in a text; never a part of a longer word."""
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ids)) + r")(?!\w)") if ids else _NOTHING


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target with the means to find it in any text."""

    target: Target
    texts: Tombstones = NOTHING_FORGOTTEN
    """Of this target's words alone."""
    _ids: re.Pattern[str] = field(init=False, default=_NOTHING)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", naming([session for _, session in self.target.keys]))

    def holds(self, text: str) -> bool:
        """Whether a text is about a session that is forgotten, or holds a text that is."""
        return bool(self._ids.search(text)) or self.texts.holds(text)

    def holds_bytes(self, content: bytes) -> bool:
        """The same of a file of any kind."""
        return self.holds(content.decode("utf-8", "replace"))

    def without(self, text: str) -> str:
        """A text of lines without those that are about it."""
        if self._ids.search(text):
            text = "".join(line for line in text.splitlines(keepends=True) if not self._ids.search(line))
        return self.texts.without(text, lines=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """One thing that was done in one store."""

    store: str
    """A path below the home, or a plugin's own name for it."""
    what: str
    count: int = 1
