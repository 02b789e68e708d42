"""Requests to an OpenViking server. Nothing raises: what failed is an answer that says whether to try again.

Shapes as a real server 0.5.2 gives them: an envelope ``{status, result, error}``, but for ``/health``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from codexmem_ov_commit import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Http, Response

    from codexmem_ov_commit.settings import Connection

CONFLICT = 409
REQUEST_TIMEOUT = 408
TOO_MANY = 429
SERVER_ERROR = 500
HEALTH_TIMEOUT_S = 1.0
OUT_OF_TIME = "no time left"
"""What went wrong when nothing was asked any more: that says nothing about the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a request."""

    ok: bool
    status: int = 0
    """0: no answer."""
    result: object = None
    error: str = ""
    trace_id: str = ""
    retryable: bool = False

    def field(self, name: str) -> object:
        """A field of the result; None when there is none."""
        return self.result.get(name) if isinstance(self.result, dict) else None

    def number(self, name: str) -> int:
        """A number of the result; 0 when there is none."""
        value = self.field(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return 0
        return int(value)

    def text(self, name: str) -> str:
        """A text of the result; empty when there is none."""
        value = self.field(name)
        return value if isinstance(value, str) else ""


class Server:
    """One server as one client sees it."""

    def __init__(
        self, http: Http, connection: Connection, *, peer: str = "", left_s: Callable[[], float] = lambda: math.inf
    ) -> None:
        self._http = http
        self._connection = connection
        self._peer = peer
        self._headers = headers(connection, peer)
        self._left_s = left_s

    @property
    def url(self) -> str:
        """Where it is."""
        return self._connection.url

    def within(self, left_s: Callable[[], float]) -> Server:
        """The same server, of which nothing is asked any more once no seconds are left."""
        return Server(self._http, self._connection, peer=self._peer, left_s=left_s)

    def acting_for(self, peer: str) -> Server:
        """The same server for another peer."""
        return Server(self._http, self._connection, peer=peer, left_s=self._left_s)

    def healthy(self, timeout_s: float = HEALTH_TIMEOUT_S) -> Answer:
        """Whether somebody is there; a wrong key shows here already, as 401."""
        return self._ask("GET", "/health", timeout_s=timeout_s, enveloped=False)

    def session(self, name: str) -> Answer:
        """What the server knows of a session."""
        return self._ask("GET", f"/api/v1/sessions/{path(name)}")

    def send(self, name: str, messages: list[Mapping[str, object]]) -> Answer:
        """At most 100 messages at once; the session is made by the first."""
        return self._write(f"/api/v1/sessions/{path(name)}/messages/batch", {"messages": messages})

    def send_one(self, name: str, message: Mapping[str, object]) -> Answer:
        """One message."""
        return self._write(f"/api/v1/sessions/{path(name)}/messages", message)

    def commit(self, name: str, keep_recent: int = -1) -> Answer:
        """Seal what the session holds. The server works on it afterwards: this says that it was accepted, no more."""
        body = {"keep_recent_count": keep_recent} if keep_recent >= 0 else {}
        return self._write(f"/api/v1/sessions/{path(name)}/commit", body)

    def remove(self, name: str) -> Answer:
        """Delete a session with what it holds."""
        return self._ask("DELETE", f"/api/v1/sessions/{path(name)}")

    def context(self, name: str, token_budget: int) -> Answer:
        """The overview of what was committed."""
        return self._ask("GET", f"/api/v1/sessions/{path(name)}/context?token_budget={token_budget}")

    def get(self, where: str, *, timeout_s: float = 0.0) -> Answer:
        """Any reading route below the server's address."""
        return self._ask("GET", where, timeout_s=timeout_s)

    def post(self, where: str, body: Mapping[str, object], *, timeout_s: float = 0.0) -> Answer:
        """Any other; not for writes that must be known to have happened."""
        return self._ask("POST", where, body=body, timeout_s=timeout_s)

    def _write(self, where: str, body: Mapping[str, object]) -> Answer:
        answer = self._ask("POST", where, body=body, timeout_s=self._connection.write_timeout_s)
        if answer.ok and not isinstance(answer.result, dict):
            return Answer(ok=False, status=answer.status, error="the answer has no result", retryable=True)
        return answer

    def _ask(
        self,
        method: str,
        where: str,
        *,
        body: Mapping[str, object] | None = None,
        timeout_s: float = 0.0,
        enveloped: bool = True,
    ) -> Answer:
        timeout_s = min(timeout_s or self._connection.timeout_s, self._left_s())
        if timeout_s <= 0:
            return Answer(ok=False, error=OUT_OF_TIME, retryable=True)
        response = self._http.request(
            method, self._connection.url + where, json=body, headers=self._headers, timeout_s=timeout_s
        )
        return answer_of(response, enveloped=enveloped)


def path(name: str) -> str:
    """A name as one part of a URL, as ``encodeURIComponent`` writes it."""
    return quote(name, safe="!'()*~", errors="replace")


def headers(connection: Connection, peer: str = "") -> dict[str, str]:
    """Both forms of the key; who we are only where the server trusts what clients say."""
    sent = {"content-type": "application/json", "user-agent": f"codexmem-ov-commit/{__version__}"}
    if connection.api_key:
        sent["authorization"] = f"Bearer {connection.api_key}"
        sent["x-api-key"] = connection.api_key
    if connection.trusted:
        sent |= {"x-openviking-account": connection.account} if connection.account else {}
        sent |= {"x-openviking-user": connection.user} if connection.user else {}
    if peer:
        sent["x-openviking-actor-peer"] = peer
    return sent


def answer_of(response: Response, *, enveloped: bool = True) -> Answer:
    """An HTTP answer with the server's envelope taken off."""
    body: dict[str, object] = response.body if isinstance(response.body, dict) else {}
    told = body.get("error")
    error: dict[str, object] = told if isinstance(told, dict) else {}
    result = body.get("result", body) if body else None
    good = 200 <= response.status < 300 and body.get("status") != "error" and not response.error  # noqa: PLR2004 - HTTP's classes
    traces = (source.get("trace_id") for source in (result, error, body) if isinstance(source, dict))
    message = response.error or str(error.get("message") or error.get("code") or "")
    return Answer(
        ok=good and (bool(body) or not enveloped),
        status=response.status,
        result=result,
        error="" if good and body else message or f"HTTP {response.status} without a body that can be read",
        trace_id=next((trace for trace in traces if isinstance(trace, str) and trace), ""),
        retryable=(not good and retryable(response.status, error)) or (good and not body),
    )


def retryable(status: int, error: Mapping[str, object]) -> bool:
    """No answer, too busy, broken; a conflict only when the server says so (OpenViking, shared batch rules)."""
    details = error.get("details")
    again = isinstance(details, dict) and details.get("retryable") is True
    return status in (0, REQUEST_TIMEOUT, TOO_MANY) or status >= SERVER_ERROR or (status == CONFLICT and again)
