"""What people labelled: findings that must come out of sessions, and texts that must not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codexmem_quality.lines import Line, plain

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One finding that somebody read out of a session before the product did."""

    session: str
    kinds: tuple[str, ...]
    """``preference``, ``replaced``, ``decision``, ``task``, ``failure``: any of these counts."""
    says: str
    quotes: tuple[str, ...] = ()
    """Fragments of the user's words; one of them must stand in the line."""
    polarity: str = ""
    """``do`` or ``avoid``; empty when both are right."""
    scope: str = ""
    """``everywhere`` or ``here``; empty when both are right."""
    outcomes: tuple[str, ...] = ()
    by: str = ""
    """Of a replaced preference: a fragment of the newer one."""
    command: str = ""
    errors: tuple[str, ...] = ()
    fix: str = ""
    """A fragment of what then worked; empty when nothing did."""
    optional: bool = False
    """Supports a line, but is not missed when it is not there."""

    def supports(self, line: Line) -> bool:
        """Whether the line says this, and says nothing else about it.

        A recap tells what was said in its session: there a statement that was replaced later still stands.
        """
        if line.kind == "preference" and "replaced" in self.kinds and line.file.startswith("rollout_summaries/"):
            return _any(self.quotes, line.text)
        if line.kind not in self.kinds:
            return False
        if line.kind == "failure":
            solved = plain(self.fix) in plain(line.fix) if self.fix else not line.fix
            return plain(self.command) in plain(line.command) and _any(self.errors, line.text) and solved
        return _any(self.quotes, line.text) and self._fits(line)

    def _fits(self, line: Line) -> bool:
        match line.kind:
            case "replaced":
                return plain(self.by) in plain(line.by)
            case "task":
                return line.outcome in self.outcomes
        return self.polarity in {"", line.polarity or self.polarity} and self.scope in {"", line.scope or self.scope}


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """Texts that must not come out."""

    anywhere: tuple[str, ...] = ()
    """In no file of the home, databases and history included."""
    memory: tuple[str, ...] = ()
    """In no file of the memory."""
    preferences: tuple[str, ...] = ()
    """In no line that tells what the user wants."""


def read_labels(path: Path) -> tuple[Label, ...]:
    """Labels of a set, in order. Raises ValueError for a field that does not exist."""
    return tuple(
        _label(session, fields)
        for session, labels in json.loads(path.read_text(encoding="utf-8")).items()
        for fields in labels
    )


def read_never(path: Path) -> Never:
    """Texts that must not come out of a set."""
    return Never(**{name: tuple(texts) for name, texts in json.loads(path.read_text(encoding="utf-8")).items()})


_MANY = {"kind": "kinds", "quote": "quotes", "error": "errors", "outcome": "outcomes"}


def _label(session: str, fields: dict[str, Any]) -> Label:
    values: dict[str, Any] = {"session": session}
    for name, value in fields.items():
        many = _MANY.get(name)
        values[many or name] = (tuple(value) if isinstance(value, list) else (value,)) if many else value
    try:
        return Label(**values)
    except TypeError as error:
        raise ValueError(f"label {fields.get('says')!r} of {session}: {error}") from error


def _any(fragments: tuple[str, ...], text: str) -> bool:
    return any(plain(fragment) in plain(text) for fragment in fragments)
