"""The one HTTP client. It never raises: no answer is an answer with an error."""

from __future__ import annotations

import ipaddress
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codexmem_core import __version__
from codexmem_core.models.exchange import HttpAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx
    from codexmem_hookspecs.services import Deadline

LONGEST_ANSWER_BYTES = 32 * 1024 * 1024
AGENT = f"codexmem/{__version__}"


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
                with attempt, _client(url, timeout_s) as client:
                    return _decoded(client.request(method, url, json=json, headers=dict(headers or {})))
        except httpx.TimeoutException:
            return HttpResponse(error=f"{method} {url}: timed out after {timeout_s:.1f} s")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError) as error:
            return HttpResponse(error=f"{method} {url}: {type(error).__name__}: {error}")
        return HttpResponse(error=f"{method} {url}: not tried")

    def post(self, url: str, *, json: object, headers: Mapping[str, str], timeout_s: float) -> HttpAnswer:
        """One request to a model: the answer as text, with its headers, whatever its status.

        ``timeout_s`` is for the whole of it, so that an answer that trickles for ever ends too. An answer that breaks
        off has its status, what came of it, and an error.
        """
        import httpx

        timeout_s = min(timeout_s, self._deadline.left_s)
        if timeout_s <= 0:
            return HttpAnswer(error="no time left")
        ends_at = time.monotonic() + timeout_s
        received = _Received()
        try:
            with (
                _client(url, timeout_s) as client,
                client.stream("POST", url, json=json, headers=dict(headers)) as response,
            ):
                received.begin(response)
                for chunk in response.iter_bytes():
                    received.add(chunk)
                    if time.monotonic() >= ends_at or self._deadline.cancelled:
                        return received.answer(f"no end after {timeout_s:.1f} s")
                    if received.size > LONGEST_ANSWER_BYTES:
                        return received.answer(f"longer than {LONGEST_ANSWER_BYTES} bytes")
        except httpx.TimeoutException:
            return received.answer(f"timed out after {timeout_s:.1f} s")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError) as error:
            return received.answer(f"{type(error).__name__}: {error}")
        return received.answer("")


class _Received:
    """What has come of an answer so far."""

    def __init__(self) -> None:
        self.size = 0
        self._status = 0
        self._headers: dict[str, str] = {}
        self._chunks: list[bytes] = []

    def begin(self, response: httpx.Response) -> None:
        self._status = response.status_code
        self._headers = {name.lower(): value for name, value in response.headers.items()}

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self.size += len(chunk)

    def answer(self, error: str) -> HttpAnswer:
        text = b"".join(self._chunks).decode("utf-8", "replace")
        return HttpAnswer(status=self._status, headers=self._headers, text=text, error=error)


def _client(url: str, timeout_s: float) -> httpx.Client:
    import httpx

    return httpx.Client(
        trust_env=not _is_loopback(url), timeout=timeout_s, verify=_certificates(url), headers={"user-agent": AGENT}
    )


def _certificates(url: str) -> ssl.SSLContext:
    """The system's store, or what SSL_CERT_FILE and SSL_CERT_DIR name; certifi's where a system has none."""
    if not url.lower().startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and costs nothing to make
    context = ssl.create_default_context()
    places = ssl.get_default_verify_paths()
    if not places.cafile and not places.capath:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _decoded(response: httpx.Response) -> HttpResponse:
    try:
        return HttpResponse(status=response.status_code, body=response.json())
    except (ValueError, RecursionError):
        return HttpResponse(status=response.status_code, body=response.text)


def _is_loopback(url: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)
