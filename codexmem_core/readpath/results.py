"""What a search gives: places that match, or files of a period; and both as text for an agent."""

from __future__ import annotations

from dataclasses import dataclass

OUTPUT_BYTES = 256 * 1024
"""A page ends before this; the cursor goes on from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A place that matches, with the lines around it that were asked for."""

    path: str
    match_line_number: int
    """1-based; of a window its first line, of a ranked passage its best."""
    content_start_line_number: int
    content: str
    matched_queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A file whose name states its time."""

    path: str
    at: str
    first_line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A page of results, in the order that cursors count: by path and line, by rank, or newest first."""

    queries: tuple[str, ...]
    match_mode: str
    path: str
    matches: tuple[Match, ...]
    periods: tuple[Period, ...]
    """Instead of matches when there were no queries."""
    total: int
    next_cursor: str
    """Empty when this is the last page."""

    @property
    def truncated(self) -> bool:
        """Whether more follow."""
        return bool(self.next_cursor)

    def text(self) -> str:
        """For an agent: how many, then ``path:line: text`` or a block each."""
        shown = len(self.matches) + len(self.periods)
        what = "files" if not self.queries else "passages" if self.match_mode == "ranked" else "matches"
        if not self.total:
            return f"No {what}."
        if not shown:
            return f"No more {what}: there are {self.total}."
        lines = [f"{self.total} {what}" + (f", {shown} shown" if shown < self.total else "")]
        lines += [f"{period.at} {period.path} \N{EM DASH} {period.first_line}" for period in self.periods]
        lines += [_as_text(match) for match in self.matches]
        if self.next_cursor:
            lines.append(f"[more: go on with cursor {self.next_cursor}]")
        return "\n".join(lines)


def _as_text(match: Match) -> str:
    if "\n" not in match.content:
        return f"{match.path}:{match.match_line_number}: {match.content}"
    return f"{match.path}:{match.match_line_number} (from line {match.content_start_line_number})\n{match.content}\n"
