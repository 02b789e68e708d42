"""What goes into the job engine and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Key(NamedTuple):
    """A session's key. Equal to, and sorted like, the plain pair."""

    host: str
    id: str


Status = Literal["pending", "running", "done", "failed"]
JobKind = Literal["memory_stage1", "memory_consolidate_global"]
Failure = Literal["error", "capacity", "released"]
"""Why the last attempt did not succeed: it failed, the provider had no capacity, or it was given back unfinished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A session that could be extracted."""

    host: str
    id: str
    watermark_ms: int
    """The session's last activity, UNIX milliseconds."""

    @property
    def key(self) -> Key:
        """(host, id)."""
        return Key(self.host, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to extract one session, for as long as the lease runs and nobody else has taken it over."""

    host: str
    id: str
    token: str
    watermark_ms: int

    @property
    def key(self) -> Key:
        """(host, id)."""
        return Key(self.host, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """What became of the candidates: each is in exactly one of the three."""

    claims: tuple[Claim, ...]
    refused: Mapping[Key, str]
    """Why a candidate that was looked at was not claimed."""
    rest: tuple[Candidate, ...] = ()
    """Those after which nobody asked, because the limit or the cap was reached before; in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What an extraction gave; the claim says of which session and of which state of it."""

    rollout_summary: str
    raw_memory: str = ""
    rollout_slug: str = ""
    locator: str = ""
    cwd: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    findings: bytes | None = None
    """JSON of the findings; None when a model wrote the note."""
    retained_from_ms: int = 0
    """Retention counts from here when that is later than the session: for sessions that the user chose outright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedNote:
    """A note that another tool's memory made of a session. Times are UNIX milliseconds."""

    host: str
    id: str
    source_updated_at: int
    rollout_summary: str
    raw_memory: str = ""
    rollout_slug: str = ""
    locator: str = ""
    cwd: str = ""
    generated_at: int = 0
    usage_count: int = 0
    last_usage: int = 0
    """0 when never used."""

    @property
    def key(self) -> Key:
        """(host, id)."""
        return Key(self.host, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutput:
    """One row of the memory. Times are UNIX milliseconds."""

    host: str
    id: str
    locator: str
    cwd: str
    source_updated_at: int
    generated_at: int
    raw_memory: str
    rollout_summary: str
    rollout_slug: str
    extra: Mapping[str, str]
    usage_count: int
    last_usage: int
    """0 when never used."""
    selected: bool
    """Whether the last successful consolidation used it."""
    findings: bytes | None

    @property
    def key(self) -> Key:
        """(host, id)."""
        return Key(self.host, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationClaim:
    """The right to consolidate, for as long as the lease runs."""

    token: str
    watermark_ms: int


ConsolidationRefusal = Literal["skipped_running", "skipped_cooldown", "skipped_retry_unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job that is not done. Times are UNIX seconds, 0 for none."""

    kind: JobKind
    key: Key
    """For the consolidation ("", "global")."""
    status: Status
    retry_at: int
    lease_until: int
    retries_left: int
    error: str
    failure: Failure | Literal[""]
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionError:
    """A recent failure of an extraction."""

    key: Key
    state: Literal["due", "backoff", "provider_capacity", "other_exhausted"]
    error: str
    retry_at: int
    """UNIX seconds, 0 for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSnapshot:
    """Extractions for ``status``."""

    by_status: Mapping[str, int]
    stalled: int
    """Running by name only: their process or their lease has ended, and the next pass takes them."""
    failures: Mapping[str, int]
    """Unfinished jobs by state: due, backoff, provider_capacity, other_exhausted."""
    stale_exhausted: int
    """Exhausted before the given time; only counted."""
    recent_errors: tuple[ExtractionError, ...]
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The last time that consolidation was begun. Times are UNIX seconds."""

    started_at: int
    finished_at: int
    """0 while it runs, and when it was given back."""
    outcome: Literal["running", "stalled", "succeeded", "failed", "released"]
    """``stalled``: begun by a process that was killed; the next pass takes it."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """The last consolidation that succeeded."""

    finished_at: int
    """UNIX seconds."""
    watermark_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSnapshot:
    """The consolidation for ``status``: a queued, running or released job is no success."""

    status: Status | Literal["none"]
    attempt: Attempt | None
    success: Success | None
    retry_at: int
    """UNIX seconds, 0 for none."""
    lease_until: int
    worker: str
    covered: int
    """The most sessions that one consolidation covered."""
