"""Findings of all stored sessions, merged: repeats become one entry, contradictions stay in order of time."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from codexmem_hookspecs.values.consolidate import (
    Digest,
    MergedDecision,
    MergedFailure,
    MergedPreference,
    MergedTask,
    Stored,
)
from codexmem_hookspecs.values.extract import Decision, Failure, Findings, Preference, Source, Task

from codexmem_core.consolidate.extensions import NOTHING_TAKEN_IN
from codexmem_core.models.findings.signs import TAKEN_BACK
from codexmem_core.models.findings.topics import family, replaces, same_statement, statement_words, takes_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codexmem_core.consolidate.extensions import TakenIn

EVERYWHERE = "\0"
"""In place of a working directory: the preference holds in all of them."""
NEIGHBOURS = 64
"""Preferences of one word that are looked at when one is taken back; it keeps the merge linear."""

_NOT_WORD = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\b\d+\b")
"""Line numbers, durations and the like; part of a name (TS2304) it tells errors apart."""

Order = tuple[int, str, str, int]
Merged = TypeVar("Merged", MergedTask, MergedPreference, MergedFailure, MergedDecision)


def merge(stored: Sequence[Stored], extensions: TakenIn = NOTHING_TAKEN_IN) -> Digest:
    """The digest that a memory renders when no model consolidates. Linear in the number of findings.

    * The same thing said or met again is one entry with every source; wording, case and punctuation do not matter.
    * Preferences of one topic, stated for everywhere or in one working directory: the newest stands, the older ones
      carry ``replaced_by``; so does one of another topic that the newer one takes back outright. What is stated for
      everywhere and what was said in one directory both stand. The same statement without a stated
      scope in several projects is one entry as long as it stands in each of them.
    * A task keeps its newest outcome and steps, a failure its newest fix that is not empty.
    * Rows without findings (a model wrote them) add nothing here; the memory represents them itself.
    """
    found = [row.findings for row in stored if row.findings is not None]
    return Digest(
        tasks=_newest_first(_tasks(found)),
        preferences=_newest_first(_preferences(found)),
        failures=_newest_first(_failures(found)),
        decisions=_newest_first(_decisions(found)),
        notes=extensions.notes,
        imported=extensions.imported,
    )


@dataclass(slots=True)
class _Stated:
    """A preference while it is merged."""

    preference: Preference
    sources: list[Source]
    replaced_by: Preference | None = None


@dataclass(slots=True)
class _Family:
    """Preferences that could replace each other: of one choice or topic, in one project or everywhere."""

    known: dict[tuple[str, ...], _Stated] = field(default_factory=dict)
    standing: list[_Stated] = field(default_factory=list)


class _Neighbours:
    """Preferences of one project by the words that carry them, the newest of each word."""

    def __init__(self) -> None:
        self._by_word: dict[str, deque[_Stated]] = {}

    def add(self, entry: _Stated) -> None:
        for word in statement_words(entry.preference.quote):
            self._by_word.setdefault(word, deque(maxlen=NEIGHBOURS)).append(entry)

    def void(self, entry: _Stated) -> list[_Stated]:
        """Standing ones that the entry takes back outright, whatever their topics."""
        if not TAKEN_BACK.search(entry.preference.quote.lower()):
            return []
        near = {
            id(other): other
            for word in statement_words(entry.preference.quote)
            for other in self._by_word.get(word, ())
            if other is not entry and other.replaced_by is None
        }
        return [other for other in near.values() if takes_back(entry.preference, other.preference)]


def _preferences(found: Iterable[Findings]) -> list[MergedPreference]:
    families: dict[tuple[str, str], _Family] = {}
    projects: dict[str, _Neighbours] = {}
    for new in _in_order(preference for findings in found for preference in findings.preferences):
        # What is said in a project without a scope is meant for it at least: the newest word counts there.
        project = EVERYWHERE if new.scope == "everywhere" else new.source.cwd
        relatives = families.setdefault((project, family(new.topic)), _Family())
        neighbours = projects.setdefault(project, _Neighbours())
        statement = (new.polarity, new.topic, *same_statement(new))
        entry = relatives.known.get(statement)
        if entry is None:
            entry = relatives.known[statement] = _Stated(new, [])
            neighbours.add(entry)
        entry.preference, entry.replaced_by = new, None
        entry.sources.append(new.source)
        for other in neighbours.void(entry):
            other.replaced_by = new
        still = [entry]
        for other in relatives.standing:
            if other is entry or other.replaced_by is not None:
                continue
            if replaces(new, other.preference):
                other.replaced_by = new
            else:
                still.append(other)
        relatives.standing = still
    entries = [entry for relatives in families.values() for entry in relatives.known.values()]
    return [
        MergedPreference(preference=entry.preference, sources=_sources(entry.sources), replaced_by=entry.replaced_by)
        for entry in _over_projects(entries)
    ]


def _over_projects(entries: Iterable[_Stated]) -> list[_Stated]:
    """Standing statements without a stated scope, said in several projects, as one entry each."""
    joined: list[_Stated] = []
    alike: dict[tuple[str, ...], _Stated] = {}
    for entry in entries:
        stated = entry.preference
        if stated.scope != "unstated" or entry.replaced_by is not None:
            joined.append(entry)
            continue
        same = alike.get(key := (stated.polarity, stated.topic, *same_statement(stated)))
        if same is None:
            alike[key] = entry
            joined.append(entry)
            continue
        same.sources.extend(entry.sources)
        if _order(stated.source) > _order(same.preference.source):
            same.preference = stated
    return joined


def _tasks(found: Iterable[Findings]) -> list[MergedTask]:
    entries: dict[tuple[str, str], tuple[Task, list[Source]]] = {}
    for new in _in_order(task for findings in found for task in findings.tasks):
        _add(entries, (new.source.cwd, _plain(new.name)), new, new.source)
    return [MergedTask(task=task, sources=_sources(sources)) for task, sources in entries.values()]


def _failures(found: Iterable[Findings]) -> list[MergedFailure]:
    entries: dict[tuple[str, str], tuple[Failure, list[Source]]] = {}
    for new in _in_order(failure for findings in found for failure in findings.failures):
        key = (_plain(new.command), _NUMBER.sub("0", _plain(new.error)))
        known = entries.get(key)
        kept = known[0] if known is not None and known[0].fix and not new.fix else new
        _add(entries, key, kept, new.source)
    return [MergedFailure(failure=failure, sources=_sources(sources)) for failure, sources in entries.values()]


def _decisions(found: Iterable[Findings]) -> list[MergedDecision]:
    entries: dict[tuple[str, str], tuple[Decision, list[Source]]] = {}
    for new in _in_order(decision for findings in found for decision in findings.decisions):
        _add(entries, (new.source.cwd, _plain(new.text)), new, new.source)
    return [MergedDecision(decision=decision, sources=_sources(sources)) for decision, sources in entries.values()]


Sourced = TypeVar("Sourced", Task, Preference, Failure, Decision)


def _add(
    entries: dict[tuple[str, str], tuple[Sourced, list[Source]]], key: tuple[str, str], newest: Sourced, source: Source
) -> None:
    sources = entries[key][1] if key in entries else []
    sources.append(source)
    entries[key] = (newest, sources)


def _in_order(findings: Iterable[Sourced]) -> list[Sourced]:
    return sorted(findings, key=lambda finding: _order(finding.source))


def _order(source: Source) -> Order:
    return (source.at_ms, source.host, source.session, source.position)


def _sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Newest first, each place once."""
    unique = {(source.host, source.session, source.position): source for source in sources}
    return tuple(sorted(unique.values(), key=_order, reverse=True))


def _newest_first(merged: list[Merged]) -> tuple[Merged, ...]:
    return tuple(sorted(merged, key=lambda entry: [_order(source) for source in entry.sources[:2]], reverse=True))


def _plain(text: str) -> str:
    """Words only, so that case, punctuation and spacing make no difference; symbols alone stay what they are."""
    return _NOT_WORD.sub(" ", text.casefold()).strip() or text
