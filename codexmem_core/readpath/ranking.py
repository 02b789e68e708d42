"""Ranked search: passages by bm25, windows of a few lines and single lines, their ranks fused.

A prototype of this found .919 of the LoCoMo sessions among its first five; whole sessions by bm25 alone gave .887.
Passages come from the index; windows and lines are weighed in the best passages only, because common words stand in
nearly every window of every file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.readpath.words import is_dense, question, searchable
from codexmem_core.store.search_index import FullTextIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from codexmem_core.readpath.documents import Document, Documents
    from codexmem_core.readpath.words import Question

PASSAGE_LINES = 80
"""A longer file is several passages, so that a handbook of many topics does not drown each of them."""
WINDOW_LINES = 5
PASSAGES_A_FILE = 3
"""At most so many of one file are given."""

_CANDIDATES = 120
_ENOUGH = 20
"""With fewer passages from the index every file is looked through for the question itself."""
_RANK_OFFSET = 10
_SHORT_STEM = 3
_SHORT_ENDINGS = frozenset(("", "s", "es", "ed", "d", "ing", "er", "y", "ies", "ied"))
_LENGTH_WEIGHT = 0.75
_SATURATION = 1.2
_TYPICAL_LINE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The best place of a passage. Lines are 0-based."""

    document: Document
    line: int
    start: int
    end: int
    """Just past the window's last line."""
    score: float


