"""One memory's extractions in one pass: claim a batch, read, ask, store; until nothing is left to claim.

Order and outcomes are those of OpenCode memory's phase 1: a failure is retried later, an empty transcript never deletes
what is already known, and a finished answer is stored although the pass is over, for the claim's token makes that safe.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.values.extract import NOTHING, PROMPT_MARK, Extraction, Findings

from codexmem_core.extract.pool import in_parallel
from codexmem_core.models.refusals import NotAsked
from codexmem_core.models.retry_after import wait_s
from codexmem_core.safety.redaction import redact, redact_strings
from codexmem_core.safety.text import clean
from codexmem_core.services.bound import CALL_SECONDS
from codexmem_core.services.deadline import WorkDeadline
from codexmem_core.store.errors import StoreError
from codexmem_core.store.rules import UP_TO_DATE
from codexmem_core.store.values import Candidate, Claim, Key, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from codexmem_hookspecs.services import Clock, Deadline, Log, Services, Transcript
    from codexmem_hookspecs.values.capture import Session, Skipped
    from codexmem_hookspecs.values.extract import ExtractionRequest

    from codexmem_core.plugins.stages import Stages
    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.services.models import ChosenModel
    from codexmem_core.services.transcripts import TranscriptCache
    from codexmem_core.store.jobs import Jobs

PARALLEL_CALLS = 8
"""Model calls at once a lane (Codex 0.171: 8 stage-1 jobs)."""

SHOWN_PLACES = 3

NOT_REMEMBERED = "memory is switched off for this session"
SWITCHED_OFF = "learning is switched off ([memories] generate_memories)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every memory's extraction works with."""

    stages: Stages
    transcripts: TranscriptCache
    model: ChosenModel
    services_for: Callable[[str, Deadline | None], Services]
    register_own: Callable[[str, str], None]
    learning: Callable[[], bool]
    """Whether learning is switched on now; asked before every job."""
    remembered: Callable[[Sequence[Key]], Collection[Key]]
    """Which sessions may be remembered now: reading one can show that it may not."""
    tombstones: Callable[[], Tombstones]
    """What is forgotten now: also while a model was thinking about it."""
    clock: Clock
    log: Log
    explicit: bool
    """Whether the user chose the sessions: then retention counts from now, so that old ones are not let go at once."""
    worker: str
    """Names this process in claims, so that another one can tell whether it is still alive."""


@dataclass(slots=True, kw_only=True)
class Extracted:
    """What became of each session of a pass in one memory."""

    claimed: list[Key] = field(default_factory=list)
    extracted: list[Key] = field(default_factory=list)
    empty: dict[Key, str] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)
    """Not claimed or given back, and why."""


