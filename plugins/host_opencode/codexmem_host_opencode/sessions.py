"""Which sessions there are: of every project from a server, else of the projects in which OpenCode was seen at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_lines import NotUnderstood
from codexmem_hookspecs.values.capture import Presence, Session
from msgspec import Struct, json

from codexmem_host_opencode import records
from codexmem_host_opencode.host import OpenCodeHost, locator
from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.own_sessions import sweep
from codexmem_host_opencode.reach import UNREACHABLE, Reach
from codexmem_host_opencode.server import NOT_FOUND, OK, session_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import SessionQuery

    from codexmem_host_opencode.seen import Seen

LISTINGS = "listings"
"""What the program listed, by directory, kept until something happens there: each listing takes two seconds."""


class Listing(Struct):
    """One directory's."""

    stamp: str
    rows: list[records.ListedSession]


def find(query: SessionQuery, services: Services) -> Sequence[Session]:
    """Sessions that are new or changed, last used first. A folder of the user's holds none of OpenCode's."""
    if query.folder:
        return ()
    reach = Reach(services)
    rows = from_server(reach, services)
    if rows is None:
        rows = from_program(reach, services)
    now_ms = services.clock.now_ms()
    found: dict[str, Session] = {}
    for row in rows:
        if row.title.startswith(OWN_TITLE) or query.known.holds(locator(row.id), stamp(row)):
            continue
        found[row.id] = described(row, now_ms)
    return sorted(found.values(), key=lambda session: (session.updated_at_ms, session.id), reverse=True)


def stamp(row: records.ListedSession) -> str:
    """OpenCode moves a session's time with everything that happens in it."""
    return f"{int(row.updated)}"


def described(row: records.ListedSession, now_ms: int) -> Session:
    """A row as a session."""
    updated_at_ms = max(0, min(int(row.updated), now_ms))
    return Session(
        host=OpenCodeHost.name,
        id=row.id,
        locator=locator(row.id),
        cwd=row.directory,
        updated_at_ms=updated_at_ms,
        touched_at_ms=updated_at_ms,
        stamp=stamp(row),
        revision=stamp(row),
    )


def from_server(reach: Reach, services: Services) -> list[records.ListedSession] | None:
    """Of every project; None when no server gives them."""
    if reach.server is None:
        return None
    try:
        given = list(reach.server.sessions())
    except NotUnderstood as problem:
        services.log.warning("OpenCode's server does not list its sessions", url=reach.server.url, reason=str(problem))
        return None
    sweep(reach.server, given, services)
    return [one for row in given if (one := _from_api(row, services)) is not None]


def _from_api(row: object, services: Services) -> records.ListedSession | None:
    """One row; None for a subagent's, and for one that is no session."""
    try:
        info: records.SessionInfo = records.understood(row, records.SessionInfo)
    except NotUnderstood as problem:
        services.log.warning("a session of OpenCode is in a form that is not known", reason=str(problem))
        return None
    if info.parentID:
        return None
    return records.ListedSession(id=info.id, title=info.title, directory=info.directory, updated=info.time.updated)


def from_program(reach: Reach, services: Services) -> list[records.ListedSession]:
    """Of the projects in which OpenCode was seen at work. Those that cannot be listed now are listed later."""
    rows: list[records.ListedSession] = []
    for place in reach.seen:
        try:
            rows += _listing(place, reach, services).rows
        except FileNotFoundError:
            services.log.warning("OpenCode's sessions are not read", reason=UNREACHABLE, program=reach.program.path)
            break
        except NotUnderstood as problem:
            services.log.warning(
                "OpenCode's sessions are not listed", directory=place.word.directory, reason=str(problem)
            )
    return rows


def _listing(place: Seen, reach: Reach, services: Services) -> Listing:
    """A directory's sessions, asked for again only after something has happened there."""
    path = f"{LISTINGS}/{place.name.rpartition('/')[2]}"
    try:
        kept = records.understood(records.decoded(services.folder.read(path)), Listing)
    except (OSError, Refused, NotUnderstood):
        kept = Listing(stamp="", rows=[])
    if kept.stamp == place.stamp:
        return kept
    try:
        listed = reach.program.listed(place.word.directory)
    except FileNotFoundError:
        if kept.rows or not _is_there(place.word.directory, services):
            return kept  # the directory is gone; what was said in it is not
        raise
    rows = list(_rows(listed, services))
    fresh = Listing(stamp=place.stamp, rows=rows)
    services.folder.write(path, json.encode(fresh))
    return fresh


def _is_there(directory: str, services: Services) -> bool:
    try:
        next(iter(services.open_folder(directory).scan()), None)
    except (OSError, Refused):
        return False
    return True


def _rows(listed: Iterable[object], services: Services) -> Iterator[records.ListedSession]:
    for row in listed:
        try:
            yield records.understood(row, records.ListedSession)
        except NotUnderstood as problem:
            services.log.warning("a session of OpenCode is in a form that is not known", reason=str(problem))


def presence(sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
    """Gone only when this user's own server says that it knows no such session."""
    server = Reach(services).server
    if server is None:
        return {}
    states = {OK: Presence.present, NOT_FOUND: Presence.gone}
    return {
        session.id: states.get(server.get(session_path(session.id)).status, Presence.unknown) for session in sessions
    }
