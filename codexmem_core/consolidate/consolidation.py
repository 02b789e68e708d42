"""One memory's consolidation, in the normative order of OpenCode memory's phase 2.

claim → layout → baseline → inputs → generated files → recaps → pruning → imports → diff → (nothing changed: done) →
diff file → heartbeat → consolidate → confirm the lease → check → files → new baseline → success → exports. Until the
baseline moves, a crash leaves the same diff for the next run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import ModelRefused

from codexmem_core.consolidate.agent import GaveUp
from codexmem_core.consolidate.baseline import Outdated
from codexmem_core.consolidate.draft import EditedMeanwhile
from codexmem_core.consolidate.inputs import stored_rows
from codexmem_core.consolidate.lease import Lease, LeaseLost, Stopped, TimeOver
from codexmem_core.consolidate.work import InvalidArtifacts, Work
from codexmem_core.models.refusals import NotAsked
from codexmem_core.safety.redaction import redact
from codexmem_core.store.rules import RETRY_S

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from codexmem_hookspecs.services import Deadline

    from codexmem_core.consolidate.work import Bench, Place
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.values import ConsolidationClaim, ConsolidationRefusal, Key, StoredOutput


RUNNING_S = 60.0
"""Longest wait for a consolidation that is under way: most end within seconds, an agent's may take 15 minutes."""
_LOOK_S = 0.1
MOST_AGAIN = 5
"""So often one pass begins anew; each time somebody must have changed something."""
_DONE = frozenset({"succeeded", "no_workspace_changes"})
"""Only after these: a failure has its wait, and who edits by hand may not be ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How much is consolidated and when."""

    max_inputs: int
    max_unused_days: int
    cooldown_s: int
    at_once: bool
    allowed: Callable[[Sequence[Key]], Collection[Key]]
    """Which sessions may be remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """How a consolidation ended."""

    status: str
    """``succeeded``, ``no_workspace_changes``, ``skipped_…``, ``failed_…``."""
    detail: str = ""
    inputs: int = 0
    changes: int = 0

    @property
    def failed(self) -> bool:
        """Whether the user should look."""
        return self.status.startswith("failed")


class NothingYet(Exception):  # noqa: N818 - no error
    """A model would be paid for looking at an empty folder."""


class NotesLost(Exception):  # noqa: N818 - the user decides
    """Recaps stand in the folder whose notes are gone: consolidating now would take them out of the memory."""


class Consolidation:
    """Consolidates one memory."""

    def __init__(self, place: Place, jobs: Jobs, bench: Bench, rules: Rules) -> None:
        self._place = place
        self._jobs = jobs
        self._bench = bench
        self._rules = rules

    def run(self, worker: str, deadline: Deadline) -> Consolidated:
        """Claim the memory's one consolidation job and do it; a failure is recorded and retried later.

        Another process that wants it meanwhile is refused, and may have no further pass: what that has noted is taken
        in right afterwards. A model that costs has its cooldown instead.
        """
        done = self._once(worker, deadline)
        for _ in range(MOST_AGAIN):
            is_free = not self._rules.cooldown_s
            if done.status not in _DONE or deadline.cancelled or not (is_free and self._jobs.consolidation_waits()):
                break
            again = self._once(worker, deadline)
            if again.status == "skipped_running":
                break  # whoever was quicker has seen the newest notes
            if again.status != "no_workspace_changes":
                done = again
        return done

    def _once(self, worker: str, deadline: Deadline) -> Consolidated:
        blocked = self._bench.model.blocked("consolidation", self._place.plugin)
        if blocked is not None:
            return Consolidated(status=_unasked(blocked), detail=redact(str(blocked)))
        claim = self._claimed(worker, deadline)
        if isinstance(claim, str):
            return Consolidated(status=claim, detail=self._why_it_waits(claim))
        work: Work | None = None
        try:
            _go_on(deadline)
            work = Work(self._place, self._bench)
            selected = self._jobs.select_inputs(
                self._rules.max_inputs, self._rules.max_unused_days, allowed=self._rules.allowed
            )
            result = self._consolidate(work, claim, selected, deadline)
        except Exception as error:  # noqa: BLE001 - recorded where status shows it
            ended = self._ended(claim, error)
            if work is not None:
                work.abandon(ours=not isinstance(error, LeaseLost))
            return ended
        work.export()
        return result

    def _claimed(self, worker: str, deadline: Deadline) -> ConsolidationClaim | ConsolidationRefusal:
        """Who wants it at once waits for another process that consolidates: that has not seen the newest notes."""
        wait_until = time.monotonic() + (RUNNING_S if self._rules.at_once else 0.0)
        while True:
            claim = self._jobs.claim_consolidation(
                worker=worker, cooldown_s=self._rules.cooldown_s, at_once=self._rules.at_once
            )
            if claim != "skipped_running" or deadline.cancelled or time.monotonic() >= wait_until:
                return claim
            time.sleep(_LOOK_S)

    def _why_it_waits(self, refusal: ConsolidationRefusal) -> str:
        """What is in the way; after a failure what went wrong, and when it is tried again."""
        if refusal == "skipped_running":
            then = "its next pass" if self._rules.cooldown_s else "right afterwards it"
            return f"another process consolidates; {then} takes in what is new"
        if refusal == "skipped_cooldown":
            return ""
        state = self._jobs.consolidation_snapshot()
        error = state.attempt.error if state.attempt is not None else ""
        return f"after {datetime.fromtimestamp(state.retry_at, UTC):%H:%M} UTC again; {error}"

    def _consolidate(
        self, work: Work, claim: ConsolidationClaim, selected: Sequence[StoredOutput], deadline: Deadline
    ) -> Consolidated:
        """Everything that only the owner of the claim may do; whatever is in the way is raised."""
        stored = stored_rows(selected)
        self._keep_what_was_lost(work)
        changes = work.prepare(stored)
        _go_on(deadline)
        if work.by_agent and work.needed and not stored and work.bare:
            raise NothingYet("nothing has been learned yet")
        if work.needed:
            bench = self._bench
            lease = Lease(
                lambda: self._jobs.heartbeat(claim.token),
                deadline,
                seconds=bench.limits.seconds,
                every_s=bench.heartbeat_s,
            )
            with lease:
                work.consolidate(stored, lease)
        if not self._jobs.heartbeat(claim.token):
            raise LeaseLost("another worker took the lease over")
        _go_on(deadline)
        if work.needed:
            work.publish()
        if not self._jobs.finish_consolidation(claim, selected):
            raise LeaseLost("another worker took the lease over at the very end; the files are written")
        status = "succeeded" if work.needed else "no_workspace_changes"
        return Consolidated(status=status, inputs=len(stored), changes=changes)

    def _keep_what_was_lost(self, work: Work) -> None:
        """A database that was begun anew knows little; what it does not know was not let go by anybody."""
        if self._rules.at_once or self._jobs.consolidation_snapshot().success is not None:
            return
        noted = {(output.host, output.id) for output in self._jobs.outputs()}
        if lost := work.recaps_without_notes(noted):
            raise NotesLost(
                f"{lost} recaps in {self._place.root} have no notes any more: their database was damaged or is gone. "
                "codexmem run --all takes in the sessions again that are still there; codexmem consolidate --now "
                "goes on without the others"
            )

    def _ended(self, claim: ConsolidationClaim, error: Exception) -> Consolidated:
        """Record why it did not succeed: given back when nothing is wrong with it, else to be tried again later."""
        status, retry_s = _outcome(error)
        detail = redact(str(error) if type(error) in _SPEAKING else f"{type(error).__name__}: {error}")
        if retry_s:
            told = detail if status == "failed" else f"{status}: {detail}"
            self._jobs.fail_consolidation(claim, told, retry_s=retry_s)
        else:
            self._jobs.release_consolidation(claim, detail)
        ended = Consolidated(status=status, detail=detail)
        if ended.failed:
            self._bench.log.warning("consolidation failed", error=detail)
        return ended


_SPEAKING = (InvalidArtifacts, NothingYet, NotesLost, LeaseLost, Stopped, EditedMeanwhile, Outdated, GaveUp, TimeOver)
"""Their message says all that a user needs."""


def _outcome(error: Exception) -> tuple[str, int]:
    """The status, and the seconds until it may be tried again; 0 gives the claim back, to be taken at once."""
    match error:
        case Stopped():
            outcome = "skipped_stopped", 0
        case NothingYet():
            outcome = "skipped_nothing_yet", 0
        case NotesLost():
            outcome = "failed_notes_lost", 0
        case EditedMeanwhile() | Outdated():
            outcome = "skipped_changed_meanwhile", 0
        case NotAsked():
            outcome = _unasked(error), _wait_s(error) if error.hold else 0
        case ModelRefused(kind="capacity"):
            outcome = "failed", _wait_s(error)
        case ModelRefused(kind="credentials"):
            outcome = "failed", 0  # the breaker keeps the next pass from asking again until they change
        case LeaseLost():
            outcome = "failed_heartbeat_lost", RETRY_S
        case InvalidArtifacts():
            outcome = "failed_invalid_artifacts", RETRY_S
        case _:
            outcome = "failed", RETRY_S
    return outcome


def _unasked(refused: ModelRefused) -> str:
    """Only the user can mend credentials: that has failed. A limit passes by itself."""
    return "failed_credentials" if refused.kind == "credentials" else "skipped_rate_limit"


def _go_on(deadline: Deadline) -> None:
    if deadline.cancelled:
        raise Stopped("the pass was stopped")


def _wait_s(refused: ModelRefused) -> int:
    """As long as the provider says, else an hour."""
    return round(refused.retry_after_s) or RETRY_S
