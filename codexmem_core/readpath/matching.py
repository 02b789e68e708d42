"""Line by line matching, as Codex's memory search does it (Codex 0.171); every match mode but ``ranked``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.readpath.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from codexmem_core.readpath.documents import Document

_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines of a document that match; 0-based, ``end`` just past the last."""

    document: Document
    start: int
    end: int
    queries: tuple[int, ...]
    """Which queries, by number."""


class Comparison:
    """How a query and a line are made alike before one is looked for in the other."""

    def __init__(self, queries: Sequence[str], *, case_sensitive: bool, normalized: bool) -> None:
        self._case_sensitive = case_sensitive
        self._normalized = normalized
        self.needles = [self.alike(query) for query in queries]
        if not all(self.needles):
            raise ToolError("a query has no letter and no digit: nothing is left of it with normalized")

    def alike(self, text: str) -> str:
        """Lower case unless case counts; letters and digits only when normalized."""
        if not self._case_sensitive:
            text = text.lower()
        return _SEPARATORS.sub("", text) if self._normalized else text

    def may_match(self, document: Document) -> bool:
        """False only when no line can hold any query: cheaper than looking at lines."""
        if self._normalized:
            return True
        whole = document.text if self._case_sensitive else document.lower
        return any(needle in whole for needle in self.needles)

    def lines(self, document: Document) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Lines that hold any query, with the numbers of those they hold."""
        for at, line in enumerate(document.lines):
            text = self.alike(line)
            held = tuple(number for number, needle in enumerate(self.needles) if needle in text)
            if held:
                yield at, held


def any_query(documents: Iterable[Document], comparison: Comparison) -> Iterator[Span]:
    """Lines that hold at least one query."""
    for document in documents:
        if comparison.may_match(document):
            for at, held in comparison.lines(document):
                yield Span(document=document, start=at, end=at + 1, queries=held)


def all_on_same_line(documents: Iterable[Document], comparison: Comparison) -> Iterator[Span]:
    """Lines that hold every query."""
    wanted = len(comparison.needles)
    return (span for span in any_query(documents, comparison) if len(span.queries) == wanted)


def all_within_lines(documents: Iterable[Document], comparison: Comparison, line_count: int) -> Iterator[Span]:
    """Windows of at most ``line_count`` lines that hold every query; none that strictly contains another."""
    for document in documents:
        if comparison.may_match(document):
            yield from _windows(document, comparison, line_count)


def _windows(document: Document, comparison: Comparison, line_count: int) -> Iterator[Span]:
    wanted = len(comparison.needles)
    hits = list(comparison.lines(document))
    found: list[tuple[int, int]] = []
    for index, (start, _) in enumerate(hits):
        seen: set[int] = set()
        for at, held in hits[index:]:
            if at - start >= line_count:
                break
            seen.update(held)
            if len(seen) == wanted:
                found.append((start, at + 1))
                break
    # Starts grow, so a window contains a later one exactly when the later one does not end further down.
    smallest = len(document.lines) + 1
    kept: list[tuple[int, int]] = []
    for start, end in reversed(found):
        if end < smallest:
            kept.append((start, end))
            smallest = end
    for start, end in reversed(kept):
        yield Span(document=document, start=start, end=end, queries=tuple(range(wanted)))
