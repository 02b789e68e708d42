"""What a user wants forgotten: our files about a session, and the session on the server; the rest is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import Forgotten

from codexmem_ov_commit import queue, report
from codexmem_ov_commit.given import Given
from codexmem_ov_commit.locks import session_lock
from codexmem_ov_commit.names import server_name
from codexmem_ov_commit.place import Place

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Folder, Services
    from codexmem_hookspecs.values.capture import Session
    from codexmem_hookspecs.values.records import Selector

STORE = "OpenViking"
NOT_FOUND = 404
LOCK_WAIT_S = 10.0


def forget(selector: Selector, services: Services) -> Forgotten:
    """Raises OSError while the server does not answer for a session that was sent there."""
    removed, left = 0, list[str]()
    for session in selector.sessions:
        count, stays = _session(session, services)
        removed += count
        left += stays
    if selector.text:
        place = Place.of(services, "codex")
        removed += place.rejected.forget_text(selector.text)
        removed += queue.forget_text(_queue(place, services), selector.text)
        left.append(f"{place.settings.connection.url} may hold the text: search there")
    return Forgotten(store=STORE, removed=removed, left=tuple(left))


def _queue(place: Place, services: Services) -> Folder:
    return services.open_folder(place.settings.path("pending_dir"), write=True)


def _session(session: Session, services: Services) -> tuple[int, list[str]]:
    place, name = Place.of(services, session.host, session.cwd), server_name(session.host, session.id)
    removed = place.rejected.forget(name) + queue.forget(_queue(place, services), name)
    report.forget(services, name)
    Given(services).forget(session)
    with session_lock(place.states.folder, session.id, services.clock, services.deadline, wait_s=LOCK_WAIT_S) as held:
        if not held:
            raise OSError(f"another process works on {name}")
        was_sent = place.states.load(session.id).may_be_on_server
        answer = place.server.remove(name)
        if not answer.ok and answer.status != NOT_FOUND and was_sent:
            raise OSError(f"the server did not remove {name}: {answer.error}")
        removed += place.states.remove(session.id) + place.markers.clear_all(session.id) + answer.ok
    if answer.ok:
        return removed, [f"memories that the server made of {name} before: search them at {place.server.url}"]
    if answer.status != NOT_FOUND:
        return removed, [f"{name} on {place.server.url}, if it was ever sent there: {answer.error}"]
    return removed, []
