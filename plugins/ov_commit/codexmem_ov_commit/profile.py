"""The profile block of a session's start: who the user is, and what else the server keeps about them.

The whole ``profile.md`` within half of the budget, then the names in ``preferences`` and ``entities`` with a line about
each, so that the model knows what it can read (OpenViking: shared profile block of its coding agents).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from codexmem_ov_commit import utf16
from codexmem_ov_commit.budget import listed, shortened
from codexmem_ov_commit.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_ov_commit.server import Server

ABSTRACT_UNITS: Final = 200
"""Longest line about an entry, UTF-16 units."""
MOST_ENTRIES: Final = 512
MORE: Final = "    ... +{} more, use openviking_read on the folder"
_NOT_READY: Final = "abstract is not ready]"
_LEAF: Final = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of the server's."""

    name: str
    """Relative to its folder."""
    abstract: str

    @property
    def line(self) -> str:
        """As it is listed."""
        about = utf16.head(utf16.trimmed(utf16.ONE_LINE.sub(" ", self.abstract)), ABSTRACT_UNITS)
        return f"    - {self.name} — {about}" if about else f"    - {self.name}"


def profile_block(server: Server, tokens: int) -> str:
    """The block in its marks; empty when the server keeps nothing about the user or cannot say whose it is."""
    space = _space(server)
    if not space:
        return ""
    root = f"viking://user/{space}/memories"
    with ThreadPoolExecutor(3) as pool:
        profile = pool.submit(server.get, read_path(f"{root}/profile.md"))
        folders = [pool.submit(_entries, server, f"{root}/{name}") for name in ("preferences", "entities")]
    answer = profile.result()
    text = utf16.trimmed(answer.result) if answer.ok and isinstance(answer.result, str) else ""
    return rendered(root, text, folders[0].result(), folders[1].result(), tokens)


def rendered(root: str, profile: str, preferences: Sequence[Entry], entities: Sequence[Entry], tokens: int) -> str:
    """The block within its budget: half for the profile; of what it leaves, half for the preferences."""
    parts = []
    if profile:
        parts.append(shortened(f"{root}/profile.md\n{profile}", tokens // 2))
    left = tokens - sum(utf16.tokens(part) for part in parts)
    for name, entries, share in (("preferences", preferences, 2), ("entities", entities, 1)):
        listing = listed(f"  {root}/{name}/", [entry.line for entry in entries], MORE, left // share)
        left -= utf16.tokens(listing)
        parts.append(listing)
    return wrapped("\n".join(filter(None, parts)), "session-start")


def read_path(uri: str) -> str:
    """The route that reads a file."""
    return f"/api/v1/content/read?uri={quote(uri, safe='')}"


def list_path(uri: str, *, recursive: bool = False) -> str:
    """The route that lists a folder; with what is below it, each file has its abstract."""
    how = f"output=agent&recursive=true&abs_limit={MOST_ENTRIES}&node_limit={MOST_ENTRIES}"
    return f"/api/v1/fs/ls?uri={quote(uri, safe='')}&{how if recursive else 'output=original'}"


def _space(server: Server) -> str:
    """Whose folder it is: the user's own, else ``default``, else the only one."""
    user = server.get("/api/v1/system/status").text("user")
    found = server.get(list_path("viking://user"))
    names = [name for name, is_folder in _listed(found.result) if is_folder and name != "memories"] if found.ok else []
    for name in (user, "default"):
        if name and name in names:
            return name
    return names[0] if len(names) == 1 else ""


def _entries(server: Server, uri: str) -> Sequence[Entry]:
    found = server.get(list_path(uri, recursive=True))
    if not found.ok or not isinstance(found.result, list):
        return ()
    entries = []
    for one in found.result:
        if isinstance(one, dict) and not one.get("isDir"):
            name = str(one.get("rel_path") or one.get("name") or str(one.get("uri", "")).removeprefix(f"{uri}/"))
            about = one.get("abstract")
            if name.endswith(_LEAF) and not name.rpartition("/")[2].startswith("."):
                about = about if isinstance(about, str) and _NOT_READY not in about else ""
                entries.append(Entry(name=name, abstract=about))
    return sorted(entries, key=lambda entry: (entry.name.casefold(), entry.name))


def _listed(result: object) -> Iterator[tuple[str, bool]]:
    """Name and whether it is a folder; hidden ones left out."""
    for one in result if isinstance(result, list) else ():
        if isinstance(one, dict):
            name = str(one.get("name") or str(one.get("uri", "")).rstrip("/").rpartition("/")[2])
            if name and not name.startswith("."):
                yield name, bool(one.get("isDir"))
