"""Which event does what. Everything else is no reason to send or to commit (OpenViking DESIGN: commit triggers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.capture import Reaction

from codexmem_ov_commit.commits import COMPACTION_S, Committer
from codexmem_ov_commit.place import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Event

REACTIONS: Sequence[Reaction] = (
    Reaction(kind="start"),
    Reaction(kind="stop"),
    Reaction(kind="idle"),
    Reaction(kind="compaction", wait_s=COMPACTION_S),
    Reaction(kind="end"),
)
SWEEPING = frozenset({"startup", "clear"})
"""Starts that say that some other session's context is gone. Resume never commits; compact and fork only inject."""
GOES_ON = frozenset({"start", "prompt", "stop", "compaction"})
"""Later events that show that an end was not the last of its session."""


def react(event: Event, services: Services) -> None:
    """One event, at least once. What could not be done stays marked for the next sweep."""
    if not event.session.id:
        return
    place = Place.of(services, event.host, event.session.cwd)
    captured = place.settings.flag("auto_capture") and not place.passes_over(event.session)
    committer = Committer(place, services, event.session)
    if event.kind == "start":
        if captured:
            committer.at_start()
        _started(event, place, services)
    elif captured:
        _went_on(event, committer, commit_first=_commits_first(place))


def _started(event: Event, place: Place, services: Services) -> None:
    from codexmem_ov_commit import compressor_profile
    from codexmem_ov_commit.queue import replay
    from codexmem_ov_commit.sweep import sweep_all

    compressor_profile.renew(place.settings, services, Place.of(services, "codex").states.folder)
    if event.moment == "resume":
        place.markers.clear(event.session.id, event.at_ms)
    if event.moment in SWEEPING or event.moment == "resume":
        replay(place, services)
    if event.moment in SWEEPING:
        sweep_all(services, event.session)


def _commits_first(place: Place) -> bool:
    return place.settings.flag("auto_commit_on_compact")


def _went_on(event: Event, committer: Committer, *, commit_first: bool) -> None:
    if event.kind == "compaction":
        if commit_first:
            committer.before_compaction(event.at_ms)
    elif event.kind == "end" and not GOES_ON.intersection(event.newer):
        committer.at_end(event.at_ms)
    else:
        # An end after which the session went on is no end; what was said until then is sent all the same.
        committer.on_stop(event.at_ms)
