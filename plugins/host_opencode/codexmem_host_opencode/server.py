"""A server of OpenCode 1.x: its API over HTTP. Nothing here raises because a server is not there."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from codexmem_hookspecs.json_lines import NotUnderstood
from codexmem_hookspecs.session_files import home_in
from msgspec import Struct

from codexmem_host_opencode import records
from codexmem_host_opencode.host import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_hookspecs.services import Response, Services

PROBE_S = 3.0
"""A server on this machine says at once whether it is there; one that is only just starting may be silent."""
API_S = 60.0
"""Listing and reading (OpenCode memory 1)."""
PAGE = 5_000
OK, NOT_FOUND = 200, 404
PASSWORD, USER = "OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME"  # names of variables


class Server(NamedTuple):
    """One that answered."""

    url: str
    services: Services
    headers: Mapping[str, str]
    """By which we are let in."""

    def get(self, path: str, timeout_s: float = API_S) -> Response:
        """One request."""
        return self.ask("GET", path, timeout_s=timeout_s)

    def ask(self, method: str, path: str, json: object = None, timeout_s: float = API_S) -> Response:
        """One request with a body."""
        request = self.services.http.request
        return request(method, self.url + path, json=json, headers=self.headers, timeout_s=timeout_s)

    def sessions(self, search: str = "", timeout_s: float = API_S) -> Iterator[object]:
        """Sessions of every project without subagents, last used first. Raises NotUnderstood.

        ``search``: only those whose titles hold it.
        """
        limit, before = PAGE, 0
        told: set[str] = set()
        while True:
            more = f"&search={quote(search)}" * bool(search) + f"&cursor={before}" * bool(before)
            path = f"/experimental/session?roots=true&limit={limit}&directory={more}"
            rows = listed(self.get(path, timeout_s))
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
        return records.Conversation(info=info, messages=listed(self.get(f"{path}/message")))


def session_path(session_id: str) -> str:
    """Where the API has a session."""
    return f"/session/{quote(session_id, safe='')}"


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
    password = environ.get(PASSWORD, "")
    if not password:
        return {}
    user = environ.get(USER) or "opencode"
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def reached(url: str, services: Services) -> Server | None:
    """The server at an address, if it is OpenCode's and this user's own; another one would know nothing of sessions."""
    server = Server(url.rstrip("/"), services, credentials(services.environ))
    health = server.get("/global/health", PROBE_S)
    if health.status != OK or not isinstance(health.body, dict) or health.body.get("healthy") is not True:
        return None
    paths = server.get("/path", PROBE_S)
    state = paths.body.get("state") if paths.status == OK and isinstance(paths.body, dict) else None
    return server if state in [os.path.join(own, FOLDER) for own in states(services.environ)] else None


def states(environ: Mapping[str, str]) -> list[str]:
    """Where this user's programs keep their state, as it is written and with links resolved."""
    own = home_in(environ, "XDG_STATE_HOME", ".local/state")
    return [*own, *map(os.path.realpath, own)]


def given(response: Response) -> object:
    """What a server answered with. Raises NotUnderstood."""
    if response.status != OK:
        raise NotUnderstood(response.error or f"HTTP {response.status}: {str(response.body)[:200]}")
    return response.body


def listed(response: Response) -> list[object]:
    """The list that a server answered with. Raises NotUnderstood."""
    body = given(response)
    if not isinstance(body, list):
        raise NotUnderstood("the answer is no list")
    return body
