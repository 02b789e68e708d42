"""An imported Markdown file as facts: a file with front matter is one, of any other each bullet and paragraph.

Only structure is looked at, as Codex's handbook, Claude Code's memories and most notes have it. Pointers into the other
tool's own files, and its ids and dates, mean nothing here and are left out, and so is what it has from us.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from codexmem_hookspecs.values.consolidate import Imported
from codexmem_hookspecs.values.interop import OWN_TAGS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Kind = Literal["preference", "knowledge", "failure"]

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"[ \t]*(name|description|type):(.*)\Z")
_BLOCK = re.compile(r"[|>][+-]?\d?\Z")
"""A value that stands in the lines below."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)\Z")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)\Z")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_GROUP = re.compile(r"Task Group:[ \t]*", re.IGNORECASE)
_APPLIES = re.compile(r"applies_to:.*?\bcwd=(/[^;,\n]+)")
_ABOUT_GROUP = re.compile(r"(?:scope|applies_to):")
_LISTS = frozenset({"rollout_summary_files", "extension_resource_files", "keywords"})
"""Headings of Codex's handbook below which stand pointers and search words."""
_INDEX = re.compile(r"\[([^\]]*)\]\(([^)\s]+\.md)\)[ \t]*(?:[-\u2013\u2014:][ \t]*)?(.*)\Z", re.DOTALL | re.IGNORECASE)
"""A line that leads to a file: ``[Title](file.md) - what for``."""
_CITATION = re.compile(r"<((?:oai-mem|memory)-citation)>.*?(?:</\1>|\Z)", re.DOTALL)
_TASKS = re.compile(r"[ \t]*\[Task \d+(?:, *(?:Task )?\d+)*\]")
_POINTER = re.compile(r"(?:rollout_summaries|extensions)/[^\s,;)\]`]+(?:[ \t]*[\u2014\u2013-])?")
_ID = re.compile(r"\b(?:thread_id|session_id|rollout_path|updated_at|rollout_summary_file|host)=[^\s,;)]+")
_HUSK = re.compile(
    r"\((?:[\s,;]|and)*\)|[,;](?=[ \t]*(?:[,;.)]|$))|(?<=\()[ \t,;]+|[ \t]+(?=\))|(?<!`)``(?!`)", re.MULTILINE
)
"""What pointers leave behind: brackets, commas, backticks. One inside the other, hence more than once."""
_HUSKS = 3
_BLANKS = re.compile(r"[ \t]{9,}")
_WORD = re.compile(r"\w")
_NO_TITLE = re.compile(
    r"/.*|\d{4}-\d\d-\d\d|user profile|user preferences|general tips|reusable knowledge|what's in memory"
    r"|failures and how to do differently|older memory topics",
    re.IGNORECASE,
)
"""Headings that say where something stands, not what it is."""
_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"preference|feedback", re.IGNORECASE), "preference"),
    (re.compile(r"fail|pitfall|mistake|gotcha", re.IGNORECASE), "failure"),
)
_TYPES: dict[str, Kind] = {"user": "preference", "feedback": "preference"}
"""Types of Claude Code's memories; ``project`` and ``reference`` are knowledge."""


