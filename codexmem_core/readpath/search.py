"""memory_search: which files, how they are matched, and a page of what was found."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from codexmem_hookspecs.cuts import cut_bytes
from codexmem_hookspecs.errors import Refused

from codexmem_core.readpath import matching
from codexmem_core.readpath.arguments import RANKED_LIMIT, SEARCH_LIMIT, Search, offset_of
from codexmem_core.readpath.documents import Documents
from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.notes import GENERIC_HEADING
from codexmem_core.readpath.ranking import Ranking
from codexmem_core.readpath.results import OUTPUT_BYTES, Found, Match, Period
from codexmem_core.readpath.roots import memory_folder
from codexmem_core.readpath.times import iso_time, point_in_time
from codexmem_core.readpath.words import question
from codexmem_core.safety.redaction import redact
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_core.readpath.documents import Document

_FIRST_LINE = 160
_HEADER = re.compile(
    r"(?:- )?(?:session_id|thread_id|host|updated_at|rollout_path|cwd|git_branch|usage_count|created|session):"
    rf"|# {GENERIC_HEADING}$"
)


Row = TypeVar("Row")
Shown = TypeVar("Shown")


class MemorySearch:
    """Searches one memory root; kept by a process, so that only changed files are read again."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._documents = Documents(root)
        self._ranking = Ranking(self._documents)

    def search(self, asked: Search) -> Found:
        """Raises ToolError for what cannot be asked, Refused when the root is a link."""
        queries = tuple(query.strip() for query in asked.queries)
        if not all(queries):
            raise ToolError("a query is empty")
        if not queries and not (asked.since or asked.until):
            raise ToolError("queries is empty: give at least one, or since or until")
        if queries and asked.match_mode == "all_within_lines" and asked.line_count is None:
            raise ToolError("all_within_lines needs line_count")
        with self._documents.lock:
            self._documents.refresh()
            path = self._scope(asked.path)
            allowed = _filter(path, asked)
            if not queries:
                return self._periods(asked, path, allowed)
            if asked.match_mode == "ranked":
                return self._ranked(asked, queries, path, allowed)
            return self._matching(asked, queries, path, allowed)

    def clear(self) -> None:
        """Forget what was read: the memory was reset."""
        with self._documents.lock:
            self._documents.clear()
            self._ranking.close()

    def _scope(self, path: str) -> str:
        """The path in one form. Raises ToolError when nothing is there."""
        path = "/".join(part for part in path.split("/") if part not in ("", ".")) if not path.startswith("/") else path
        if not path or self._documents.get(path) is not None:
            return path
        try:
            memory_folder(self._root).entries(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ToolError(f"Not found: {path}") from error
        except (Refused, OSError) as error:
            raise ToolError(str(error)) from error
        return path

    def _chosen(self, allowed: Callable[[Document], bool] | None) -> list[Document]:
        return [document for document in self._documents if allowed is None or allowed(document)]

    def _matching(
        self, asked: Search, queries: tuple[str, ...], path: str, allowed: Callable[[Document], bool] | None
    ) -> Found:
        comparison = matching.Comparison(queries, case_sensitive=asked.case_sensitive, normalized=asked.normalized)
        documents = sorted(self._chosen(allowed), key=lambda document: document.path)
        if asked.match_mode == "all_within_lines":
            spans = matching.all_within_lines(documents, comparison, asked.line_count or 1)
        elif asked.match_mode == "all_on_same_line":
            spans = matching.all_on_same_line(documents, comparison)
        else:
            spans = matching.any_query(documents, comparison)
        found = list(spans)
        matches, cursor = _page(
            found,
            asked,
            SEARCH_LIMIT,
            lambda span: _match(
                span.document,
                span.start,
                (span.start - asked.context_lines, span.end + asked.context_lines),
                tuple(queries[number] for number in span.queries),
            ),
        )
        return replace(_found(asked, queries, path, len(found), cursor), matches=matches)

    def _ranked(
        self, asked: Search, queries: tuple[str, ...], path: str, allowed: Callable[[Document], bool] | None
    ) -> Found:
        try:
            ranked = self._ranking.search(queries, allowed)
        except StoreError as error:
            raise ToolError(str(error)) from error
        matches, cursor = _page(
            ranked,
            asked,
            RANKED_LIMIT,
            lambda place: _match(
                place.document,
                place.line,
                (place.start - asked.context_lines, place.end + asked.context_lines),
                tuple(query for query in queries if _mentions(place.document, place.start, place.end, query)),
            ),
        )
        return replace(_found(asked, queries, path, len(ranked), cursor), matches=matches)

    def _periods(self, asked: Search, path: str, allowed: Callable[[Document], bool] | None) -> Found:
        documents = self._chosen(allowed)
        documents.sort(key=lambda document: (-document.stated_at_ms, document.path))
        periods, cursor = _page(
            documents,
            asked,
            SEARCH_LIMIT,
            lambda document: Period(
                path=redact(document.path), at=iso_time(document.stated_at_ms), first_line=_first_line(document)
            ),
        )
        return replace(_found(asked, (), path, len(documents), cursor), periods=periods)


def _filter(path: str, asked: Search) -> Callable[[Document], bool] | None:
    """Which documents are searched; None for all."""
    if not (path or asked.since or asked.until):
        return None
    try:
        since = point_in_time(asked.since) if asked.since else 0
        until = point_in_time(asked.until, end_of_day=True) if asked.until else None
    except (ValueError, OverflowError) as error:
        raise ToolError(f"since and until are days, YYYY-MM-DD, or ISO times ({error})") from error
    timed = bool(asked.since or asked.until)

    def allowed(document: Document) -> bool:
        if path and document.path != path and not document.path.startswith(f"{path}/"):
            return False
        if not timed:
            return True
        stated = document.stated_at_ms
        return stated >= max(since, 0) and (until is None or stated <= until)

    return allowed


def _page(
    rows: Sequence[Row], asked: Search, limit: int, shown: Callable[[Row], Shown]
) -> tuple[tuple[Shown, ...], str]:
    """What is given of the rows, and the cursor for the rest; empty when there is none."""
    offset = offset_of(asked.cursor, len(rows))
    end = min(len(rows), offset + (asked.max_results or limit))
    page: list[Shown] = []
    size = 0
    for row in rows[offset:end]:
        one = shown(row)
        size += len(repr(one).encode("utf-8", "replace"))
        if page and size > OUTPUT_BYTES:
            end = offset + len(page)
            break
        page.append(one)
    return tuple(page), str(end) if end < len(rows) else ""


def _match(document: Document, line: int, around: tuple[int, int], queries: tuple[str, ...]) -> Match:
    lines = document.lines
    start, end = max(0, around[0]), min(len(lines), around[1])
    return Match(
        path=redact(document.path),
        match_line_number=line + 1,
        content_start_line_number=start + 1,
        content=cut_bytes("\n".join(lines[start:end]), OUTPUT_BYTES),
        matched_queries=queries,
    )


def _mentions(document: Document, start: int, end: int, query: str) -> bool:
    window = "\n".join(document.lines[start:end]).lower()
    asked = question(query)
    return asked.literal in window or any(word in window for word in (*asked.words, *asked.pieces))


def _first_line(document: Document) -> str:
    for line in document.lines:
        if line.strip() and _HEADER.match(line) is None:
            return line.strip()[:_FIRST_LINE]
    return ""


def _found(asked: Search, queries: tuple[str, ...], path: str, total: int, next_cursor: str) -> Found:
    return Found(
        queries=queries,
        match_mode=asked.match_mode,
        path=path,
        matches=(),
        periods=(),
        total=total,
        next_cursor=next_cursor,
    )
