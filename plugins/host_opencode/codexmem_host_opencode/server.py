"""A server of OpenCode 1.x: its API over HTTP. Nothing here raises because a server is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_hookspecs.json_lines import NotUnderstood
from msgspec import Struct

from codexmem_host_opencode import records
from codexmem_host_opencode.endpoint import (
    API_S,
    OK,
    PAGE,
    PROBE_S,
    USER,
    Endpoint,
    basic,
    given,
    listed,
    session_path,
    states,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Services

PASSWORD_VARIABLE, USER_VARIABLE = "OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME"


class Server(Endpoint):
    """One that answered."""

    __slots__ = ()

    def sessions(self, search: str = "", timeout_s: float = API_S) -> Iterator[object]:
        """Sessions of every project without subagents, last used first. Raises NotUnderstood.

        ``search``: only those whose titles hold it.
        """
        limit, before = PAGE, 0
        told: set[str] = set()
        while True:
            more = f"&search={quote(search)}" * bool(search) + f"&cursor={before}" * bool(before)
            path = f"/experimental/session?roots=true&limit={limit}&directory={more}"
            rows = listed(given(self.get(path, timeout_s)))
            keys = [_key(row) for row in rows]
            yield from (row for row, key in zip(rows, keys, strict=True) if key is None or key.id not in told)
            known = [key for key in keys if key is not None]
            if len(rows) < limit or not known:
                return
            told.update(key.id for key in known)
            # The next page begins within the last instant of this one: sessions of one instant may be on both.
            oldest = min(int(key.time.updated) for key in known) + 1
            limit, before = (limit * 2, before) if oldest == before else (limit, oldest)

    def conversation(self, session_id: str) -> records.Conversation:
        """A session and everything that was said in it. Raises NotUnderstood."""
        path = session_path(session_id)
        info = records.understood(given(self.get(path)), records.SessionInfo)
        return records.Conversation(info=info, messages=listed(given(self.get(f"{path}/message"))))


class _Key(Struct):
    id: str
    time: records.Times


def _key(row: object) -> _Key | None:
    try:
        return records.understood(row, _Key)
    except NotUnderstood:
        return None


def credentials(environ: Mapping[str, str]) -> Mapping[str, str]:
    """What a server asks for that was started with a password; the worker has the environment of its host."""
    return basic(environ.get(PASSWORD_VARIABLE, ""), environ.get(USER_VARIABLE) or USER)


def reached(url: str, services: Services) -> Server | None:
    """The server at an address, if it is OpenCode's and this user's own; another one would know nothing of sessions."""
    server = Server(url.rstrip("/"), services, credentials(services.environ))
    health = server.get("/global/health", PROBE_S)
    if health.status != OK or not isinstance(health.body, dict) or health.body.get("healthy") is not True:
        return None
    paths = server.get("/path", PROBE_S)
    state = paths.body.get("state") if paths.status == OK and isinstance(paths.body, dict) else None
    return server if state in states(services.environ) else None
