"""Citations in an agent's answer: which entries and sessions of the memory it says it used. Parsed, and taken out.

Three forms: ``<memory-citation>`` (OpenCode memory; letter case does not matter, ``<memory_citation>`` is Codex's first
name for it), ``<oai-mem-citation>`` (Codex 0.171; one that is not closed goes to the end of the text) and a code fence
``memory-citation`` (OpenCode 2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPENING = re.compile(
    r"(?i:<(?P<ours>memory[-_]citation)>)|(?P<codex><oai-mem-citation>)"
    r"|(?m:^ {0,3}(?P<fence>`{3,})memory-citation[ \t]*\r?$\n?)"
)
_CODEX_CLOSING = "</oai-mem-citation>"
_ENTRIES = re.compile(r"<citation_entries>(.*?)(?:</citation_entries>|\Z)", re.DOTALL | re.IGNORECASE)
_SESSIONS = re.compile(r"<(session|rollout|thread)_ids>(.*?)(?:</\1_ids>|\Z)", re.DOTALL | re.IGNORECASE)
_SESSION_LINE = re.compile(r"\s*sessions?:(.*)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,]+")
_LEADING_NUMBER = re.compile(r"\s*\+?(\d{1,9})")
_GAP = re.compile(r"(?:[ \t]*\r?\n){3,}")
_NOTE = "|note="


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationEntry:
    """Lines of a memory file, and what they were used for."""

    path: str
    start: int
    end: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """Everything that a text cites, in its order; session ids once each."""

    entries: tuple[CitationEntry, ...] = ()
    session_ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries or self.session_ids)


class _Block(NamedTuple):
    start: int
    end: int
    body: str
    fenced: bool


def has_markup(text: str) -> bool:
    """Whether a citation begins anywhere, closed or not."""
    return "citation" in text.lower() and _OPENING.search(text) is not None


def parse(text: str) -> Citations:
    """What the text cites. Lines that are no entries are passed over; a block with nothing in it gives nothing."""
    entries: list[CitationEntry] = []
    ids: dict[str, None] = {}
    for block in _blocks(text):
        found, cited = _fenced(block.body) if block.fenced else _tagged(block.body)
        entries += found
        ids.update(dict.fromkeys(cited))
    return Citations(entries=tuple(entries), session_ids=tuple(ids))


def strip(text: str) -> str:
    """The text without its citation blocks and without the gap that they leave; text without any is not touched.

    Of our own two forms a block that is not closed stays.
    """
    while blocks := list(_blocks(text)):  # again: what stood around a block may make one
        kept, at = [], 0
        for block in blocks:
            kept.append(text[at : block.start])
            at = block.end
        text = _GAP.sub("\n\n", "".join([*kept, text[at:]])).rstrip()
    return text


def _blocks(text: str) -> Iterator[_Block]:
    at = 0
    never_closed: set[str] = set()
    while opening := _OPENING.search(text, at):
        at = opening.end()
        if opening["codex"]:
            end = text.find(_CODEX_CLOSING, at)
            body_end, after = (len(text), len(text)) if end < 0 else (end, end + len(_CODEX_CLOSING))
        else:
            closing = _closing(opening)
            found = None if closing in never_closed else re.compile(closing).search(text, at)
            if found is None:
                never_closed.add(closing)  # nor is a later one of its kind: a long text is looked through once
                continue
            body_end, after = found.span()
        yield _Block(opening.start(), after, text[at:body_end], fenced=bool(opening["fence"]))
        at = after


def _closing(opening: re.Match[str]) -> str:
    if opening["fence"]:
        return rf"(?m)^[ \t]*{opening['fence']}[ \t]*\r?$"
    return rf"(?i)</{opening['ours'].lower()}>"


def _tagged(body: str) -> tuple[list[CitationEntry], list[str]]:
    listed = [match[1] for match in _ENTRIES.finditer(body)]
    entries = [entry for lines in listed for entry in _entries(lines.split("\n"))]
    sections = [match[2] for match in _SESSIONS.finditer(body)]
    if sections:
        return entries, [line.strip() for lines in sections for line in lines.split("\n") if line.strip()]
    if entries:
        return entries, []
    # The oldest form: nothing but ids, separated by commas.
    return [], [part for lines in listed for part in _SEPARATORS.split(lines) if part]


def _fenced(body: str) -> tuple[list[CitationEntry], list[str]]:
    ids: list[str] = []
    lines: list[str] = []
    for line in body.split("\n"):
        named = _SESSION_LINE.match(line)
        if named:
            ids += [part for part in _SEPARATORS.split(named[1]) if part]
        else:
            lines.append(line)
    return list(_entries(lines)), ids


def _entries(lines: Iterable[str]) -> Iterator[CitationEntry]:
    for line in lines:
        location, found, note = line.strip().rpartition(_NOTE)
        path, colon, span = location.rpartition(":")
        first, dash, last = span.partition("-")
        start, end = _LEADING_NUMBER.match(first), _LEADING_NUMBER.match(last)
        if found and colon and dash and path.strip() and start and end:
            told = note[1:-1] if note.startswith("[") and note.endswith("]") else note
            yield CitationEntry(path=path.strip(), start=int(start[1]), end=int(end[1]), note=told.strip())
