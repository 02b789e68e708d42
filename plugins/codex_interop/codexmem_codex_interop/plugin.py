"""The hooks; each is one line into the module that does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import DoctorCheck, Finding, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codexmem_hookspecs.services import Services, Workspace
    from codexmem_hookspecs.values.interop import Mirror, Snapshot


class CodexInterop:
    """Both directions are off until the user turns them on."""

    @hookimpl
    def codexmem_settings(self) -> Iterable[Setting]:
        """Which directions, with what, and where Codex is."""
        return [
            Setting(key="import", default=False, help="take in what Codex's own memory consolidated"),
            Setting(key="export", default=False, help="give Codex's own memory what Memory V1 consolidated"),
            Setting(key="exchange_summary", default=False, help="exchange Memory V2's summary as well"),
            Setting(
                key="codex_home", default="", path=True, help="Codex's home folder; empty: CODEX_HOME, else ~/.codex"
            ),
        ]

    @hookimpl
    def codexmem_interop_import(self, workspace: Workspace, services: Services) -> Iterable[Mirror]:
        """Codex's consolidated files."""
        from codexmem_codex_interop.importing import mirrors

        return mirrors(workspace, services)

    @hookimpl
    def codexmem_interop_export(self, snapshot: Snapshot, services: Services) -> Iterable[Mirror]:
        """Ours, as an extension of Codex's memory."""
        from codexmem_codex_interop.exporting import mirrors

        return mirrors(snapshot, services)

    @hookimpl
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """What is exchanged, and why the rest is not."""

        def run(services: Services) -> Iterable[Finding]:
            from codexmem_codex_interop.state import findings

            return findings(services)

        return [DoctorCheck(name="codex-interop", summary="exchange with Codex's memory", run=run, in_status=True)]


plugin = CodexInterop()
