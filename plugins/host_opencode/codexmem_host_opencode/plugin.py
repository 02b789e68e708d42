"""The hooks that OpenCode implements; what they need is imported when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Setting

from codexmem_host_opencode.host import OpenCodeHost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Item, Presence, Session, SessionQuery, Skipped


class OpenCodePlugin:
    """Capture for OpenCode. Modules that parse are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """How OpenCode is reached, for those whose server or program is not found by itself."""
        return [
            Setting(key="url", default="", help="address of a server of OpenCode; empty: one that was seen at work"),
            Setting(key="program", default="", help="OpenCode's program; empty: the one that was seen at work"),
        ]

    @hookimpl
    def codexmem_capture_host(self) -> Iterable[Host]:
        """OpenCode itself."""
        return [OpenCodeHost()]

    @hookimpl
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """Sessions that are new or changed."""
        from codexmem_host_opencode import sessions

        return sessions.find(query, services)

    @hookimpl
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """What a session says past a position."""
        from codexmem_host_opencode import transcript

        return transcript.read(session, after, services)

    @hookimpl
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """Whether OpenCode still has each session."""
        from codexmem_host_opencode.sessions import presence

        return presence(sessions, services)


plugin = OpenCodePlugin()
