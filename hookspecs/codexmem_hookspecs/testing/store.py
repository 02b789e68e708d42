"""A host's store of JSON lines that a plugin's own tests fill, line by line."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from codexmem_hookspecs.values.capture import Item, Session, SessionQuery, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from codexmem_hookspecs.specs import Capture
    from codexmem_hookspecs.testing.services import PlainServices

HOUR_S = 3_600


class LinesStore:
    """Subclass it, set the attributes, and add methods that make the host's lines."""

    plugin: ClassVar[Capture]
    """The plugin object that the entry point names."""
    folder: ClassVar[str]
    """The host's folder in the user's home."""

    def __init__(self, services: PlainServices) -> None:
        self.services = services
        self.home = os.path.join(services.home, self.folder)
        self.now_ms = services.clock.now_ms()

    def time(self, at_ms: int) -> str:
        """UNIX milliseconds as RFC 3339."""
        return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def put(
        self, path: str, lines: Iterable[object], compress: Callable[[bytes], bytes] = lambda content: content
    ) -> str:
        """Write a file below the home that was last changed an hour ago; returns its absolute path.

        Lines are values that become JSON, or bytes as they shall stand there.
        """
        whole = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        content = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
        with open(whole, "wb") as file:
            file.write(compress(content))
        seconds = self.now_ms / 1000 - HOUR_S
        os.utime(whole, (seconds, seconds))
        return whole

    def sessions(self, **query: Any) -> list[Session]:
        """What the plugin finds; arguments are those of SessionQuery."""
        return list(self.plugin.codexmem_capture_sessions(query=SessionQuery(**query), services=self.services))

    def session(self) -> Session:
        """The only one."""
        (session,) = self.sessions()
        return session

    def entries(self, session: Session | None = None, after: int = 0) -> list[Item | Skipped]:
        """What the plugin reads, of the only session when none is given."""
        session = session or self.session()
        return list(self.plugin.codexmem_capture_transcript(session=session, after=after, services=self.services))

    def items(self, session: Session | None = None, after: int = 0) -> list[Item]:
        """The same without what was skipped."""
        return [entry for entry in self.entries(session, after) if isinstance(entry, Item)]

    def skipped(self, session: Session | None = None, after: int = 0) -> list[Skipped]:
        """What was skipped."""
        return [entry for entry in self.entries(session, after) if isinstance(entry, Skipped)]

    def said(self, session: Session | None = None) -> list[tuple[str, str]]:
        """Tier and text of each item."""
        return [(item.tier, item.text) for item in self.items(session)]
