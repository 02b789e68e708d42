"""Patterns of paths: ``*``, ``?`` and ``[…]`` within a name, ``**`` for any number of folders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def fits(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of the patterns."""
    return any(matches(path, pattern) for pattern in patterns)


def matches(path: str, pattern: str) -> bool:
    """Whether a path fits; ``skills/**`` is everything below ``skills``. Case counts.

    Takes time in proportion to the length of both, whatever the pattern: one name is matched once a part of it.
    """
    names, parts = path.split("/"), pattern.split("/")
    reached = {0}
    """How many names the parts so far may have taken."""
    for number, part in enumerate(parts):
        if part == "**":
            least = 1 if number == len(parts) - 1 else 0
            reached = set(range(min(reached) + least, len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
        if not reached:
            return False
    return len(names) in reached
