"""Where OpenCode was seen at work: the plugin file leaves word below the plugin's own folder, a file a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_lines import NotUnderstood
from msgspec import Struct, field

from codexmem_host_opencode import records

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

SEEN = "seen"
KEPT_MS = 90 * 86_400_000
"""A directory in which OpenCode has not worked for so long is let go of."""


class Location(Struct):
    """How a process of OpenCode 2 is asked by the plugin file in it."""

    url: str = ""
    token: str = ""


class Word(Struct):
    """What the plugin file writes."""

    directory: str
    url: str = ""
    """Of a server that listens; empty: none does."""
    program: str = ""
    pid: int = 0
    generation: int = 1
    """Of OpenCode: 1 or 2."""
    location: Location = field(default_factory=Location)
    """Of OpenCode 2."""


class Seen(NamedTuple):
    """One directory."""

    name: str
    """The file, relative to the plugin's folder."""
    stamp: str
    """Changes with everything that happens there."""
    word: Word


def seen(services: Services) -> list[Seen]:
    """Everywhere, what was last touched first. A file that is no word is left alone."""
    folder, now_ms = services.folder, services.clock.now_ms()
    found: list[tuple[int, Seen]] = []
    try:
        stats = list(folder.scan(SEEN, suffixes=(".json",)))
    except (FileNotFoundError, Refused):
        return []
    for stat in stats:
        if stat.mtime_ns // 1_000_000 < now_ms - KEPT_MS:
            folder.remove(stat.path)
            continue
        try:
            word = records.understood(records.decoded(folder.read(stat.path)), Word)
        except (NotUnderstood, OSError, Refused):
            continue
        found.append((stat.mtime_ns, Seen(stat.path, stat.stamp, word)))
    return [one for _, one in sorted(found, key=lambda pair: (-pair[0], pair[1].name))]
