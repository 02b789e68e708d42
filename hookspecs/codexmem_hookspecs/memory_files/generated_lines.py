"""generated_lines.txt: fingerprints of the lines that were generated last, beside the files that hold them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codexmem_hookspecs.memory_files.document import Written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH = "generated_lines.txt"

_TITLE = "Fingerprints of the lines that codexmem wrote, so that lines of yours are known and kept."
_ENTRY = re.compile(r"^(\S+) (wrote|removed):((?: [0-9a-f]{10})+)$")
_PER_LINE = 10


def decoded(text: str) -> tuple[Mapping[str, Written], list[str]]:
    """What is remembered by path, and lines that are not ours (they stay in the file)."""
    found: dict[tuple[str, str], set[str]] = {}
    others: list[str] = []
    for line in text.split("\n"):
        entry = _ENTRY.match(line)
        if entry:
            found.setdefault((entry.group(1), entry.group(2)), set()).update(entry.group(3).split())
        elif line.strip() and line != _TITLE:
            others.append(line)
    paths = {path for path, _ in found}
    return {
        path: Written(frozenset(found.get((path, "wrote"), ())), frozenset(found.get((path, "removed"), ())))
        for path in paths
    }, others


def encoded(state: Mapping[str, Written], others: list[str]) -> str:
    """The file's text; the same for the same state."""
    lines = [_TITLE, *others]
    for path in sorted(state):
        lines += _entries(f"{path} wrote:", state[path].lines)
        lines += _entries(f"{path} removed:", state[path].removed)
    return "\n".join(lines) + "\n"


def _entries(start: str, marks: frozenset[str]) -> Iterator[str]:
    ordered = sorted(marks)
    for first in range(0, len(ordered), _PER_LINE):
        yield f"{start} {' '.join(ordered[first : first + _PER_LINE])}"
