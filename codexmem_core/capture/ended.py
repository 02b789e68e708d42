"""Sessions that ended without saying so: their host was killed, or went on with another session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Event, Session

from codexmem_core.store.workers import process_has_ended

if TYPE_CHECKING:
    from codexmem_core.store.catalogue import Catalogue
    from codexmem_core.store.values import Key


def ends_unheard(catalogue: Catalogue, now_ms: int) -> list[Event]:
    """An end for every session whose process is certainly gone; nothing is written down."""
    gone = [seen.key for seen in catalogue.session_processes() if process_has_ended(seen.pid, seen.started)]
    return [_end(catalogue, key, now_ms) for key in gone]


def end_of_cleared(catalogue: Catalogue, event: Event, pid: int, started: str) -> None:
    """``/clear`` goes on with a new session in the same process, and tells of the old one's end only when it quits.

    The one that was last seen there has ended, for as long as it does not go on.
    """
    if event.moment != "clear":
        return
    others = [
        seen
        for seen in catalogue.session_processes()
        if (seen.key.host, seen.pid, seen.started) == (event.host, pid, started) and seen.key.id != event.session.id
    ]
    if others:
        last = max(others, key=lambda seen: seen.seen_at_ms)
        catalogue.mark_ended(*last.key, event.at_ms)


def _end(catalogue: Catalogue, key: Key, now_ms: int) -> Event:
    try:
        session = catalogue.session(*key).session
    except KeyError:
        session = Session(host=key.host, id=key.id)
    return Event(id=f"{now_ms:013d}.gone.{key.host}.{key.id}", host=key.host, kind="end", session=session, at_ms=now_ms)
