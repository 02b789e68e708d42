"""Which profile a session was given, so that a resume does not repeat it: its history still has it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from codexmem_hookspecs.errors import Refused

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Session

MOST: Final = 500
"""Sessions that are remembered, the latest. One that is older is told again when it is resumed."""
_FILE: Final = "profiles.json"
_WAIT_S: Final = 2.0


class Given:
    """In the plugin's folder: digests by session, the latest last."""

    def __init__(self, services: Services) -> None:
        self._folder = services.folder
        self._log = services.log

    def has(self, session: Session, text: str) -> bool:
        """Whether the session's history has exactly this."""
        return bool(session.id) and self._read().get(_key(session)) == _digest(text)

    def note(self, session: Session, text: str) -> None:
        """The session is given this. Not noting it down costs no more than saying it twice."""
        if not session.id:
            return
        try:
            with self._folder.lock("profiles", _WAIT_S) as held:
                if held:
                    known = self._read()
                    known.pop(_key(session), None)
                    known[_key(session)] = _digest(text)
                    latest = dict(list(known.items())[-MOST:])
                    self._folder.write(_FILE, json.dumps(latest, ensure_ascii=False).encode("utf-8", "replace"))
        except (OSError, Refused) as error:
            self._log.info("a profile that was given cannot be noted down", reason=str(error))

    def forget(self, session: Session) -> bool:
        """Remove what is known of it; whether anything was. Raises OSError."""
        with self._folder.lock("profiles", _WAIT_S) as held:
            if not held:
                raise OSError("another process notes down which profiles were given")
            known = self._read()
            if known.pop(_key(session), None) is None:
                return False
            self._folder.write(_FILE, json.dumps(known, ensure_ascii=False).encode("utf-8", "replace"))
            return True

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._folder.read(_FILE))
        except (OSError, ValueError, RecursionError, Refused):
            return {}
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _key(session: Session) -> str:
    return f"{session.host} {session.id}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
