"""The one HTTP client. It never raises: no answer is an answer with an error."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx
    from codexmem_hookspecs.services import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """Status 0 and an error when there was no answer."""

    status: int = 0
    body: object = None
    error: str = ""


class HttpClient:
    """httpx behind one door. Loopback never goes through a proxy; certificates as the system and SSL_CERT_FILE say."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def request(
        self,
        method: str,
        url: str,
        *,
        json: object = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 10.0,
        attempts: int = 1,
    ) -> HttpResponse:
        """Transport failures are tried again up to ``attempts``; an answer, whatever its status, is final."""
        import httpx
        import stamina

        if self._deadline.left_s <= 0:
            return HttpResponse(error=f"{method} {url}: no time left")
        timeout_s = min(timeout_s, self._deadline.left_s)
        try:
            for attempt in stamina.retry_context(on=httpx.TransportError, attempts=attempts, timeout=timeout_s):
                with attempt, httpx.Client(trust_env=not _is_loopback(url), timeout=timeout_s) as client:
                    return _answer(client.request(method, url, json=json, headers=dict(headers or {})))
        except httpx.TimeoutException:
            return HttpResponse(error=f"{method} {url}: timed out after {timeout_s:.1f} s")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError) as error:
            return HttpResponse(error=f"{method} {url}: {type(error).__name__}: {error}")
        return HttpResponse(error=f"{method} {url}: not tried")


def _answer(response: httpx.Response) -> HttpResponse:
    try:
        return HttpResponse(status=response.status_code, body=response.json())
    except ValueError:
        return HttpResponse(status=response.status_code, body=response.text)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
