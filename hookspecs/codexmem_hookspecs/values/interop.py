"""Other tools' memories in before the diff, ours out after a success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OWN_TAGS = ("[from codexmem]", "[from opencode]")
"""What another tool marks as coming from us, or from the plugin whose memories we take over. It is never taken in
again: both sides would otherwise echo each other for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """The whole desired content of one extension folder; the engine compares, writes, removes and recovers.

    A hook that raises removes nothing. A hook that returns no mirror for an extension leaves it alone.
    """

    extension: str
    """Folder name below ``extensions/``."""
    instructions: str
    """Text of its instructions.md."""
    files: Mapping[str, bytes]
    """Path below ``resources/`` → content."""
    keep: tuple[str, ...] = ()
    """Prefixes below ``resources/`` that survive although ``files`` does not name them."""
    root: str = ""
    """For an export: the other tool's memory folder, which must exist. Empty: this memory's own."""
    lock: str = ""
    """For an export: absolute path of the other tool's workspace lock (``….lock``, flock), taken while writing. While
    the other tool holds it nothing is written; the next success tries again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A memory's consolidated files after a success."""

    memory: str
    files: Mapping[str, bytes]
    """By path; without extensions/. Empty after a reset."""
    forgotten: bool = False
    """Whether something was just forgotten, which no copy may outlive. So a plugin that exports nothing any more, or
    not to this place, returns a mirror without files for each place where its copies may still lie."""
