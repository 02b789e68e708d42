"""Counts citations of the memory in what agents answered: a use of the sessions they name, once a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Rewritten

from codexmem_core.readpath import citations
from codexmem_core.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codexmem_hookspecs.values.capture import Event, Session

    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.services.transcripts import TranscriptCache

_MARK = "cited"


def count_citations(
    access: MemoryAccess, session: Session, cited: Mapping[int, Sequence[str]] | Mapping[str, Sequence[str]]
) -> int:
    """``cited``: position or name of a message → ids in it. How many counted, in the memory that the session reads.

    A position names the message, so that reading it again counts nothing. Ids of sessions that the memory does not
    hold are passed over. A session of which nothing is to stay leaves no count either.
    """
    if not cited or not access.rules_for(session).learns:
        return 0
    memory = access.used_by(session)
    plugin = next((plugin for plugin, one in access.memories.items() if one.name == memory), "")
    if not plugin:
        return 0
    counted = 0
    try:
        with access.jobs(plugin) as jobs:
            for position, ids in sorted(cited.items()):
                known = [key for key in jobs.keys_of(ids) if key != (session.host, session.id)]
                counted += len(jobs.record_usage_once(session.host, session.id, str(position), known))
    except StoreError as error:
        access.log.warning("citations not counted", session=f"{session.host}:{session.id}", error=str(error))
    return counted


def count_taken_out(access: MemoryAccess, event: Event) -> None:
    """Count what a host took out of an answer, once a message however often it is told and taken in."""
    count_citations(access, event.session, {event.message or event.id: citations.parse(event.cited).session_ids})


def catch_up(access: MemoryAccess, transcripts: TranscriptCache, sessions: Iterable[Session]) -> None:
    """Read what was said since the last time in sessions that have just stopped, so that their citations count now.

    For hosts that tell when an agent has answered but cannot take the citations out of the answer.
    """
    catalogue = access.catalogue()
    for session in sessions:
        if session.host in access.hosts and access.hosts[session.host].hides_citations:
            continue  # it tells of them by events, and its transcripts hold none
        mark = f"{_MARK}:{session.host}:{session.id}"
        after = int(catalogue.mark(mark) or 0)
        try:
            position = _read(transcripts, session, after)
        except (StoreError, OSError):
            raise  # a full disk, say: the next pass reads it
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one session stops no pass
            access.log.info("not read for citations", session=f"{session.host}:{session.id}", error=str(error))
            continue
        if position > after:
            catalogue.set_mark(mark, str(position))


def _read(transcripts: TranscriptCache, session: Session, after: int) -> int:
    try:
        return _last(transcripts, session, after)
    except Rewritten:
        return _last(transcripts, session, 0)


def _last(transcripts: TranscriptCache, session: Session, after: int) -> int:
    position = 0
    for item in transcripts.tail(session, after):
        position = item.position
    return position
