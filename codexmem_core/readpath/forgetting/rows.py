"""Takes a text out of stored notes: single findings go, what else the session gave stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from codexmem_hookspecs.values.extract import NOTHING, Extraction, ExtractionRequest, Findings, Reply

from codexmem_core.plugins.calls import PluginError
from codexmem_core.readpath.tombstones import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    from codexmem_hookspecs.values.extract import Decision, Failure, Preference, Source, Task

    from codexmem_core.readpath.tombstones import Tombstones
    from codexmem_core.store.jobs import Jobs
    from codexmem_core.store.values import StoredOutput

    Sourced = TypeVar("Sourced", Task, Preference, Failure, Decision)

_NO_REQUEST = ExtractionRequest(instructions="", input="", schema={})
_SHORTEST_PART = 3


def clean_rows(
    jobs: Jobs,
    texts: Tombstones,
    target_words: frozenset[str],
    result: Callable[[ExtractionRequest, Reply], Extraction],
) -> int:
    """Let no row of the memory hold the texts; ``result`` makes a note of findings. Returns how many rows changed.

    Notes that were made of findings are made anew of those that are left; of others the lines go. A row of which
    nothing is left is deleted.
    """
    changed = 0
    for row in jobs.outputs():
        if not touched(row, texts):
            continue
        changed += 1
        cleaned = _cleaned(row, texts, target_words, result)
        if cleaned.raw_memory.strip() or cleaned.rollout_summary.strip():
            jobs.replace_output(cleaned)
        else:
            jobs.remove_output(row.key)
    return changed


def touched(row: StoredOutput, texts: Tombstones) -> bool:
    """Whether a row holds one of the texts."""
    fields = (row.raw_memory, row.rollout_summary, row.rollout_slug, row.cwd, row.locator, *row.extra.values())
    return any(map(texts.holds, fields)) or texts.holds((row.findings or b"").decode("utf-8", "replace"))


def _cleaned(
    row: StoredOutput,
    texts: Tombstones,
    target_words: frozenset[str],
    result: Callable[[ExtractionRequest, Reply], Extraction],
) -> StoredOutput:
    note = Extraction(
        summary=texts.without(row.rollout_summary, lines=True),
        raw=texts.without(row.raw_memory, lines=True),
        slug="" if _recalls(row.rollout_slug, target_words) else row.rollout_slug,
        extra={key: texts.without(value, lines=True) for key, value in row.extra.items()},
    )
    findings = row.findings
    if findings is not None:
        left = clean_findings(msgspec.json.decode(findings, type=Findings), texts)
        findings = msgspec.json.encode(left)
        try:
            made = result(_NO_REQUEST, Reply(findings=left))
        except (PluginError, ValueError):
            made = note
        note = Extraction(summary="") if made == NOTHING else made
    return replace(
        row,
        rollout_summary=texts.without(note.summary, lines=True),
        raw_memory=texts.without(note.raw, lines=True),
        rollout_slug=note.slug,
        extra=note.extra,
        cwd="" if texts.holds(row.cwd) else row.cwd,
        locator="" if texts.holds(row.locator) else row.locator,
        findings=findings,
    )


def clean_findings(findings: Findings, texts: Tombstones) -> Findings:
    """The findings without the texts: sentences go from what was said, whole entries from what was done."""
    tasks = (
        replace(task, steps=tuple(step for step in task.steps if not texts.holds(step)))
        for task in findings.tasks
        if not texts.holds(task.name)
    )
    preferences = (
        replace(stated, quote=texts.without(stated.quote).strip())
        for stated in findings.preferences
        if not texts.holds(stated.topic)
    )
    failures = (
        failed for failed in findings.failures if not any(map(texts.holds, (failed.command, failed.error, failed.fix)))
    )
    decisions = (replace(decided, text=texts.without(decided.text).strip()) for decided in findings.decisions)
    return Findings(
        tasks=tuple(_placed(tasks, texts)),
        preferences=tuple(stated for stated in _placed(preferences, texts) if words(stated.quote)),
        failures=tuple(_placed(failures, texts)),
        decisions=tuple(decided for decided in _placed(decisions, texts) if words(decided.text)),
        files=tuple(path for path in findings.files if not texts.holds(path)),
        identifiers=tuple(name for name in findings.identifiers if not texts.holds(name)),
    )


def _placed(found: Iterable[Sourced], texts: Tombstones) -> Iterator[Sourced]:
    for one in found:
        source: Source = one.source
        yield replace(one, source=replace(source, cwd="")) if texts.holds(source.cwd) else one


def _recalls(slug: str, target_words: frozenset[str]) -> bool:
    """Whether a name has a word of the text, or the beginning of one, for names are cut."""
    parts = [word.text for word in words(slug)]
    return any(
        part in target_words or (len(part) >= _SHORTEST_PART and any(word.startswith(part) for word in target_words))
        for part in parts
    )