class ExtractionLane:
    """Extractions of one memory."""

    def __init__(self, plugin: str, jobs: Jobs, bench: Bench, deadline: Deadline) -> None:
        self._plugin = plugin
        self._jobs = jobs
        self._bench = bench
        self._deadline = deadline
        self.report = Extracted()

    def run(
        self, sessions: Sequence[Session], *, limit: int, running_cap: int, told: Callable[[Session], None]
    ) -> Extracted:
        """Extract at most ``limit`` of the sessions, in their order; ``told`` hears of each one that is done."""
        report = self.report
        waiting = self._unsettled(sessions)
        unreached = "the limit of this pass is reached"
        while waiting and len(report.claimed) < limit and not self._deadline.cancelled:
            if not self._bench.learning():
                unreached = SWITCHED_OFF
                break
            if (blocked := self._bench.model.blocked("extraction", self._plugin)) is not None:
                unreached = str(blocked)
                break
            result = self._jobs.claim_extractions(
                [Candidate(host=s.host, id=s.id, watermark_ms=s.updated_at_ms) for s in waiting.values()],
                limit=min(PARALLEL_CALLS, limit - len(report.claimed)),
                running_cap=running_cap,
                worker=self._bench.worker,
            )
            report.refused |= result.refused
            report.claimed += [claim.key for claim in result.claims]
            work = [(claim, waiting[claim.key]) for claim in result.claims]
            waiting = {candidate.key: waiting[candidate.key] for candidate in result.rest}

            def one(pair: tuple[Claim, Session]) -> None:
                self._extract(*pair)
                told(pair[1])

            in_parallel(one, work, workers=PARALLEL_CALLS if self._bench.model.backend.costs else 1)
        for key in waiting:
            report.refused[key] = f"not yet: {unreached}"
        return report

    def _unsettled(self, sessions: Sequence[Session]) -> dict[Key, Session]:
        """Leave out what is extracted already: ten thousand known sessions must not cost a claim each."""
        settled = self._jobs.settled() if sessions else {}
        waiting: dict[Key, Session] = {}
        for session in sessions:
            key = Key(session.host, session.id)
            if settled.get(key, -1) >= session.updated_at_ms:
                self.report.refused[key] = UP_TO_DATE
            else:
                waiting[key] = session
        return waiting

    def _extract(self, claim: Claim, session: Session) -> None:
        """One claim to its end. Whatever goes wrong concerns this session in this memory alone."""
        key = Key(session.host, session.id)
        off = "" if self._bench.learning() else SWITCHED_OFF
        if self._deadline.cancelled or off:
            why = off or "the pass was stopped"
            self._jobs.release_extraction(claim, why)
            self.report.refused[key] = f"not yet: {why}"
            return
        try:
            transcript = self._bench.transcripts.open(session)
            if key not in self._bench.remembered([key]):
                self._jobs.release_extraction(claim, NOT_REMEMBERED)
                self.report.refused[key] = NOT_REMEMBERED
                return
            if _is_own(transcript):
                self._bench.register_own(*key)
                self._empty(claim, "codexmem's own helper session")
                return
            if not _anything_said(transcript):
                self._silent(claim)
                return
            extraction, findings = self._ask(transcript)
            if extraction != NOTHING:
                self._store(claim, session, extraction, findings)
            else:
                self._empty(claim, "nothing worth keeping")
        except StoreError:
            raise  # the database's trouble is not the session's: the lane ends and gives its claims back
        except ModelRefused as refused:
            self._refused(claim, refused)
        except Exception as error:  # noqa: BLE001
            self._failed(claim, f"{type(error).__name__}: {error}")
        else:
            self._tell_skipped(session, transcript.skipped)

    def _refused(self, claim: Claim, refused: ModelRefused) -> None:
        """What becomes of the session: a fault of the provider or of the settings costs it no retry."""
        message = redact(str(refused))
        not_asked = isinstance(refused, NotAsked)
        if self._deadline.cancelled:
            message = "the pass was stopped"
            self._jobs.release_extraction(claim, message)
        elif refused.kind == "capacity" and (not isinstance(refused, NotAsked) or refused.hold):
            wait = round(wait_s(refused.retry_after_s))
            self._jobs.fail_extraction(claim, message, capacity=True, retry_s=wait)
        elif not_asked or refused.kind == "credentials":
            self._jobs.release_extraction(claim, message)
        else:
            self._failed(claim, message, terminal=refused.kind == "overflow")
            return
        self.report.refused[claim.key] = f"not yet: {message}"

    def _failed(self, claim: Claim, error: str, *, terminal: bool = False) -> None:
        message = redact(error)
        self._jobs.fail_extraction(claim, message, terminal=terminal)
        self.report.failed[claim.key] = message
        self._bench.log.warning("extraction failed", memory=self._plugin, session=":".join(claim.key), error=message)

    def _has_note(self, key: Key) -> bool:
        try:
            self._jobs.output(*key)
        except KeyError:
            return False
        return True

    def _ask(self, transcript: Transcript) -> tuple[Extraction, Findings | None]:
        """Ask the model; when the input does not fit, once more with half of it (Codex issue 38860)."""
        model, stages = self._bench.model, self._bench.stages
        services = self._bench.services_for(self._plugin, WorkDeadline(CALL_SECONDS, within=self._deadline))
        budget = model.backend.budget_bytes
        request = stages.extract_request(self._plugin, transcript, budget)
        try:
            reply = model.ask(_marked(request), transcript, services)
        except ModelRefused as refused:
            if refused.kind != "overflow":
                raise
            sent = len(f"{request.instructions}{request.input}".encode("utf-8", "replace"))
            request = stages.extract_request(self._plugin, transcript, min(budget, sent) // 2)
            reply = model.ask(_marked(request), transcript, services)
        return stages.extract_result(self._plugin, request, reply), reply.findings

    def _store(self, claim: Claim, session: Session, extraction: Extraction, findings: Findings | None) -> None:
        tombstones = self._bench.tombstones()

        def safe(text: str) -> str:
            return tombstones.without(clean(redact(text)), lines=True)

        found = None if findings is None else tombstones.without_strings(redact_strings(msgspec.to_builtins(findings)))
        output = Output(
            rollout_summary=safe(extraction.summary),
            raw_memory=safe(extraction.raw),
            rollout_slug=safe(extraction.slug),
            locator=session.locator,
            cwd=safe(session.cwd),
            extra={key: safe(value) for key, value in extraction.extra.items()},
            findings=None if found is None else msgspec.json.encode(found),
            retained_from_ms=self._bench.clock.now_ms() if self._bench.explicit else 0,
        )
        if self._jobs.finish_extraction(claim, output):
            self.report.extracted.append(claim.key)
        else:
            self.report.refused[claim.key] = "another worker took the session over"

    def _silent(self, claim: Claim) -> None:
        """OpenCode memory: an empty answer of a host must not erase an existing note. Raises ValueError."""
        if self._has_note(claim.key):
            raise ValueError("the transcript is empty now; its note is kept")
        self._empty(claim, "nothing was said")

    def _empty(self, claim: Claim, reason: str) -> None:
        self._jobs.finish_empty(claim)
        self.report.empty[claim.key] = reason

    def _tell_skipped(self, session: Session, skipped: Sequence[Skipped]) -> None:
        if not skipped:
            return
        places = [f"line {s.line}: {s.reason}" if s.line else f"byte {s.position}: {s.reason}" for s in skipped]
        more = [f"{len(places) - SHOWN_PLACES} more"] if len(places) > SHOWN_PLACES else []
        where = session.locator or f"{session.host} session {session.id}"
        self._bench.log.warning(
            "lines skipped", place=where, count=len(places), at="; ".join(places[:SHOWN_PLACES] + more)
        )


def _marked(request: ExtractionRequest) -> ExtractionRequest:
    """With the words that tell a helper's session, should a program keep one."""
    return replace(request, instructions=f"{request.instructions}\n\n[{PROMPT_MARK}]")


def _anything_said(transcript: Transcript) -> bool:
    """Whether anybody but the harness left a word: without one there is nothing to ask a model about."""
    return any(item.tier != "context" and item.text.strip() for item in transcript)


def _is_own(transcript: Transcript) -> bool:
    """Whether the first thing said is a prompt of ours: then this is a helper's session that escaped its mark."""
    first = next((item for item in transcript if item.tier == "human"), None)
    return first is not None and PROMPT_MARK in first.text
