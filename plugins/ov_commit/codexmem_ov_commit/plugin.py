"""The hooks that OpenViking needs; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Event, Reaction
    from codexmem_hookspecs.values.read import ContextSource
    from codexmem_hookspecs.values.records import Setting


class OvCommitPlugin:
    """Modules are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Every knob of OpenViking's clients, and where the server is."""
        from codexmem_ov_commit import knobs

        return knobs.settings()

    @hookimpl
    def codexmem_capture_reactions(self) -> Iterable[Reaction]:
        """Starts, stops, ends; a compaction waits for its commit."""
        from codexmem_ov_commit.events import REACTIONS

        return REACTIONS

    @hookimpl
    def codexmem_capture_event(self, event: Event, services: Services) -> None:
        """Send and commit."""
        from codexmem_ov_commit.events import react

        react(event, services)

    @hookimpl
    def codexmem_read_sources(self) -> Iterable[ContextSource]:
        """The profile, the archive of a session that goes on, recall in front of prompts."""
        from codexmem_ov_commit.sources import sources

        return sources()


plugin = OvCommitPlugin()
