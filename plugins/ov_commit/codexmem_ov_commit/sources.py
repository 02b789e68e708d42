"""What sessions are given from the server: the profile at their start, the archive when they go on, recall at prompts.

A server that is not there is no reason to say anything, and none to wait: it is asked for a sign of life first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.values.read import ContextBlock, ContextSource

from codexmem_ov_commit import utf16
from codexmem_ov_commit.archive import archive_block
from codexmem_ov_commit.compressor import Compressor
from codexmem_ov_commit.given import Given
from codexmem_ov_commit.names import server_name
from codexmem_ov_commit.place import Place
from codexmem_ov_commit.profile import profile_block
from codexmem_ov_commit.queries import Query
from codexmem_ov_commit.recall import recall
from codexmem_ov_commit.settings import Settings
from codexmem_ov_commit.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.read import ContextRequest

START_MS: Final = 10_000
"""For what a session's start is given; a server that is slower has nothing to say then."""
RECALL_MS: Final = 120_000
"""Longest time that a prompt may wait, whatever is set."""
NOTHING: Final = ContextBlock(source="OpenViking", text="")


def sources() -> Sequence[ContextSource]:
    """In the order in which they are said."""
    return (
        ContextSource(
            name="openviking-recall",
            moments=frozenset({"prompt"}),
            deadline_ms=RECALL_MS,
            provide=recalled,
            allowed_ms=_recall_ms,
        ),
        ContextSource(
            name="openviking-archive",
            moments=frozenset({"resume"}),
            deadline_ms=START_MS,
            provide=archive,
            priority=60,
            allowed_ms=lambda services: START_MS if Settings(services).flag("resume_archive_inject") else 0,
        ),
        ContextSource(
            name="openviking-profile",
            moments=frozenset({"startup", "clear", "compact", "fork", "resume"}),
            deadline_ms=START_MS,
            provide=profile,
            priority=90,
            allowed_ms=lambda services: 0 if Settings(services).flag("no_auto_inject") else START_MS,
        ),
    )


def recalled(request: ContextRequest, services: Services) -> ContextBlock:
    """What the server remembers about the prompt. Nothing of ours is read for it but the settings."""
    place = Place.of(services, request.host, request.session.cwd)
    settings, prompt = place.settings, utf16.trimmed(request.prompt)
    if not settings.flag("auto_recall") or utf16.length(prompt) < settings.number("min_query_length"):
        return NOTHING
    if place.passes_over(request.session) or place.reach.paused() or not place.reach.probe().ok:
        return NOTHING
    session = server_name(request.session.host, request.session.id) if request.session.id else ""
    came = recall(place.server, services, settings.connection.url, Query.of(prompt, session, settings))
    digest = Compressor(settings, services, place.codex_folder(services)).digest(prompt, came.found)
    return ContextBlock(source="OpenViking recall", text=wrapped(digest, "auto-recall", "digest"))


def _recall_ms(services: Services) -> int:
    settings = Settings(services)
    return min(RECALL_MS, settings.number("recall_timeout_ms")) if settings.flag("auto_recall") else 0


def profile(request: ContextRequest, services: Services) -> ContextBlock:
    """Who the user is; not said again to a session that goes on and still has the same."""
    place = Place.of(services, request.host, request.session.cwd)
    if place.settings.flag("no_auto_inject") or place.passes_over(request.session):
        return NOTHING
    if not place.reach.probe().ok:
        return NOTHING
    text = profile_block(place.server, place.settings.number("profile_token_budget"))
    given = Given(services)
    if not text or (request.moment == "resume" and request.keeps_context and given.has(request.session, text)):
        return NOTHING
    if not services.deadline.cancelled:
        given.note(request.session, text)
    return ContextBlock(source="OpenViking profile", text=text)


def archive(request: ContextRequest, services: Services) -> ContextBlock:
    """What was committed of the session that goes on."""
    place = Place.of(services, request.host, request.session.cwd)
    settings, session = place.settings, request.session
    if not session.id or not settings.flag("resume_archive_inject") or place.passes_over(session):
        return NOTHING
    if place.states.load(session.id).live:
        return NOTHING
    alive = place.reach.probe()
    if not alive.ok:
        return NOTHING
    text = archive_block(
        place.server,
        server_name(session.host, session.id),
        alive.text("version"),
        tokens=settings.number("resume_archive_token_budget"),
        units=settings.number("resume_archive_max_chars"),
    )
    return ContextBlock(source="OpenViking archive", text=text)
