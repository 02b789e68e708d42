"""What must not be called now, kept in the catalogue: it holds for every process and memory, and across restarts.

Refused credentials stop a provider until they change. A lack of capacity stops the configured model, or without one the
stage, for as long as the provider says.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codexmem_core.models.refusals import NotAsked
from codexmem_core.models.retry_after import LONGEST_S, clamped, wait_s
from codexmem_core.safety.text import shown_time
from codexmem_core.store.ledger import Breaker as Tripped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.errors import ModelRefused
    from codexmem_hookspecs.services import Clock

    from codexmem_core.models.selection import Stage
    from codexmem_core.store.catalogue import Catalogue

_KEY_MARK = "credentials_digest_key"
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """What a breaker can stop."""

    provider: str
    credentials: Callable[[], str]
    """What changes with the credentials; empty when nobody can know."""
    models: Mapping[Stage, str]
    """The configured model of each stage, or empty."""

    def capacity(self, stage: Stage) -> str:
        """``model:<name>``, shared by all that use it; ``phase:<stage>`` when none is configured."""
        model = self.models.get(stage, "")
        return f"model:{model}" if model else f"phase:{stage}"

    @property
    def access(self) -> str:
        """Of the credentials."""
        return f"provider:{self.provider}"


class Breaker:
    """Opens on refusals and says what is open."""

    def __init__(self, catalogue: Callable[[], Catalogue], clock: Clock, scopes: Scopes) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._scopes = scopes

    def forbids(self, stage: Stage) -> NotAsked | None:
        """Why nothing may be asked now, or None."""
        access = self._catalogue().tripped(self._scopes.access, self._fingerprint())
        if access is not None:
            return NotAsked(f"{access.reason} ({_until(access)})", "credentials", hold=False)
        capacity = self._catalogue().tripped(self._scopes.capacity(stage))
        if capacity is None:
            return None
        left_s = (capacity.until_ms - self._clock.now_ms()) / 1000
        message = f"{capacity.reason} ({_until(capacity)})"
        return NotAsked(message, "capacity", hold=True, retry_after_s=clamped(left_s))

    def refused(self, stage: Stage, error: ModelRefused) -> Tripped | None:
        """Open what a refusal asks for; None when it concerns one request alone."""
        if error.kind == "credentials":
            fingerprint = self._fingerprint()
            # Of credentials that nobody can compare the change cannot be seen: they are tried again after a day.
            until_ms = 0 if fingerprint else self._in(LONGEST_S)
            tripped = Tripped(scope=self._scopes.access, until_ms=until_ms, reason=str(error), fingerprint=fingerprint)
        elif error.kind == "capacity":
            until_ms = self._in(wait_s(error.retry_after_s))
            tripped = Tripped(scope=self._scopes.capacity(stage), until_ms=until_ms, reason=str(error))
        else:
            return None
        self._catalogue().trip(tripped)
        return tripped

    def answered(self) -> None:
        """The provider answered with the credentials of now: what was said of earlier ones is over."""
        access, fingerprint = self._scopes.access, self._fingerprint()
        for tripped in self._catalogue().breakers():
            # An answer that was on its way when the same credentials were refused says nothing.
            if tripped.scope == access and tripped.fingerprint != fingerprint:
                self._catalogue().reset_breaker(access)

    def open_now(self) -> list[Tripped]:
        """Everything that is open, also of other providers; not what was said of earlier credentials."""
        own, fingerprint = self._scopes.access, self._fingerprint()
        return [
            tripped
            for tripped in self._catalogue().breakers()
            if tripped.scope != own or tripped.until_ms or tripped.fingerprint == fingerprint
        ]

    def _in(self, seconds: float) -> int:
        return self._clock.now_ms() + int(seconds * 1000)

    def _fingerprint(self) -> str:
        """A digest with a key of this home, so that it tells nothing to who sees it elsewhere."""
        material = self._scopes.credentials()
        if not material:
            return ""
        key = self._catalogue().mark(_KEY_MARK)
        if not key:
            key = secrets.token_hex(_DIGEST_BYTES)
            self._catalogue().set_mark(_KEY_MARK, key)
        digest = hashlib.blake2b(material.encode(), key=bytes.fromhex(key), digest_size=_DIGEST_BYTES)
        return digest.hexdigest()


def _until(tripped: Tripped) -> str:
    if not tripped.until_ms:
        return "not asked again until the credentials change"
    at = shown_time(tripped.until_ms)
    return f"not asked again until {at}"
