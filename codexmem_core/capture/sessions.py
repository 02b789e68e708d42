"""Asks the hosts which sessions are new or changed, and writes them into the catalogue."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import Session, SessionQuery

from codexmem_core.paths import inside_any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codexmem_core.plugins.stages import Stages
    from codexmem_core.store.catalogue import Catalogue

TRANSCRIPT_ENDINGS = (".jsonl", ".zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a pass has found."""

    changed: tuple[Session, ...]
    """New and changed sessions, one a (host, id), newest first."""
    unchanged: int
    """Sessions known before and found as they were."""
    warnings: tuple[str, ...]

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.changed) + self.unchanged


def discover(stages: Stages, catalogue: Catalogue, *, host: str = "", folder: str = "") -> Discovery:
    """Every host, or one; a host that fails is a warning and stops no other."""
    claimed: set[str] = set()
    found: dict[tuple[str, str], Session] = {}
    warnings: list[str] = []
    unchanged = 0
    # A folder is shown to every host, so that a file of another host than the one asked for is not called strange.
    for name in [host] if host and not folder else stages.host_names:
        known = Known() if folder else Known(catalogue.known_states(name))
        try:
            sessions = stages.sessions(name, SessionQuery(folder=folder, known=known, claim=claimed.add))
        except Exception as error:  # noqa: BLE001 - whatever a host raises costs only its own sessions
            warnings.append(f"{error}; the sessions of {name} wait for the next run")
            continue
        unchanged += known.count
        if known.count and not sessions:
            catalogue.keep_states(name)
        for session in sessions:
            if host and session.host != host:
                continue
            other = found.get((session.host, session.id))
            if other is None or _is_better(session, other):
                found[session.host, session.id] = session
    changed = _newest_first(found.values())
    if changed:
        catalogue.record_sessions(changed)
    if folder:
        warnings += _unclaimed(folder, claimed)
    return Discovery(changed=tuple(changed), unchanged=unchanged, warnings=tuple(warnings))


def discover_told(
    stages: Stages, catalogue: Catalogue, told: Iterable[Session], homes: Callable[[str], Iterable[str]]
) -> list[Session]:
    """Sessions that hooks told of and that lie outside of their host's homes, as this process knows them.

    A host that was started with another home than the shell of whoever looks is found by what its hooks say. Only the
    sessions themselves are taken, not their neighbours.
    """
    elsewhere: dict[tuple[str, str], set[str]] = {}
    for session in told:
        place = os.path.dirname(session.locator)
        if os.path.isfile(session.locator) and not inside_any(place, map(glob.escape, homes(session.host))):
            elsewhere.setdefault((session.host, place), set()).add(session.locator)
    found: list[Session] = []
    for (host, folder), locators in elsewhere.items():
        known = Known(catalogue.known_states(host))
        with suppress(Exception):  # a session that cannot be read waits for its next event
            sessions = stages.sessions(host, SessionQuery(folder=folder, known=known))
            found += [session for session in sessions if session.locator in locators]
    if found:
        catalogue.record_sessions(found)
    return _newest_first(found)


def parent_of(stages: Stages, session: Session) -> str:
    """Id of the session that this one is a fork of, as its own store says now; empty when it says nothing."""
    folder = os.path.dirname(session.locator)
    found = stages.sessions(session.host, SessionQuery(folder=folder)) if folder else []
    return next((other.forked_from for other in found if other.id == session.id), "")


def _newest_first(sessions: Iterable[Session]) -> list[Session]:
    return sorted(sessions, key=lambda session: (-session.updated_at_ms, session.host, session.id))


def _is_better(session: Session, other: Session) -> bool:
    """Of two stores of one session the longer wins, then the newer."""
    return (session.size_bytes, session.updated_at_ms, session.locator) > (
        other.size_bytes,
        other.updated_at_ms,
        other.locator,
    )


def _unclaimed(folder: str, claimed: set[str]) -> list[str]:
    """Name what looks like a transcript but is none, and count the other files."""
    strange: list[str] = []
    others = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if path in claimed or os.path.realpath(path) in claimed:
                continue
            if name.endswith(TRANSCRIPT_ENDINGS):
                strange.append(f"{path}: no installed host recognises this as a transcript; not read")
            else:
                others += 1
    if others:
        strange.append(f"{folder}: {others} other file{'s' if others > 1 else ''} left alone")
    return strange
