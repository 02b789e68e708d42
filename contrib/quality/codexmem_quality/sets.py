"""A labelled set of sessions, run through the product, and what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_quality.labels import Label, Never, read_labels, read_never
from codexmem_quality.lines import Line, memory_lines, plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WANTED = 0.8
"""Share of the labelled findings that must be found."""
_WISHES = frozenset({"preference", "decision", "replaced"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """Sessions, and the files that say what is in them."""

    name: str
    sessions: Path
    labels: Path
    never: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run remembered, held against the labels."""

    name: str
    found: tuple[tuple[Label, Line | None], ...]
    """Every label with the first line of MEMORY.md that says it."""
    unsupported: tuple[Line, ...]
    """Lines that no label supports; one that several files repeat is named once."""
    forbidden: tuple[str, ...]
    """Texts that must not be there, each with its file."""

    @property
    def wanted(self) -> int:
        """How many findings had to be found."""
        return sum(not label.optional for label, _ in self.found)

    @property
    def recall(self) -> float:
        """Share of them that were found."""
        hits = sum(line is not None for label, line in self.found if not label.optional)
        return hits / self.wanted if self.wanted else 1.0

    @property
    def good(self) -> bool:
        """Enough found, nothing made up, nothing forbidden."""
        return self.recall >= WANTED and not self.unsupported and not self.forbidden


def remember(sessions: Path, place: Path) -> dict[str, object]:
    """Run the product over a folder in a fresh home below ``place``; its report. Raises RuntimeError."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.toml").touch()
    codexmem = [sys.executable, "-m", "codexmem_core.cli", "--home", place / "home", "--config", place / "config.toml"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CODEXMEM_")}
    done = subprocess.run(
        [*map(str, codexmem), "--json", "run", "--sessions", str(sessions), "--now"],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"codexmem run ended with {done.returncode}: {done.stdout}{done.stderr}")
    report: dict[str, object] = json.loads(done.stdout)
    return report


def measured(labelled: LabelledSet, place: Path) -> Result:
    """Remember the set's sessions and hold what was written against its labels."""
    remember(labelled.sessions, place)
    return graded(labelled, place / "home")


def graded(labelled: LabelledSet, home: Path) -> Result:
    """Hold the memory of a home against a set's labels."""
    labels = read_labels(labelled.labels)
    never = read_never(labelled.never)
    lines = list(memory_lines(home / "memories"))
    handbook = [line for line in lines if line.file == "MEMORY.md"]
    unsupported: dict[tuple[str, ...], Line] = {}
    for line in lines:
        if not any(label.supports(line) or _older(label, line, labels) for label in labels):
            unsupported.setdefault(line.claim, line)
    return Result(
        name=labelled.name,
        found=tuple((label, _saying(label, handbook, labels)) for label in labels),
        unsupported=tuple(unsupported.values()),
        forbidden=tuple(_forbidden(never, lines, home)),
    )


def _saying(label: Label, lines: list[Line], labels: tuple[Label, ...]) -> Line | None:
    return next((line for line in lines if label.supports(line) or _older(label, line, labels)), None)


def _older(label: Label, line: Line, labels: tuple[Label, ...]) -> bool:
    """Whether the line marks what the label says as replaced, and a label says that it is."""
    return (
        line.kind == "replaced"
        and "preference" in label.kinds
        and any(plain(quote) in plain(line.text) for quote in label.quotes)
        and any("replaced" in other.kinds and other.supports(line) for other in labels)
    )


def _forbidden(never: Never, lines: list[Line], home: Path) -> Iterator[str]:
    for line in lines:
        if line.kind in _WISHES:
            for text in never.preferences:
                if plain(text) in plain(line.text):
                    yield f"{text!r} as a {line.kind} at {line.place}"
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        content = _content(path)
        inside = path.is_relative_to(home / "memories")
        for text in (*never.anywhere, *(never.memory if inside else ())):
            if text.encode() in content:
                yield f"{text!r} in {path.relative_to(home)}"


def _content(path: Path) -> bytes:
    """A file's bytes, git's loose objects unpacked."""
    raw = path.read_bytes()
    try:
        return zlib.decompress(raw) if "objects" in path.parts else raw
    except zlib.error:
        return raw
