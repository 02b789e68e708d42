"""A transcript, a workspace and a digest made of plain values, for tests of memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.consolidate import (
    Digest,
    MergedDecision,
    MergedFailure,
    MergedPreference,
    MergedTask,
    Stored,
)
from codexmem_hookspecs.values.extract import Decision, Failure, Findings, Preference, Source, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codexmem_hookspecs.values.capture import Item, Session, Skipped


@dataclass(frozen=True)
class ListTranscript:
    """A transcript over a list of items."""

    session: Session
    items: Sequence[Item] = ()
    fingerprint: str = "fingerprint"
    skipped: Sequence[Skipped] = ()

    def __iter__(self) -> Iterator[Item]:
        """All items."""
        return iter(self.items)

    def after(self, position: int) -> Iterator[Item]:
        """Items past a position."""
        return (item for item in self.items if item.position > position)


@dataclass
class DictWorkspace:
    """A workspace over a dictionary of texts by path."""

    memory: str
    files: dict[str, str] = field(default_factory=dict)

    def read(self, path: str) -> str:
        """The text, or empty."""
        return self.files.get(path, "")

    def exists(self, path: str) -> bool:
        """Whether it is there."""
        return path in self.files

    def walk(self, under: str = "") -> Iterator[str]:
        """Sorted paths."""
        prefix = under.rstrip("/") + "/" if under else ""
        return iter(sorted(path for path in self.files if path.startswith(prefix)))


def digest(stored: Sequence[Stored]) -> Digest:
    """Findings of all sessions side by side; the engine merges what is the same, a test rarely needs it."""
    findings = [one.findings for one in stored if one.findings is not None]
    return Digest(
        tasks=tuple(MergedTask(task=task, sources=(task.source,)) for one in findings for task in one.tasks),
        preferences=tuple(
            MergedPreference(preference=preference, sources=(preference.source,))
            for one in findings
            for preference in one.preferences
        ),
        failures=tuple(
            MergedFailure(failure=failure, sources=(failure.source,)) for one in findings for failure in one.failures
        ),
        decisions=tuple(
            MergedDecision(decision=decision, sources=(decision.source,))
            for one in findings
            for decision in one.decisions
        ),
    )


def findings(session: Session) -> Findings:
    """A little of everything, said in that session."""
    source = Source(host=session.host, session=session.id, position=10, cwd=session.cwd, at_ms=session.updated_at_ms)
    return Findings(
        tasks=(Task(name="Repair the build cache", outcome="success", source=source, steps=("make cache",)),),
        preferences=(
            Preference(
                quote="always use tabs in Makefiles", polarity="do", topic="makefile indentation", source=source
            ),
        ),
        failures=(Failure(command="make all", error="missing separator", fix="indent with a tab", source=source),),
        decisions=(Decision(text="Keep the cache below build/", source=source),),
        files=("Makefile",),
        identifiers=("missing separator",),
    )
