"""One memory's consolidation, in the normative order of OpenCode memory's phase 2.

claim → layout → baseline → inputs → generated files → recaps → pruning → imports → diff → (nothing changed: done) →
consolidate → check → confirm the lease → new baseline → success → exports. Until the baseline moves, a crash leaves the
same diff for the next run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.values.capture import Session
from codexmem_hookspecs.values.consolidate import Stored
from codexmem_hookspecs.values.extract import Extraction, Findings
from codexmem_hookspecs.values.interop import Mirror, Snapshot

from codexmem_core.consolidate.baseline import Baseline
from codexmem_core.consolidate.digest import merge
from codexmem_core.consolidate.layout import ensure_layout, prune_extension_resources
from codexmem_core.consolidate.recaps import recap_files, sync_recaps
from codexmem_core.consolidate.workspace import MemoryWorkspace
from codexmem_core.interop.mirror import apply_mirror
from codexmem_core.safety.files import GuardedFolder
from codexmem_core.safety.redaction import redact
from codexmem_core.safety.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from codexmem_hookspecs.services import Clock, Deadline, Log
    from codexmem_hookspecs.values.consolidate import Memory, Problem

    from codexmem_core.consolidate.baseline import WorkspaceDiff
    from codexmem_core.plugins.stages import Stages
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.values import Key, StoredOutput

COOLDOWN_S = 6 * 3600
"""Between two successes with a model that costs (Codex 0.171)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory and where it lives."""

    plugin: str
    memory: Memory
    root: str
    locks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How much is consolidated and when."""

    max_inputs: int
    max_unused_days: int
    cooldown_s: int
    bypass_cooldown: bool
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


class InvalidArtifactsError(Exception):
    """The files that came out are not valid; the previous ones were put back."""


class Consolidation:
    """Consolidates one memory."""

    def __init__(self, place: Place, jobs: Jobs, stages: Stages, rules: Rules, clock: Clock, log: Log) -> None:
        self._place = place
        self._jobs = jobs
        self._stages = stages
        self._rules = rules
        self._clock = clock
        self._log = log

    def run(self, worker: str, deadline: Deadline) -> Consolidated:
        """Claim the memory's one consolidation job and do it; a failure is recorded and retried later."""
        jobs, rules = self._jobs, self._rules
        claim = jobs.claim_consolidation(
            worker=worker, cooldown_s=rules.cooldown_s, bypass_cooldown=rules.bypass_cooldown
        )
        if isinstance(claim, str):
            return Consolidated(status=claim)
        if deadline.cancelled:
            jobs.release_consolidation(claim, "the pass was stopped")
            return Consolidated(status="skipped_stopped")
        try:
            selected = jobs.select_inputs(rules.max_inputs, rules.max_unused_days, allowed=rules.allowed)
            work = _Work(self._place, self._stages, self._clock, self._log)
            result = work.consolidate(_stored(selected))
            if not jobs.heartbeat(claim.token):
                return Consolidated(status="failed_confirm_ownership", detail="another worker took the lease over")
            work.commit()
            jobs.finish_consolidation(claim, selected)
        except InvalidArtifactsError as error:
            jobs.fail_consolidation(claim, f"failed_invalid_artifacts: {error}")
            return Consolidated(status="failed_invalid_artifacts", detail=str(error))
        except Exception as error:  # noqa: BLE001 - recorded where status shows it
            message = redact(f"{type(error).__name__}: {error}")
            jobs.fail_consolidation(claim, message)
            self._log.warning("consolidation failed", error=message)
            return Consolidated(status="failed", detail=message)
        work.export()
        return result