class Ranking:
    """The index over a memory's documents; call it while holding their lock, after a refresh."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._index: FullTextIndex | None = None
        self._numbers: dict[str, tuple[int, ...]] = {}
        self._passages: dict[int, tuple[str, int]] = {}  # number → path, first line
        self._next = 1
        self._lines = 0
        self._lines_of: dict[str, int] = {}

    def search(self, queries: Sequence[str], allowed: Callable[[Document], bool] | None) -> list[Ranked]:
        """Places for the questions, best first: whatever a scan for one of them, or for a word of one, finds.

        Raises StoreError when there is no FTS5.
        """
        index = self._up_to_date()
        asked = question(" ".join(queries))
        literals = [query.strip().lower() for query in queries]
        by_passage = self._best(index, asked, allowed)
        weigh = _Weights(index, asked, self._lines)
        found: dict[tuple[str, int], _Place] = {}
        for path, first in by_passage:
            document = self._documents.get(path)
            if document is not None:
                found[path, first] = _Place(document, first, weigh)
        scores: dict[tuple[str, int], float] = {}
        _fuse(scores, by_passage)
        _fuse(scores, {key: place.window_score for key, place in found.items()})
        _fuse(scores, {key: place.line_score for key, place in found.items()})
        exact = self._holding(literals, self._nearby(by_passage, allowed))
        for key in exact:
            scores[key] = scores.get(key, 0.0) + 1 / _RANK_OFFSET
        if not scores:
            exact = self._holding(asked.pieces, self._nearby((), allowed))
            scores = dict.fromkeys(exact, 1 / _RANK_OFFSET)
        return self._placed(scores, found, exact, weigh)

    def close(self) -> None:
        """Give the index back; the next search makes it anew."""
        if self._index is not None:
            self._index.close()
            self._index = None
        self._numbers.clear()
        self._passages.clear()
        self._lines_of.clear()
        self._lines = 0

    def _up_to_date(self) -> FullTextIndex:
        """Take over what changed since the last search."""
        documents = self._documents
        if self._index is None:
            self._index = FullTextIndex()
            documents.changed.update({document.path: document for document in documents})
        removed: list[int] = []
        added: list[tuple[int, str]] = []
        for path in {*documents.gone, *documents.changed}:
            numbers = self._numbers.pop(path, ())
            removed += numbers
            for number in numbers:
                del self._passages[number]
            self._lines -= self._lines_of.pop(path, 0)
        for path, document in sorted(documents.changed.items()):  # among equals the first paths are kept
            passages = _passages(document)
            self._numbers[path] = tuple(range(self._next, self._next + len(passages)))
            self._next += len(passages)
            for number, (first, body) in zip(self._numbers[path], passages, strict=True):
                self._passages[number] = (path, first)
                added.append((number, body))
            self._lines_of[path] = count = document.text.count("\n") + 1
            self._lines += count
        if removed or added:
            self._index.change(removed=removed, added=added)
        documents.gone.clear()
        documents.changed.clear()
        return self._index

    def _best(
        self, index: FullTextIndex, asked: Question, allowed: Callable[[Document], bool] | None
    ) -> dict[tuple[str, int], float]:
        documents = self._documents
        best: dict[tuple[str, int], float] = {}
        for number, score in index.best(asked.tokens, limit=_CANDIDATES if allowed is None else -1):
            key = self._passages[number]
            document = documents.get(key[0])
            if document is not None and (allowed is None or allowed(document)):
                best[key] = score
                if len(best) == _CANDIDATES:
                    break
        return best

    def _nearby(
        self, found: Collection[tuple[str, int]], allowed: Callable[[Document], bool] | None
    ) -> Iterable[Document]:
        """Where a literal text is looked for: what was found, when that is enough, else everywhere."""
        documents = self._documents
        if len(found) >= _ENOUGH:
            return [document for path in {path: None for path, _ in found} if (document := documents.get(path))]
        return documents if allowed is None else filter(allowed, documents)

    def _holding(self, needles: Sequence[str], documents: Iterable[Document]) -> dict[tuple[str, int], int]:
        """Passages in which a text stands literally, and the line of the first place in each file."""
        holding: dict[tuple[str, int], int] = {}
        for document in documents:
            lower = document.lower
            for needle in needles:
                if needle in lower:
                    line = document.line_at(lower.find(needle))
                    holding.setdefault((document.path, line - line % PASSAGE_LINES), line)
        return holding

    def _placed(
        self,
        scores: dict[tuple[str, int], float],
        found: dict[tuple[str, int], _Place],
        exact: dict[tuple[str, int], int],
        weigh: _Weights,
    ) -> list[Ranked]:
        placed: list[Ranked] = []
        given: dict[str, int] = {}
        for key in sorted(scores, key=lambda key: (-scores[key], key)):
            path, first = key
            document = self._documents.get(path)
            if document is None or given.get(path, 0) >= PASSAGES_A_FILE:
                continue
            given[path] = given.get(path, 0) + 1
            place = found.get(key) or _Place(document, first, weigh)
            line, start, end = place.around(exact[key]) if key in exact else (place.line, place.start, place.end)
            placed.append(Ranked(document=document, line=line, start=start, end=end, score=scores[key]))
        return placed


class _Weights:
    """The question's words with their rarity, and how to find each in a text."""

    def __init__(self, index: FullTextIndex, asked: Question, lines: int) -> None:
        self.terms: list[tuple[str, bool, bool]] = []  # what to find, whether anywhere, whether with short endings only
        self.rarity: list[float] = []
        for word in asked.words:
            stem = index.stem(word)
            if not stem:
                continue
            dense = is_dense(word)
            begin = word if dense else _beginning(word, stem)
            self.terms.append((begin, dense, not dense and len(stem) <= _SHORT_STEM))
            count = min(index.occurrences(stem), lines)
            self.rarity.append(math.log(1 + (lines - count + 0.5) / (count + 0.5)))
        self._sums: dict[int, float] = {}

    def weight(self, mask: int, length: int, lines: int) -> float:
        """Of the words in ``mask`` standing in a text of so many characters."""
        total = self._sums.get(mask)
        if total is None:
            total = self._sums[mask] = sum(r for at, r in enumerate(self.rarity) if mask >> at & 1)
        relative = length / (_TYPICAL_LINE * lines)
        return total * (_SATURATION + 1) / (1 + _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative))


