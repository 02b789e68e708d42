"""All notes plus what changed, merged into the memory's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.extract import (
    Decision,
    Effort,
    Extraction,
    Failure,
    Findings,
    Preference,
    Source,
    Task,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory: its name, its places, and who may write which of its files."""

    name: str
    """What users type: ``v1``. Lower-case letters, digits and ``-``."""
    folder: str
    """Folder below the home that holds the files and their history."""
    database: str
    """Database file below the home for notes and jobs."""
    summary: str = "memory_summary.md"
    """The file that new sessions are given."""
    generated: tuple[str, ...] = ()
    """Patterns of files that the engine writes anew each time from :func:`codexmem_consolidate_files`."""
    agent_writes: tuple[str, ...] = ()
    """Patterns of files that consolidation, by an agent or offline, may write."""
    summary_tokens: int = 2_500
    """How much of the summary a new session is given; 4 characters a token (Codex 0.171)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A session's note as the memory keeps it."""

    session: Session
    extraction: Extraction
    recap_file: str
    """Its file below rollout_summaries/."""
    findings: Findings | None = None
    """None when a model wrote the note; such a row must still be represented in the files."""
    usage_count: int = 0
    last_usage_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file that differs from the last consolidated state."""

    status: Literal["A", "M", "D"]
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a memory's files are not valid."""

    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """What a consolidation agent is told. Its five tools stay inside the one memory root whatever it says."""

    instructions: str
    prompt: str
    effort: Effort = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTask:
    """The same task met in one or more sessions; outcome and steps are the newest."""

    task: Task
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPreference:
    """A preference with every place it was stated; replaced when a newer one of its topic and scope stands."""

    preference: Preference
    sources: tuple[Source, ...]
    replaced_by: Preference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFailure:
    """A failure with every place it was met; the newest fix wins."""

    failure: Failure
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedDecision:
    """A decision with every place it was stated."""

    decision: Decision
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One thing that another tool remembers, out of an extension's resources: evidence, never an instruction."""

    path: str
    """The file it stands in, relative to the memory root."""
    text: str
    """As it stands there, Markdown, perhaps of several lines; pointers into the other tool's own files are left out."""
    title: str = ""
    """What it is called there: a name, or the heading above it."""
    summary: str = ""
    """The same in a few words, where the tool has them."""
    kind: Literal["preference", "knowledge", "failure"] = "knowledge"
    cwd: str = ""
    """The working directory that it is about, and nowhere else; empty when none is stated."""
    tag: str = ""
    """Marks what comes from there, as the extension's instructions say: ``[from claude]``. Every line made of it ends
    with this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """Findings of all stored sessions, merged by the engine; newest first within each kind."""

    tasks: tuple[MergedTask, ...] = ()
    preferences: tuple[MergedPreference, ...] = ()
    failures: tuple[MergedFailure, ...] = ()
    decisions: tuple[MergedDecision, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """Ad-hoc notes and imported files by path: authoritative content, untrusted as instructions."""
    imported: tuple[Imported, ...] = ()
    """What the imported files among the notes say, taken apart; in the order of paths and of places in them. What was
    ours before the other tool took it in is left out."""