class _Work:
    """The steps between the claim and the success, on one memory root."""

    def __init__(self, place: Place, stages: Stages, clock: Clock, log: Log) -> None:
        self._place = place
        self._stages = stages
        self._clock = clock
        self._log = log
        removed = ensure_layout(place.root, place.memory)
        if removed:
            log.warning("links removed: a memory holds files only", place=place.root, count=removed)
        self._folder = GuardedFolder(place.root, write=True)
        self._workspace = MemoryWorkspace(place.memory, place.root)
        self._baseline = Baseline(place.root, clock, locks=place.locks)
        self._diff: WorkspaceDiff | None = None
        self._changed = False

    def consolidate(self, stored: list[Stored]) -> Consolidated:
        """Bring the files up to date; returns before anything of the baseline has moved."""
        plugin = self._place.plugin
        self._baseline.ensure()
        for path, text in self._stages.consolidate_files(plugin, stored).items():
            self._write(path, text, self._place.memory.generated)
        sync_recaps(self._folder, stored)
        prune_extension_resources(self._place.root, self._clock.now_ms())
        self._import()
        self._diff = diff = self._baseline.diff()
        problems = self._stages.consolidate_check(plugin, self._workspace)
        if not diff.changes and not problems:
            return Consolidated(status="no_workspace_changes", inputs=len(stored))
        self._changed = True
        notes = {path: self._workspace.read(path) for path in self._workspace.walk("extensions") if _is_note(path)}
        digest = merge(stored, notes)
        files = self._stages.consolidate_offline(plugin, self._workspace, stored, diff.changes, digest)
        before = {path: self._workspace.read(path) if self._workspace.exists(path) else None for path in files}
        for path, text in files.items():
            self._write(path, text, self._place.memory.agent_writes)
        problems = self._stages.consolidate_check(plugin, self._workspace)
        if problems:
            self._restore(before)
            raise InvalidArtifactsError(_told(problems))
        return Consolidated(status="succeeded", inputs=len(stored), changes=len(diff.changes))

    def commit(self) -> None:
        """The new baseline. Notes written meanwhile stay out of it, so that the next diff shows them."""
        if self._changed:
            self._baseline.commit("consolidation", seen=self._diff)
            self._baseline.fold()

    def export(self) -> None:
        """Ours for other tools; what fails is a warning and tried again after the next success."""
        if not self._changed:
            return
        files = {path: self._folder.read(path) for path in self._workspace.walk() if not path.startswith("extensions/")}
        for outcome in self._stages.interop_export(Snapshot(memory=self._place.memory.name, files=files)):
            if outcome.error is not None:
                self._log.warning("export failed", error=str(outcome.error))
            for mirror in outcome.value or ():
                self._mirror(GuardedFolder(mirror.root, write=True), mirror)

    def _import(self) -> None:
        for outcome in self._stages.interop_import(self._workspace):
            if outcome.error is not None:
                self._log.warning("import failed, nothing removed", error=str(outcome.error))
            for mirror in outcome.value or ():
                self._mirror(self._folder, mirror)

    def _mirror(self, folder: GuardedFolder, mirror: Mirror) -> None:
        try:
            apply_mirror(folder, mirror)
        except Exception as error:  # noqa: BLE001 - exchange never stops consolidation
            self._log.warning("exchange failed", extension=mirror.extension, error=str(error))

    def _write(self, path: str, text: str, allowed: Sequence[str]) -> None:
        if not matches(path, allowed):
            raise PermissionError(f"{self._place.plugin} may not write {path}; it declares {', '.join(allowed)}")
        content = clean(redact(text)).encode()
        if not self._workspace.exists(path) or self._folder.read(path) != content:
            self._folder.write(path, content)

    def _restore(self, before: Mapping[str, str | None]) -> None:
        for path, text in before.items():
            if text is None:
                self._folder.remove(path)
            else:
                self._folder.write(path, text.encode())


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits one of the memory's patterns; ``skills/**`` is everything below."""
    return any(path == p or (p.endswith("/**") and path.startswith(p[:-2])) for p in patterns)


def _stored(rows: Sequence[StoredOutput]) -> list[Stored]:
    """Rows in ascending order of session, so that files keep their order from run to run."""
    rows = sorted(rows, key=lambda row: (row.id, row.host))
    names = recap_files((row.id, row.source_updated_at, row.rollout_slug) for row in rows)
    return [
        Stored(
            session=Session(
                host=row.host, id=row.id, locator=row.locator, cwd=row.cwd, updated_at_ms=row.source_updated_at
            ),
            extraction=Extraction(
                summary=row.rollout_summary, raw=row.raw_memory, slug=row.rollout_slug, extra=row.extra
            ),
            recap_file=name,
            findings=None if row.findings is None else msgspec.json.decode(row.findings, type=Findings),
            usage_count=row.usage_count,
            last_usage_ms=row.last_usage,
        )
        for row, name in zip(rows, names, strict=True)
    ]


def _is_note(path: str) -> bool:
    return path.endswith(".md") and not path.endswith("/instructions.md")


def _told(problems: Sequence[Problem]) -> str:
    return "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