class _Place:
    """Which window and which line of a passage answer best."""

    def __init__(self, document: Document, first: int, weigh: _Weights) -> None:
        starts = document.starts
        self._document = document
        self._first, self._last = first, min(first + PASSAGE_LINES, len(starts))
        self.line = first
        self.line_score = self.window_score = 0.0
        masks = _masks(document, first, self._last, weigh)
        end = len(document.lower)
        centre = first
        for at, mask in masks.items():
            length = (starts[at + 1] if at + 1 < len(starts) else end) - starts[at]
            score = weigh.weight(mask, length, 1)
            if score > self.line_score:
                self.line, self.line_score = at, score
            start, stop = self._window(at)
            for other in range(start, stop):
                mask |= masks.get(other, 0)  # noqa: PLW2901 - the window's words, from the line's
            length = (starts[stop] if stop < len(starts) else end) - starts[start]
            score = weigh.weight(mask, length, WINDOW_LINES)
            if score > self.window_score:
                centre, self.window_score = at, score
        self.start, self.end = self._window(centre)
        if not self.start <= self.line < self.end:
            self.line = centre

    def around(self, line: int) -> tuple[int, int, int]:
        """The line and its window."""
        return (line, *self._window(line))

    def _window(self, line: int) -> tuple[int, int]:
        if self._document.lower.startswith("#", self._document.starts[line]):
            return line, min(self._last, line + WINDOW_LINES + 2)  # what a heading is about comes after it
        side = WINDOW_LINES // 2
        return max(self._first, line - side), min(self._last, line + side + 1)


def _masks(document: Document, first: int, last: int, weigh: _Weights) -> dict[int, int]:
    """Which words stand in which line of the passage; lines with none are left out."""
    lower, starts = document.lower, document.starts
    begin, end = starts[first], starts[last] if last < len(starts) else len(lower)
    masks: dict[int, int] = {}
    for number, (text, anywhere, short) in enumerate(weigh.terms):
        bit, size = 1 << number, len(text)
        at = lower.find(text, begin, end)
        while at >= 0:
            if anywhere or (
                not (at and lower[at - 1].isalnum()) and (not short or _word_rest(lower, at + size) in _SHORT_ENDINGS)
            ):
                line = document.line_at(at)
                masks[line] = masks.get(line, 0) | bit
                at = starts[line + 1] if line + 1 < len(starts) else end  # once a line is enough
            else:
                at += size
            at = lower.find(text, at, end)
    return masks


def _beginning(word: str, stem: str) -> str:
    """What the forms of a word have in common; never empty."""
    if not word.startswith(stem[:-1]):
        return word
    # Porter leaves an e or turns a y into an i, which other forms do not have.
    return stem[:-1] if len(stem) > _SHORT_STEM and stem[-1] in "ei" else stem


def _word_rest(text: str, at: int) -> str:
    end = at
    while end < len(text) and text[end].isalnum() and end - at < 4:  # noqa: PLR2004 - no ending is longer
        end += 1
    return text[at:end]


def _passages(document: Document) -> list[tuple[int, str]]:
    """First line and indexed text of each passage."""
    text = document.text
    if text.count("\n") <= PASSAGE_LINES:
        return [(0, searchable(text))]
    lines = text.split("\n")
    return [(at, searchable("\n".join(lines[at : at + PASSAGE_LINES]))) for at in range(0, len(lines), PASSAGE_LINES)]


def _fuse(scores: dict[tuple[str, int], float], by_place: dict[tuple[str, int], float]) -> None:
    """Add one over the rank to each score; equals have one rank, and what has no score of its own gets nothing."""
    ranked = sorted(((round(score, 9), key) for key, score in by_place.items() if score > 0), reverse=True)
    rank, before = 0, -1.0
    for at, (score, key) in enumerate(ranked):
        if score != before:
            rank, before = at, score
        scores[key] = scores.get(key, 0.0) + 1 / (_RANK_OFFSET + rank)
