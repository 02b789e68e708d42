"""A rollout as a stream of items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_host_codex import forks
from codexmem_host_codex.reading import Reading
from codexmem_host_codex.rollouts import rollout_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Item, Session, Skipped


def read(session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
    """Items past a byte. Raises Unreadable, also when not one line of the file is a record of Codex."""
    rollout = rollout_of(session.locator, services)
    reading = Reading(rollout, session, after, services.clock.now_ms())
    if session.forked_from and not after:
        # A position that was given lies past the inherited part, so a tail needs no comparison.
        return forks.without_inherited(reading, session, rollout, services)
    return reading.entries()
