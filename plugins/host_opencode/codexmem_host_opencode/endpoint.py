"""An address at which OpenCode answers, whichever generation. Nothing here raises because nobody is there."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_hookspecs.json_lines import NotUnderstood
from codexmem_hookspecs.session_files import home_in

from codexmem_host_opencode.host import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codexmem_hookspecs.services import Response, Services

PROBE_S = 3.0
"""A server on this machine says at once whether it is there; one that is only just starting may be silent."""
API_S = 60.0
"""Listing and reading (OpenCode memory 1)."""
PAGE = 5_000
OK, NOT_FOUND = 200, 404
USER = "opencode"


@dataclass(frozen=True, slots=True)
class Endpoint:
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


def basic(password: str, user: str = USER) -> Mapping[str, str]:
    """The header that a server asks for which was started with a password; none without."""
    if not password:
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def session_path(session_id: str) -> str:
    """Where the API has a session; OpenCode 2's begins with ``/api``."""
    return f"/session/{quote(session_id, safe='')}"


def states(environ: Mapping[str, str]) -> list[str]:
    """Where this user's OpenCode keeps its state, as it is written and with links resolved."""
    own = home_in(environ, "XDG_STATE_HOME", ".local/state")
    return [os.path.join(state, FOLDER) for state in [*own, *map(os.path.realpath, own)]]


def given(response: Response) -> object:
    """What was answered. Raises NotUnderstood."""
    if response.status != OK:
        raise NotUnderstood(response.error or f"HTTP {response.status}: {str(response.body)[:200]}")
    return response.body


def listed(body: object) -> list[object]:
    """A list that was answered. Raises NotUnderstood."""
    if not isinstance(body, list):
        raise NotUnderstood("the answer is no list")
    return body
