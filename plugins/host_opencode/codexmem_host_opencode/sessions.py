"""Which sessions there are: of every project from a server, else of the projects in which OpenCode was seen at work.

Of OpenCode 2 they come from its service, else they are those that its processes saw themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_lines import NotUnderstood
from codexmem_hookspecs.values.capture import Presence, Session
from msgspec import Struct, json

from codexmem_host_opencode import records
from codexmem_host_opencode.endpoint import NOT_FOUND, OK, session_path
from codexmem_host_opencode.host import OpenCodeHost, locator
from codexmem_host_opencode.marks import OWN_TITLE
from codexmem_host_opencode.own_sessions import sweep
from codexmem_host_opencode.reach import UNREACHABLE, Reach
from codexmem_host_opencode.second.service import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import SessionQuery

    from codexmem_host_opencode.endpoint import Endpoint
    from codexmem_host_opencode.seen import Seen

LISTINGS = "listings"
"""What the program listed, by directory, kept until something happens there: each listing takes two seconds."""

UNKNOWN = "a session of OpenCode is in a form that is not known"


class Listing(Struct):
    """One directory's."""

    stamp: str
    rows: list[records.ListedSession]


def find(query: SessionQuery, services: Services) -> Sequence[Session]:
    """Sessions that are new or changed, last used first. A folder of the user's holds none of OpenCode's."""
    if query.folder:
        return ()
    reach = Reach(services)
    first = from_server(reach, services)
    rows = [*(from_program(reach, services) if first is None else first), *from_second(reach, services)]
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
        services.log.warning(UNKNOWN, reason=str(problem))
        return None
    if info.parentID:
        return None
    return records.ListedSession(id=info.id, title=info.title, directory=info.directory, updated=info.time.updated)


def from_second(reach: Reach, services: Services) -> list[records.ListedSession]:
    """Of OpenCode 2. What a process alone has seen is better than nothing, and is said to be no more."""
    if reach.service is None and reach.second_seen:
        services.log.warning(
            "OpenCode 2's service is unavailable: only sessions that its processes saw are read",
            reason=reach.no_service,
        )
    rows: list[records.ListedSession] = []
    for service in [reach.service] if reach.service is not None else reach.seconds:
        try:
            found = list(service.sessions())
        except NotUnderstood as problem:
            services.log.warning("OpenCode 2 does not list its sessions", url=service.url, reason=str(problem))
            continue
        for row in found:
            try:
                info = records.understood(row, Row)
            except NotUnderstood as problem:
                services.log.warning(UNKNOWN, reason=str(problem))
                continue
            if not info.parentID:
                told = records.ListedSession(info.id, info.title, info.folder, info.time.updated)
                rows.append(told)
    return rows


def from_program(reach: Reach, services: Services) -> list[records.ListedSession]:
    """Of the projects in which OpenCode was seen at work. Those that cannot be listed now are listed later."""
    rows: list[records.ListedSession] = []
    # Where OpenCode 2 has taken over, that the first is gone is no fault.
    tell = services.log.info if reach.prefers_second else services.log.warning
    for place in reach.seen:
        try:
            rows += _listing(place, reach, services).rows
        except FileNotFoundError:
            tell("OpenCode's sessions are not read", reason=UNREACHABLE, program=reach.program.path)
            break
        except NotUnderstood as problem:
            tell("OpenCode's sessions are not listed", directory=place.word.directory, reason=str(problem))
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
            services.log.warning(UNKNOWN, reason=str(problem))


def presence(sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
    """Gone only when everything of this user's OpenCode that was seen here says that it knows no such session.

    OpenCode 1 and 2 keep sessions of their own. A process that tells what it saw itself can only say that one is there.
    """
    reach = Reach(services)
    servers: list[tuple[Endpoint, str, bool]] = [(reach.server, "", True)] if reach.server is not None else []
    servers += [(service, "/api", service.knows_all) for service in reach.seconds]
    silent = (reach.server is None and bool(reach.seen)) or (reach.service is None and bool(reach.second_seen))
    if not servers:
        return {}
    found: dict[str, Presence] = {}
    for session in sessions:
        path = session_path(session.id)
        answers = [(server.get(start + path).status, knows) for server, start, knows in servers]
        if any(status == OK for status, _ in answers):
            found[session.id] = Presence.present
        else:
            gone = not silent and all(status == NOT_FOUND for status, knows in answers if knows)
            found[session.id] = Presence.gone if gone else Presence.unknown
    return found
