"""One memory's extractions in one pass: claim a batch, read, ask, store; until nothing is left to claim.

Order and outcomes are those of OpenCode memory's phase 1: a failure is retried later, an empty transcript never deletes
what is already known, and a finished answer is stored although the pass is over, for the claim's token makes that safe.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.values.extract import NOTHING, Extraction, Findings

from codexmem_core.capture.guards import PROMPT_MARK
from codexmem_core.extract.pool import in_parallel
from codexmem_core.safety.redaction import redact, redact_strings
from codexmem_core.safety.text import clean
from codexmem_core.store.errors import StoreError
from codexmem_core.store.rules import UP_TO_DATE
from codexmem_core.store.values import Candidate, Claim, Key, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codexmem_hookspecs.services import Clock, Deadline, Log, Services, Transcript
    from codexmem_hookspecs.values.capture import Session, Skipped

    from codexmem_core.plugins.stages import Stages
    from codexmem_core.services.models import ChosenModel
    from codexmem_core.services.transcripts import TranscriptCache
    from codexmem_core.store.jobs import Jobs

PARALLEL_CALLS = 8
"""Model calls at once a lane (Codex 0.171: 8 stage-1 jobs)."""

SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every memory's extraction works with."""

    stages: Stages
    transcripts: TranscriptCache
    model: ChosenModel
    services_for: Callable[[str, Deadline | None], Services]
    register_own: Callable[[str, str], None]
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
        while waiting and len(report.claimed) < limit and not self._deadline.cancelled:
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
            report.refused[key] = "not yet: the limit of this pass is reached"
        return report

    def _unsettled(self, sessions: Sequence[Session]) -> dict[Key, Session]:
        """Leave out what is extracted already: ten thousand known sessions must not cost a claim each."""
        settled = self._jobs.settled()
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
        if self._deadline.cancelled:
            self._jobs.release_extraction(claim, "the pass was stopped")
            self.report.refused[key] = "not yet: the pass was stopped"
            return
        try:
            transcript = self._bench.transcripts.open(session)
            if _is_own(transcript):
                self._bench.register_own(*key)
                self._empty(claim, "codexmem's own helper session")
                return
            extraction, findings = self._ask(transcript)
            if extraction != NOTHING:
                self._store(claim, session, extraction, findings)
            elif self._has_note(key) and not any(True for _ in transcript):
                # OpenCode memory: an empty answer of a host must not erase an existing note.
                raise ValueError("the transcript is empty now; its note is kept")
            else:
                self._empty(claim, "nothing worth keeping")
        except StoreError:
            raise  # the database's trouble is not the session's: the lane ends and gives its claims back
        except Exception as error:  # noqa: BLE001
            message = redact(f"{type(error).__name__}: {error}")
            self._jobs.fail_extraction(claim, message)
            self.report.failed[key] = message
            self._bench.log.warning("extraction failed", memory=self._plugin, session=":".join(key), error=message)
        else:
            self._tell_skipped(session, transcript.skipped)

    def _has_note(self, key: Key) -> bool:
        try:
            self._jobs.output(*key)
        except KeyError:
            return False
        return True

    def _ask(self, transcript: Transcript) -> tuple[Extraction, Findings | None]:
        model, stages = self._bench.model, self._bench.stages
        request = stages.extract_request(self._plugin, transcript, model.backend.budget_bytes)
        marked = replace(request, instructions=f"{request.instructions}\n\n[{PROMPT_MARK}]")
        reply = model.ask(marked, transcript, self._bench.services_for(self._plugin, self._deadline))
        return stages.extract_result(self._plugin, request, reply), reply.findings

    def _store(self, claim: Claim, session: Session, extraction: Extraction, findings: Findings | None) -> None:
        output = Output(
            rollout_summary=clean(redact(extraction.summary)),
            raw_memory=clean(redact(extraction.raw)),
            rollout_slug=clean(redact(extraction.slug)),
            locator=session.locator,
            cwd=clean(session.cwd),
            extra={key: clean(redact(value)) for key, value in extraction.extra.items()},
            findings=None if findings is None else msgspec.json.encode(redact_strings(msgspec.to_builtins(findings))),
            retained_from_ms=self._bench.clock.now_ms() if self._bench.explicit else 0,
        )
        if self._jobs.finish_extraction(claim, output):
            self.report.extracted.append(claim.key)
        else:
            self.report.refused[claim.key] = "another worker took the session over"

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


def _is_own(transcript: Transcript) -> bool:
    """Whether the first thing said is a prompt of ours: then this is a helper's session that escaped its mark."""
    first = next((item for item in transcript if item.tier == "human"), None)
    return first is not None and PROMPT_MARK in first.text
