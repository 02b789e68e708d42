"""A Markdown file as sections, so that what a person wrote into it can be found and kept.

Every line that we write is known by a fingerprint, and those of the last written state stand in
``generated_lines.txt`` beside the files. When the files are written anew,

* a line that we did not write is the user's: it stays, verbatim, under its heading, or with its heading at the end;
* a line of ours that is gone was removed by the user: it is not written again, until the session or preference behind
  it changes;
* an edited line is both: the user's wording stays, ours does not come back.

Task numbers are not part of a fingerprint, for they shift as tasks are added. A file that is missing or empty counts as
lost, not as removed line by line. Without ``generated_lines.txt`` (a memory taken over from elsewhere, or written by an
agent) everything in the files is the user's.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.lines import size as utf8_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HEADING = re.compile(r"^(#{1,4})\s+(.+?)\s*$")
_TASK_NUMBER = re.compile(r"^Task \d+: |\s*\[Task [\d, Task]+\]\s*$")
_SPACES = re.compile(r"\s+")


@dataclass(slots=True)
class Section:
    """A heading (level 0: what stands before the first one) and the lines below it, up to the next heading."""

    level: int
    title: str
    lines: list[str] = field(default_factory=list)
    tight: bool = False
    """Whether the text stands right below the heading, as its writer put it; ours has a blank line between."""

    @property
    def heading(self) -> str:
        """The heading as a line."""
        return f"{'#' * self.level} {self.title}"


@dataclass(frozen=True, slots=True)
class Written:
    """What ``generated_lines.txt`` remembers of one file."""

    lines: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


def fingerprint(line: str) -> str:
    """Equal for a line and the same line with another task number."""
    heading = _HEADING.match(line)
    text = _TASK_NUMBER.sub("", heading.group(2) if heading else line)
    text = _SPACES.sub(" ", text).strip()
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def parse(text: str) -> list[Section]:
    """Sections of a text; a ``#`` inside a code block is no heading."""
    sections = [Section(0, "")]
    fenced = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        if heading:
            sections.append(Section(len(heading.group(1)), heading.group(2)))
        else:
            sections[-1].lines.append(line)
    return sections


def render(sections: Iterable[Section]) -> str:
    """The text of sections, one blank line around headings; a user's section keeps its own way."""
    parts: list[str] = []
    for section in sections:
        body = "\n".join(section.lines).strip("\n")
        between = "\n" if section.tight else "\n\n"
        parts.append(between.join(part for part in (section.heading if section.level else "", body) if part))
    return "\n\n".join(part for part in parts if part) + "\n"


def fingerprints(sections: Iterable[Section]) -> frozenset[str]:
    """Of all headings and lines that are not blank."""
    return frozenset(
        fingerprint(line)
        for section in sections
        for line in ([section.heading] if section.level else []) + section.lines
        if line.strip()
    )


def removed_by_user(current: str, written: Written, generated: Iterable[Section]) -> frozenset[str]:
    """Lines of ours that are not in the file any more, now or before.

    A file with generated lines that the fingerprints do not know was written after them (a crash came in between):
    then a missing line says nothing.
    """
    if not current.strip():
        return frozenset()
    present = fingerprints(parse(current))
    newer = (present & fingerprints(generated)) - written.lines
    return (written.removed if newer else written.lines | written.removed) - present


def without(sections: Sequence[Section], removed: frozenset[str]) -> list[Section]:
    """The sections without the lines that the user removed. Headings stay: new lines will come below them."""
    return [
        Section(section.level, section.title, [line for line in section.lines if fingerprint(line) not in removed])
        for section in sections
    ]


def users_own(current: str, ours: frozenset[str]) -> list[Section]:
    """What the user wrote: per section the lines that are not ours.

    A section of ours without such lines is left out, unless a section of the user's hangs below it.
    """
    kept: list[Section] = []
    for section in parse(current):
        lines: list[str] = []
        for line in section.lines:
            if line.strip():
                if fingerprint(line) not in ours:
                    lines.append(line)
            elif lines and lines[-1].strip():
                lines.append("")
        while lines and not lines[-1].strip():
            lines.pop()
        tight = bool(section.lines and section.lines[0].strip())
        kept.append(Section(section.level, section.title, lines, tight))
    wanted = [False] * len(kept)
    for index, section in enumerate(kept):
        own = bool(section.lines) or (section.level > 0 and fingerprint(section.heading) not in ours)
        if own:
            for ancestor in _ancestors(kept, index):
                wanted[ancestor] = True
    return [section for section, keep in zip(kept, wanted, strict=True) if keep]


def merged(generated: Sequence[Section], own: Sequence[Section]) -> list[Section]:
    """Generated sections, the user's lines below the same headings, the user's sections behind their parents."""
    result = [Section(section.level, section.title, list(section.lines)) for section in generated]
    known = dict(zip(reversed(_paths(result)), reversed(result), strict=True))
    for section, path in zip(own, _paths(own), strict=True):
        same = known.get(path)
        if same is not None:
            same.lines += section.lines
            continue
        added = Section(section.level, section.title, list(section.lines), section.tight)
        parent = next((known[path[:cut]] for cut in range(len(path) - 1, 0, -1) if path[:cut] in known), None)
        result.insert(len(result) if parent is None else _end_of(result, parent), added)
        known[path] = added
    return result


def size(sections: Iterable[Section]) -> int:
    """Bytes that the user's sections add to a file, headings included."""
    return sum(utf8_size(section.heading + "\n\n" + "\n".join(section.lines) + "\n\n") for section in sections)


def _ancestors(sections: Sequence[Section], index: int) -> list[int]:
    """The section itself and those that it stands below, outermost first."""
    found = [index]
    level = sections[index].level
    for before in range(index - 1, -1, -1):
        if level <= 1:
            break
        if 0 < sections[before].level < level:
            level = sections[before].level
            found.append(before)
    return found[::-1]


def _paths(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """For each section the titles from the outermost one down to its own, task numbers left out."""
    paths: list[tuple[str, ...]] = []
    open_sections: list[tuple[int, str]] = []
    for section in sections:
        while open_sections and open_sections[-1][0] >= section.level:
            open_sections.pop()
        open_sections.append((section.level, f"{section.level} {_TASK_NUMBER.sub('', section.title).strip()}"))
        paths.append(tuple(title for level, title in open_sections if level or not section.level))
    return paths


def _end_of(sections: Sequence[Section], parent: Section) -> int:
    """Where the section with all sections below it ends."""
    index = next(place for place, section in enumerate(sections) if section is parent)
    return next(
        (after for after in range(index + 1, len(sections)) if sections[after].level <= parent.level), len(sections)
    )
