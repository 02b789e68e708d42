"""Which event does what. Everything else is no reason to send or to commit (OpenViking DESIGN: commit triggers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Reaction

from codexmem_ov_commit.commits import Committer
from codexmem_ov_commit.place import Place
from codexmem_ov_commit.sweep import sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Event

COMPACTION_WAIT_S = 60.0
"""The host's patience before a compaction; 40 seconds of it may go into the lock."""
REACTIONS: Sequence[Reaction] = (
    Reaction(kind="start"),
    Reaction(kind="stop"),
    Reaction(kind="idle"),
    Reaction(kind="compaction", wait_s=COMPACTION_WAIT_S),
    Reaction(kind="end"),
    Reaction(kind="deleted"),
)
SWEEPING = frozenset({"startup", "clear"})
"""Starts that say that some other session's context is gone. Resume never commits; compact and fork only inject."""
GOES_ON = frozenset({"start", "prompt", "stop", "compaction"})
"""Later events that show that an end was not the last of its session."""


def react(event: Event, services: Services) -> None:
    """One event, at least once. What could not be done stays marked for the next sweep."""
    place = Place.of(services, event.host, event.session.cwd)
    if event.kind == "start":
        if event.moment == "resume":
            place.markers.clear(event.session.id, event.at_ms)
        elif event.moment in SWEEPING:
            sweep(place, services, but=event.session.id)
        return
    if not place.settings.flag("auto_capture") or place.passes_over(event.session):
        return
    committer = Committer(place, services)
    if event.kind in ("stop", "idle"):
        committer.on_stop(event.session, event.at_ms)
    elif event.kind == "compaction":
        committer.before_compaction(event.session, event.at_ms)
    elif not GOES_ON.intersection(event.newer):
        committer.at_end(event.session, event.at_ms)
