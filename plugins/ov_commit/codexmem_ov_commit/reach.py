"""Whether the server is there, asked before anything else is, and not again for a while after it was not."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from codexmem_ov_commit.noted import Noted
from codexmem_ov_commit.server import HEALTH_TIMEOUT_S, OUT_OF_TIME, Answer

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

    from codexmem_ov_commit.server import Server

PAUSE_MS: Final = 60_000
"""No prompt waits for a probe again before this is over."""

WHOLE_S: Final = 3.0
"""For a sign of life, all included. Each step of it has a second; looking up a name and an answer that trickles know no
such limit, and several addresses of one name have a second each."""


class Reach:
    """Of one server, as seen from this machine."""

    def __init__(self, services: Services, server: Server, url: str) -> None:
        self._services = services
        self._server = server
        self._url = url
        self._gone = Noted(services, "unreachable", url)

    def paused(self) -> bool:
        """Whether the last probe failed a moment ago."""
        return self._gone.holds(PAUSE_MS)

    def probe(self) -> Answer:
        """Ask now. What came of it is remembered."""
        answer = self._asked()
        if answer.ok:
            self._gone.clear()
        else:
            self._gone.note()
            reason = answer.error or f"HTTP {answer.status}"
            self._services.log.info("server not reachable", url=self._url, status=answer.status, reason=reason)
        return answer

    def probe_for(self, server: Server, patience_s: float) -> Answer:
        """The same for who has more time than a prompt and asks as ``server``; the caller tells who was not reached.

        An answer for which a prompt would not have waited ends no pause.
        """
        asked_at = time.monotonic()
        answer = server.healthy(patience_s)
        if answer.ok and time.monotonic() - asked_at < HEALTH_TIMEOUT_S:
            self._gone.clear()
        elif not answer.ok and answer.error != OUT_OF_TIME:
            self._gone.note()
        return answer

    def _asked(self) -> Answer:
        came: list[Answer] = []
        asking = threading.Thread(target=lambda: came.append(self._server.healthy()), name="health", daemon=True)
        asking.start()
        asking.join(WHOLE_S)
        return came[0] if came else Answer(error=f"no sign of life within {WHOLE_S:g} s", ok=False, retryable=True)
