"""One finished session in, one note out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Outcome = Literal["success", "partial", "uncertain", "fail"]
Polarity = Literal["do", "avoid"]
Scope = Literal["everywhere", "project", "unstated"]
PROMPT_MARK: Final = "codexmem-extraction-request"
"""Stands in every prompt that we send to a model, as the first line of what a memory asks. A session whose first words
hold it is our own helper's, and is never captured."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a finding was said: enough to open the place again."""

    host: str
    session: str
    position: int
    cwd: str = ""
    at_ms: int = 0
    """UNIX milliseconds; orders findings of different sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something that the user asked for, and how it ended as far as the user and the tools said."""

    name: str
    outcome: Outcome
    source: Source
    steps: tuple[str, ...] = ()
    """What was run and changed, in order; commands and paths, not prose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """A default that the user stated or corrected; a one-off request is none."""

    quote: str
    """Near to the user's own words."""
    polarity: Polarity
    topic: str
    """Key under which a later statement replaces an earlier one: lower-case words, most specific first."""
    source: Source
    scope: Scope = "unstated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A command that failed, what it said, and what then worked (empty when nothing did)."""

    command: str
    error: str
    source: Source
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A choice that the user made or accepted."""

    text: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the built-in ``extractive`` backend gives instead of JSON. Nothing in it is without a source."""

    tasks: tuple[Task, ...] = ()
    preferences: tuple[Preference, ...] = ()
    failures: tuple[Failure, ...] = ()
    decisions: tuple[Decision, ...] = ()
    files: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    """Names and error strings worth searching for."""

    @property
    def substance(self) -> bool:
        """Whether anything here is worth keeping; files and identifiers alone are not."""
        return bool(self.tasks or self.preferences or self.failures or self.decisions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    """One question to a model, made from a redacted transcript; pure data."""

    instructions: str
    input: str
    schema: Mapping[str, object]
    """JSON schema of the answer; strict, no further properties."""
    schema_name: str = "extraction"
    effort: Effort = "low"
    model: str = ""
    """The model that the user chose; the engine fills it in. Empty: the backend's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The backend's answer: JSON that fits the schema, or findings."""

    data: Mapping[str, object] | None = None
    findings: Findings | None = None
    tokens_in: int = 0
    """As the provider counted them."""
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What one memory keeps of one session."""

    summary: str
    """The recap, Markdown; becomes a file of rollout_summaries/."""
    raw: str = ""
    """The raw memory, Markdown; empty for memories that have none."""
    slug: str = ""
    """A few words for the file name; the engine makes it safe."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further fields of a memory's own, kept with the row."""


NOTHING = Extraction(summary="")
"""The session holds nothing worth keeping. Not an error, and not the same as no answer."""
