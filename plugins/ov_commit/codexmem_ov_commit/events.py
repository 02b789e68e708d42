"""Which event does what. Everything else is no reason to send or to commit (OpenViking DESIGN: commit triggers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import TryLater
from codexmem_hookspecs.values.capture import Reaction

from codexmem_ov_commit.commits import COMPACTION_S, Committer
from codexmem_ov_commit.place import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Event

    from codexmem_ov_commit.commits import Done

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


LATE_S = 2.0
"""Until a look for an answer that its host had not written down when its hook ran (OpenViking issue 5208)."""
LATE_MS = 30_000
"""After the hook: an answer that is not there by then is sent with the session's next event."""


def react(event: Event, services: Services) -> None:
    """One event, at least once. What could not be done stays marked for the next sweep. Raises TryLater."""
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
        done = _went_on(event, committer, commit_first=_commits_first(place))
        waits = done is not None and done.late and not event.newer
        if waits and services.clock.now_ms() - event.at_ms < LATE_MS:
            raise TryLater("the agent's answer is not in its transcript yet", after_s=LATE_S)


def _started(event: Event, place: Place, services: Services) -> None:
    from codexmem_ov_commit import compressor_profile
    from codexmem_ov_commit.queue import replay
    from codexmem_ov_commit.sweep import sweep_all

    compressor_profile.renew(place.settings, services, place.codex_folder(services))
    if event.moment == "resume":
        place.markers.clear(event.session.id, event.at_ms)
    if event.moment in SWEEPING or event.moment == "resume":
        replay(place, services)
    if event.moment in SWEEPING:
        sweep_all(services, event.session)


def _commits_first(place: Place) -> bool:
    return place.settings.flag("auto_commit_on_compact")


def _went_on(event: Event, committer: Committer, *, commit_first: bool) -> Done | None:
    if event.kind == "compaction":
        return committer.before_compaction(event.at_ms) if commit_first else None
    if event.kind == "end" and not GOES_ON.intersection(event.newer):
        return committer.at_end(event.at_ms)
    # An end after which the session went on is no end; what was said until then is sent all the same.
    return committer.on_stop(event.at_ms, event.answer)
