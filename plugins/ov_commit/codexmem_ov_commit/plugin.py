"""The hooks that OpenViking needs; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Command

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from codexmem_hookspecs.services import Services
    from codexmem_hookspecs.values.capture import Event, Reaction
    from codexmem_hookspecs.values.read import ContextSource, Tool
    from codexmem_hookspecs.values.records import DoctorCheck, Forgotten, Selector, Setting


class OvCommitPlugin:
    """Modules are imported when a hook needs them: registering stays cheap."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Every knob of OpenViking's clients, and where the server is."""
        from codexmem_ov_commit import knobs

        return knobs.settings()

    @hookimpl
    def codexmem_commands(self) -> Iterable[Command]:
        """``codexmem ov``."""
        return [Command(name="ov", summary="OpenViking: what waits, commit it, what is wrong.", load=_command)]

    @hookimpl
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """Settings, the server, what waits, and what the server refused."""
        from codexmem_ov_commit import checks

        return checks.ALL

    @hookimpl
    def codexmem_forget(self, selector: Selector, services: Services) -> Forgotten:
        """Here, and on the server."""
        from codexmem_ov_commit.forgetting import forget

        return forget(selector, services)

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
        """The profile, the archive of a session that goes on, recall in front of prompts; what a sweep committed."""
        from codexmem_ov_commit import report, sources

        return [*sources.sources(), report.NOTICE]

    @hookimpl
    def codexmem_read_tools(self) -> Iterable[Tool]:
        """Read and search ``viking://``; commit now."""
        from codexmem_ov_commit.tools import tools

        return tools()


def _command() -> click.Command:
    from codexmem_ov_commit.commands import command

    return command


plugin = OvCommitPlugin()
