"""A window of one memory file: lines first, then a cap on bytes, always with the way to the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused

from codexmem_core.readpath.documents import lines_of, readable
from codexmem_core.readpath.errors import ToolError

if TYPE_CHECKING:
    from codexmem_core.safety.files import GuardedFolder

OUTPUT_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Lines ``start`` to ``end`` (1-based, both in it) of a file of ``total`` lines. Without secrets."""

    path: str
    start: int
    end: int
    total: int
    content: str
    truncated: bool
    """Whether lines follow, or a line was cut."""
    cut: bool
    """Whether the last line given was longer than the cap and is not whole."""

    @property
    def next_offset(self) -> int:
        """First line that is not in it; 0 when there is none."""
        return self.end + 1 if self.end < self.total else 0

    def text(self) -> str:
        """For an agent: a header when it does not begin at line 1, and how to go on."""
        header = f"[{self.path}, lines {self.start}-{self.end} of {self.total}]\n" if self.start > 1 else ""
        notes = []
        if self.cut:
            notes.append(f"[line {self.end} is longer than {OUTPUT_BYTES} bytes and was cut]")
        if self.next_offset:
            rest = self.total - self.end
            notes.append(f"[{rest} more lines: read on with line_offset {self.next_offset}]")
        body = self.content
        if notes and body and not body.endswith("\n"):
            body += "\n"
        return header + body + "\n".join(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderListing:
    """What stands in a folder that was to be read."""

    path: str
    names: tuple[str, ...]

    def text(self) -> str:
        """For an agent."""
        names = "\n".join(self.names) or "(nothing)"
        return f"{self.path or '.'} is a folder:\n{names}\n[memory_list gives its entries page by page]"


def read_window(
    folder: GuardedFolder, path: str, *, line_offset: int = 1, max_lines: int | None = None
) -> Window | FolderListing:
    """Raises ToolError when there is no such file, it may not be read, or the window begins behind its end."""
    try:
        text = readable(folder.read(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ToolError(f"Not found: {path}") from error
    except (Refused, OSError) as error:
        if (names := _names(folder, path)) is not None:
            return FolderListing(path=path, names=names)
        raise ToolError(str(error)) from error
    lines = lines_of(text)
    total = len(lines)
    if line_offset > max(total, 1):
        raise ToolError(f"line_offset {line_offset} is beyond the end: {path} has {total} lines")
    window = lines[line_offset - 1 : None if max_lines is None else line_offset - 1 + max_lines]
    kept, cut = _within(window)
    end = line_offset - 1 + len(kept)
    ended = end >= total and not cut and text.endswith("\n")
    return Window(
        path=path,
        start=line_offset,
        end=end,
        total=total,
        content="\n".join(kept) + ("\n" if kept and (end < total or ended) else ""),
        truncated=end < total or cut,
        cut=cut,
    )


def _within(lines: list[str]) -> tuple[list[str], bool]:
    """As many whole lines as fit; a first line that is too long alone is cut between characters."""
    size = 0
    for number, line in enumerate(lines):
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if size > OUTPUT_BYTES:
            if number:
                return lines[:number], False
            return [line.encode("utf-8", "surrogatepass")[:OUTPUT_BYTES].decode("utf-8", "ignore")], True
    return lines, False


def _names(folder: GuardedFolder, path: str) -> tuple[str, ...] | None:
    try:
        return tuple(name + "/" * is_folder for name, is_folder in folder.entries(path.strip("/")))
    except (OSError, Refused):
        return None
