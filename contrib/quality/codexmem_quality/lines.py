"""What the files of a Memory V1 say, as typed lines with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GUIDANCE = r" -> (?P<guidance>do so|avoid it) by default"
_REPLACED = re.compile(r'^- replaced on \S+ by "(?P<by>.*?)": when .+?, the user said: "(?P<text>.*)" \(')
_STATED = re.compile(rf'^- when (?P<where>.+?), the user said: "(?P<text>.*?)"{_GUIDANCE}')
_SUMMARY = re.compile(rf'^- "(?P<text>.*?)"{_GUIDANCE} \((?P<where>.+?);')
_PROFILE = re.compile(r'^- the user said: "(?P<text>.*)" \(')
_DECIDED = re.compile(r'^- (?:in .+? )?decided(?: on \S+)?: "(?P<text>.*)"')
_STEPS = re.compile(r'^- what was done for "(?P<text>.*?)" \((?P<outcome>\w+)\): ')
_FAILED = re.compile(
    r"^- (?:in \S+: )?`(?P<command>.*?)` failed: (?P<text>.*?)"
    r" -> (?:then worked: `(?P<fix>[^`]*)`|no solution in the session)"
)
_TASK = re.compile(r"^## Task \d+: (?P<text>.*?)(?:, (?P<outcome>success|partial|uncertain|fail))?$")
_OUTCOME = re.compile(r"^Outcome: (?P<outcome>\w+)$")
_UNTITLED = {"Preferences and decisions", "Failed commands", "Earlier work, one line each", "Notes, newest first"}
"""Titles that the memory gives where no task was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that a file claims."""

    file: str
    number: int
    kind: str
    text: str
    polarity: str = ""
    scope: str = ""
    outcome: str = ""
    command: str = ""
    fix: str = ""
    by: str = ""

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.number}"

    @property
    def claim(self) -> tuple[str, ...]:
        """Equal for lines of several files that claim the same."""
        return (self.kind, self.command, self.text, self.fix)


def plain(text: str) -> str:
    """For comparison: lower case, one kind of quotation mark, single spaces."""
    return re.sub(r"\s+", " ", text.replace('"', "'").replace("`", "'").lower()).strip()


def memory_lines(folder: Path) -> Iterator[Line]:
    """All claims of MEMORY.md, memory_summary.md and the recaps, in this order."""
    recaps = sorted(path.relative_to(folder).as_posix() for path in folder.glob("rollout_summaries/*.md"))
    for name in ("MEMORY.md", "memory_summary.md", *recaps):
        path = folder / name
        if path.is_file():
            yield from _lines(name, path.read_text(encoding="utf-8"))


def _lines(file: str, text: str) -> Iterator[Line]:
    titled: tuple[int, str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if titled and (outcome := _OUTCOME.match(line)):
            yield Line(file=file, number=titled[0], kind="task", text=titled[1], outcome=outcome["outcome"])
            titled = None
        elif task := _TASK.match(line):
            if task["text"] in _UNTITLED:
                continue
            if task["outcome"]:
                yield Line(file=file, number=number, kind="task", text=task["text"], outcome=task["outcome"])
            else:
                titled = (number, task["text"])
        elif found := _bullet(file, number, line):
            yield found


def _bullet(file: str, number: int, line: str) -> Line | None:
    for read in (_preference, _work):
        if fields := read(line):
            return Line(file=file, number=number, **fields)
    return None


def _preference(line: str) -> dict[str, str]:
    if match := _REPLACED.match(line):
        return {"kind": "replaced", "text": match["text"], "by": match["by"]}
    if match := _STATED.match(line) or _SUMMARY.match(line):
        polarity = "do" if match["guidance"] == "do so" else "avoid"
        scope = "everywhere" if "anywhere" in match["where"] else "here"
        return {"kind": "preference", "text": match["text"], "polarity": polarity, "scope": scope}
    if match := _PROFILE.match(line):
        return {"kind": "preference", "text": match["text"]}
    return {}


def _work(line: str) -> dict[str, str]:
    if match := _DECIDED.match(line):
        return {"kind": "decision", "text": match["text"], "scope": "here"}
    if match := _STEPS.match(line):
        return {"kind": "task", "text": match["text"], "outcome": match["outcome"]}
    if match := _FAILED.match(line):
        return {"kind": "failure", "text": match["text"], "command": match["command"], "fix": match["fix"] or ""}
    return {}
