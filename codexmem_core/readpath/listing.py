"""One level of a memory's folders, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.readpath.arguments import LIST_LIMIT, offset_of
from codexmem_core.readpath.errors import ToolError
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from codexmem_core.safety.files import GuardedFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or a folder, with its path from the root."""

    path: str
    entry_type: str
    """``file`` or ``directory`` (Codex 0.171)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of entries, sorted by code points."""

    path: str
    entries: tuple[Entry, ...]
    total: int
    next_cursor: str
    """Empty when this is the last page."""

    @property
    def truncated(self) -> bool:
        """Whether more follow."""
        return bool(self.next_cursor)

    def text(self) -> str:
        """For an agent."""
        if not self.total:
            return f"{self.path or '.'} is empty"
        if not self.entries:
            return f"No entries at cursor {self.total}: the list has {self.total}"
        lines = [f"{entry.entry_type[0]} {entry.path}" for entry in self.entries]
        if self.next_cursor:
            lines.append(f"[{self.total} entries in all: go on with cursor {self.next_cursor}]")
        return "\n".join(lines)


def list_entries(folder: GuardedFolder, path: str = "", *, cursor: str = "", max_results: int = LIST_LIMIT) -> Listing:
    """Files and folders; dotfiles, links and other things are left out. A file is its own only entry.

    Raises ToolError.
    """
    path = path.strip("/")
    path = "" if path == "." else path
    found = _entries(folder, path)
    offset = offset_of(cursor, len(found))
    page = found[offset : offset + max_results]
    end = offset + len(page)
    return Listing(path=path, entries=tuple(page), total=len(found), next_cursor=str(end) if end < len(found) else "")


def _entries(folder: GuardedFolder, path: str) -> list[Entry]:
    try:
        if path and _is_file(folder, path):
            return [Entry(path=redact(path), entry_type="file")]
        entries = folder.entries(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not path:
            return []  # a memory that holds nothing yet
        raise ToolError(f"Not found: {path}") from error
    except (Refused, OSError) as error:
        raise ToolError(str(error)) from error
    prefix = f"{path}/" if path else ""
    return [
        Entry(path=redact(prefix + name), entry_type="directory" if is_folder else "file")
        for name, is_folder in entries
    ]


def _is_file(folder: GuardedFolder, path: str) -> bool:
    try:
        folder.stat(path)
    except Refused as error:
        if isinstance(error, OSError):  # a dotfile: for everybody there is none
            raise
        return False
    return True
