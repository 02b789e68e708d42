"""The hooks; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import DoctorCheck, Finding, Offer, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services, Workspace
    from codexmem_hookspecs.values.interop import Mirror


class ClaudeImport:
    """Off until the user turns it on: other tools' memories come in only where they are wanted."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Whether, from where, and which projects."""
        return [
            Setting(
                key="enabled",
                default=False,
                help="import Claude Code's own memories",
                offer=Offer(host="claude", question=_question),
            ),
            Setting(
                key="claude_home",
                default="",
                path=True,
                help="its home folder; empty: CLAUDE_CONFIG_DIR, else ~/.claude",
            ),
            Setting(
                key="projects",
                default=(),
                help="only these projects: their directories, or their folders' names below projects/; empty: all",
            ),
        ]

    @hookimpl
    def codexmem_interop_import(self, workspace: Workspace, services: Services) -> Iterable[Mirror]:
        """The memories of every project, whole."""
        from codexmem_claude_import.importing import mirrors

        return mirrors(workspace, services)

    @hookimpl
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """What is imported, and why the rest is not."""

        def run(services: Services) -> Iterable[Finding]:
            from codexmem_claude_import.importing import state

            return state(services)

        return [
            DoctorCheck(name="claude-import", summary="Claude Code's own memories", run=run, in_status=True),
        ]


def _question(services: Services) -> str:
    from codexmem_claude_import.importing import offer

    return offer(services)


plugin = ClaudeImport()