def facts_of(path: str, text: str, *, cwd: str, tag: str, beside: Collection[str]) -> Iterator[Imported]:
    """What an imported file says.

    cwd: the working directory that the file is about, if that is known; else what the file itself says counts.
    beside: names of the files in its folder: a line that only leads to one of them says nothing of its own.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    if front:
        yield from _whole(path, front[1], text[front.end() :], cwd=cwd, tag=tag)
        return
    for unit in _units(text):
        said = _plain(_without_own(unit.lines))
        index = _INDEX.match(said)
        if index is not None:
            if index[2].removeprefix("./") in beside:
                continue
            said = ": ".join(part for part in (index[1], index[3]) if part)
        if _WORD.search(said):
            yield Imported(path=path, text=said, title=unit.title, kind=unit.kind, cwd=cwd or unit.cwd, tag=tag)


def _whole(path: str, front: str, body: str, *, cwd: str, tag: str) -> Iterator[Imported]:
    """A file with a name, a description and a type is one fact."""
    fields = _fields(front)
    said = _plain(_without_own(body.strip().split("\n"))) or fields.get("description", "")
    if said and not _is_ours(fields.get("name", "") + fields.get("description", "")):
        title = fields.get("name") or os.path.basename(path).rpartition(".")[0]
        kind = _TYPES.get(fields.get("type", "").lower(), "knowledge")
        summary = _plain([fields.get("description", "")])
        yield Imported(path=path, text=said, title=title, summary=summary, kind=kind, cwd=cwd, tag=tag)


def _fields(front: str) -> dict[str, str]:
    """Name, description and type. Claude Code has written the type both beside the name and below ``metadata``."""
    found: dict[str, str] = {}
    lines = front.split("\n")
    for number, line in enumerate(lines):
        named = _FIELD.match(line)
        if named is None:
            continue
        value = named[2].strip()
        if _BLOCK.match(value):
            below = []
            for other in lines[number + 1 :]:
                if other.strip() and not other.startswith((" ", "\t")):
                    break
                below.append(other.strip())
            value = " ".join(part for part in below if part)
        elif value[:1] == value[-1:] and value[:1] in ("'", '"') and len(value) > 1:
            value = value[1:-1]
        found.setdefault(named[1], value)
    return found


@dataclass(slots=True)
class _Unit:
    """A bullet with what hangs below it, or a paragraph."""

    title: str
    kind: Kind
    cwd: str
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Headings:
    """The headings above a line."""

    open: list[tuple[int, str]] = field(default_factory=list)
    cwds: dict[int, str] = field(default_factory=dict)
    ours: int = 0
    """Level of an enclosing heading that is marked as ours; 0: none is."""

    def enter(self, level: int, title: str) -> None:
        """Go below a heading, out of those of its level and deeper."""
        self.open = [(depth, name) for depth, name in self.open if depth < level]
        self.cwds = {depth: cwd for depth, cwd in self.cwds.items() if depth < level}
        if self.ours >= level:
            self.ours = 0
        if not self.ours and _is_ours(title):
            self.ours = level
        name = _GROUP.sub("", title)
        self.open.append((level, name))
        if os.path.isabs(name):
            self.about(name)

    def about(self, cwd: str) -> None:
        """What stands below the present heading is about this working directory."""
        self.cwds[self.open[-1][0] if self.open else 0] = cwd.strip()

    @property
    def passed_over(self) -> bool:
        """Whether what stands here is no fact of theirs."""
        return self.ours > 0 or any(name in _LISTS for _, name in self.open)

    def unit(self) -> _Unit:
        """A new unit here."""
        names = " / ".join(name for _, name in self.open)
        kind: Kind = next((kind for words, kind in _KINDS if words.search(names)), "knowledge")
        cwd = self.cwds[max(self.cwds)] if self.cwds else ""
        title = next((name for _, name in reversed(self.open) if not _NO_TITLE.fullmatch(name)), "")
        return _Unit(title, kind, cwd)


def _units(text: str) -> Iterator[_Unit]:
    """The bullets and paragraphs of a text, each whole, with what its headings say about it."""
    headings = _Headings()
    unit: _Unit | None = None
    fenced = blank = False
    for line in text.split("\n"):
        fence = _FENCE.match(line) is not None
        heading = None if fenced else _HEADING.match(line)
        bullet = None if fenced else _BULLET.match(line)
        if unit is not None and not fenced:
            # Code belongs to what stands before it.
            apart = blank and not fence and not line[:1].isspace()
            begins = heading is not None or (bullet is not None and not bullet[1]) or apart
            if begins and line.strip():
                yield unit
                unit = None
        fenced ^= fence
        blank = not line.strip()
        if heading is not None:
            headings.enter(len(heading[1]), heading[2].strip(" \t#"))
        elif blank:
            continue
        elif _ABOUT_GROUP.match(line) and headings.open:
            applies = _APPLIES.match(line)
            if applies:
                headings.about(applies[1])
        elif not headings.passed_over and not (line.strip() == "v1" and not headings.open):
            unit = unit or headings.unit()
            unit.lines.append(line)
    if unit is not None:
        yield unit


def _without_own(lines: list[str]) -> list[str]:
    """Without what is marked as ours: a bullet goes with all that hangs below it, text without bullets goes whole."""
    kept: list[str] = []
    depth = 0
    dropping: int | None = None
    segments: list[tuple[int, list[str]]] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet is not None or not segments:
            depth = len(bullet[1].expandtabs(4)) if bullet is not None else depth
            segments.append((depth, []))
        segments[-1][1].append(line)
    for indent, segment in segments:
        if dropping is not None and indent > dropping:
            continue
        dropping = indent if any(_is_ours(line) for line in segment) else None
        if dropping is None:
            kept += segment
    return kept


def _plain(lines: list[str]) -> str:
    """Without the marks of a bullet and of what means nothing outside of the other tool."""
    text = "\n".join(lines).strip("\n")
    bullet = _BULLET.match(text.split("\n", 1)[0])
    if bullet is not None:
        text = bullet[2] + text[len(text.split("\n", 1)[0]) :]
    text = _BLANKS.sub(" ", text)
    for pattern in (_CITATION, _TASKS, _POINTER, _ID):
        text = pattern.sub("", text)
    for _ in range(_HUSKS):
        text = _HUSK.sub("", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _is_ours(text: str) -> bool:
    return any(tag in text.lower() for tag in OWN_TAGS)
