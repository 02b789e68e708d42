"""The hooks that Codex CLI implements; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Setting

from codexmem_host_codex.host import CodexHost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Item, Presence, Session, SessionQuery, Skipped


class CodexPlugin:
    """Codex CLI. Modules that parse are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Where Codex lives, for those who moved it without setting CODEX_HOME."""
        return [
            Setting(key="home", default="", path=True, help="Codex's home folder; empty: CODEX_HOME, else ~/.codex"),
        ]

    @hookimpl
    def codexmem_capture_host(self) -> Iterable[Host]:
        """Codex itself."""
        return [CodexHost()]

    @hookimpl
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """Rollouts that are new or changed."""
        from codexmem_host_codex import sessions

        return sessions.find(query, services)

    @hookimpl
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """What a rollout says past a byte."""
        from codexmem_host_codex import transcript

        return transcript.read(session, after, services)

    @hookimpl
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """Whether each rollout is there, in either form; a vanished file is no proof of deletion."""
        from codexmem_hookspecs.session_files import presence

        from codexmem_host_codex.rollouts import present_rollout

        return presence(sessions, lambda session: present_rollout(session.locator, services))


plugin = CodexPlugin()
