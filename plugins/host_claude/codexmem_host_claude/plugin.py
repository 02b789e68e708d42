"""The hooks that Claude Code implements; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Setting

from codexmem_host_claude.host import ClaudeHost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Item, Presence, Session, SessionQuery, Skipped


class ClaudePlugin:
    """Claude Code. Modules that parse are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Where Claude Code lives, for those who moved it without setting CLAUDE_CONFIG_DIR."""
        return [
            Setting(
                key="home",
                default="",
                path=True,
                help="Claude Code's home folder; empty: CLAUDE_CONFIG_DIR, else ~/.claude",
            ),
        ]

    @hookimpl
    def codexmem_capture_host(self) -> Iterable[Host]:
        """Claude Code itself."""
        return [ClaudeHost()]

    @hookimpl
    def codexmem_capture_sessions(self, query: SessionQuery, services: Services) -> Iterable[Session]:
        """Transcripts that are new or changed."""
        from codexmem_host_claude import sessions

        return sessions.find(query, services)

    @hookimpl
    def codexmem_capture_transcript(self, session: Session, after: int, services: Services) -> Iterator[Item | Skipped]:
        """What a transcript says past a byte."""
        from codexmem_host_claude import transcript

        return transcript.read(session, after, services)

    @hookimpl
    def codexmem_capture_presence(self, sessions: Sequence[Session], services: Services) -> Mapping[str, Presence]:
        """Whether each file is there; a vanished one is no proof of deletion, for Claude Code tidies old ones away."""
        from codexmem_hookspecs.session_files import presence

        from codexmem_host_claude.transcript import open_transcript

        return presence(sessions, lambda session: open_transcript(session.locator, services))


plugin = ClaudePlugin()
