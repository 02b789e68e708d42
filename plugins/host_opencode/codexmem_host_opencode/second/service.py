"""What answers for OpenCode 2: the service that it registers, which knows every session, else processes of it.

Such a process tells by the plugin file what it saw itself. Nothing here starts a service or gives a request twice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.json_lines import NotUnderstood
from msgspec import Struct, field

from codexmem_host_opencode import records
from codexmem_host_opencode.endpoint import (
    NOT_FOUND,
    OK,
    PAGE,
    PROBE_S,
    Endpoint,
    basic,
    given,
    listed,
    session_path,
    states,
)
from codexmem_host_opencode.second.messages import adapted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Services

    from codexmem_host_opencode.seen import Seen

REGISTRATION = "service.json"
"""In OpenCode's state folder: where its service listens, and its password."""
READINESS = ("/api/info", "/api/status", "/api/health")
"""Routes by age, the newest first; an older one is asked only where a newer one does not exist."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Unavailable(Exception):  # noqa: N818 - a state that a caller handles
    """Nobody answers; the message says why."""


class Registration(Struct):
    """What OpenCode writes when its service has started."""

    url: str
    password: str = ""


class Ready(Struct):
    """What tells that somebody is ready."""

    version: str
    pid: int
    healthy: bool = True
    observed: bool = False
    """Of a process: it knows only what it saw itself."""


class _Place(Struct):
    directory: str = ""


class Row(Struct):
    """A session as it is listed, of this and of older forms."""

    id: str
    title: str = ""
    parentID: str | None = None  # noqa: N815 - the field's name
    directory: str | None = None
    location: _Place | None = None
    time: records.Times = field(default_factory=records.Times)
    revert: records.Revert | None = None

    @property
    def folder(self) -> str:
        """Where it works."""
        return self.directory or (self.location.directory if self.location is not None else "")


@dataclass(frozen=True, slots=True)
class Service(Endpoint):
    """The registered one, or a process that the plugin file works in."""

    ready: Ready
    registered: bool = False

    @property
    def knows_all(self) -> bool:
        """Whether a session that it does not list is not there."""
        return self.registered or not self.ready.observed

    def sessions(self) -> Iterator[object]:
        """Sessions without subagents, last used first. Raises NotUnderstood."""
        cursor = ""
        told: set[str] = set()
        while True:
            more = f"&cursor={quote(cursor)}" * bool(cursor)
            rows, cursor = _page(given(self.get(f"/api/session?limit={PAGE}&order=desc&parentID=null{more}")))
            yield from rows
            if not rows or not cursor or cursor in told:
                return
            told.add(cursor)

    def conversation(self, session_id: str) -> records.Conversation:
        """A session and everything that was said in it, in OpenCode 1's form. Raises NotUnderstood."""
        path = f"/api{session_path(session_id)}"
        row = records.understood(_bare(given(self.get(path))), Row)
        info = records.SessionInfo(
            id=row.id, title=row.title, directory=row.folder, parentID=row.parentID, time=row.time, revert=row.revert
        )
        return records.Conversation(info=info, messages=adapted(self._messages(path), row.folder))

    def _messages(self, path: str) -> list[object]:
        cursor = ""
        told: set[str] = set()
        messages: list[object] = []
        while True:
            query = f"cursor={quote(cursor)}" if cursor else "order=asc"  # a page after the first says no order
            rows, cursor = _page(given(self.get(f"{path}/message?{query}")))
            messages += rows
            if not cursor:
                return messages
            if cursor in told:
                raise NotUnderstood("the same page of messages was given twice")
            told.add(cursor)


def registered(services: Services, pids: Collection[int]) -> Service:
    """The service that is registered. Raises Unavailable.

    ``pids``: of processes of OpenCode 2 that were seen at work. A service on another machine must be one of them; on
    this machine it may be another, as when an editor has an OpenCode of its own.
    """
    registration = _registration(services)
    url = registration.url.rstrip("/")
    service = ready(url, basic(registration.password), services)
    if service.ready.pid not in pids:
        if not is_loopback(url):
            raise Unavailable(f"{url} is process {service.ready.pid}, and no OpenCode that was seen at work")
        services.log.info("OpenCode's service is another process than the one that was seen", url=url)
    return service


def ready(url: str, headers: Mapping[str, str], services: Services, *, registered: bool = True) -> Service:
    """Whoever answers at an address, if it is OpenCode 2 and ready. Raises Unavailable."""
    asked = Endpoint(url, services, headers)
    for route in READINESS:
        response = asked.get(route, PROBE_S)
        if response.status == NOT_FOUND:
            continue
        if response.status != OK:
            raise Unavailable(response.error or f"{url}{route}: HTTP {response.status}")
        try:
            said = records.understood(_bare(response.body), Ready)
        except NotUnderstood:
            said = None
        if said is None or not said.healthy or not said.version:
            raise Unavailable(f"{url}{route}: it is not ready")
        return Service(url, services, headers, said, registered)
    raise Unavailable(f"{url} has none of {', '.join(READINESS)}")


def processes(seen: Sequence[Seen], services: Services) -> list[Service]:
    """Processes of OpenCode 2 that answer by the plugin file, the one that was last at work first."""
    found: dict[str, Service] = {}
    for word in (one.word for one in seen):
        url = word.location.url
        if word.generation != 2 or url in found or not is_loopback(url):  # noqa: PLR2004 - the name of the thing
            continue
        try:
            headers = {"Authorization": f"Bearer {word.location.token}"}
            found[url] = ready(url, headers, services, registered=False)
        except Unavailable:
            continue  # it has ended
    return list(found.values())


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def _registration(services: Services) -> Registration:
    for state in states(services.environ):
        path = os.path.join(state, REGISTRATION)
        try:
            content = services.open_folder(state).read(REGISTRATION)
        except (OSError, Refused):
            continue
        try:
            return records.understood(records.decoded(content), Registration)
        except NotUnderstood as problem:
            raise Unavailable(f"{path}: {problem}") from None
    raise Unavailable("no service of OpenCode 2 is registered")


def _bare(body: object) -> object:
    return body["data"] if isinstance(body, dict) and isinstance(body.get("data"), dict) else body


def _page(body: object) -> tuple[list[object], str]:
    """Rows, and where the next ones begin; empty when there are none. Raises NotUnderstood."""
    if not isinstance(body, dict):
        return listed(body), ""
    cursor = body.get("cursor")
    following = cursor.get("next") if isinstance(cursor, dict) else None
    return listed(body.get("data")), following if isinstance(following, str) else ""
