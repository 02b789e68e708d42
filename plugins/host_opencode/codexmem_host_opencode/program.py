"""OpenCode's own program, for the time in which no server of it listens: ``session list`` and ``export``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.json_lines import NotUnderstood

from codexmem_host_opencode import records

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

RUN_S = 60.0
"""It needs two seconds to begin."""
USUAL = "opencode"
PURE = "--pure"
"""Without plugins, our own among them, and so without waiting for a registry."""


class Program(NamedTuple):
    """One that may be there."""

    path: str
    services: Services

    def listed(self, directory: str) -> list[object]:
        """Sessions of the project that a directory belongs to. Raises NotUnderstood and FileNotFoundError."""
        printed = self._run("session", "list", "--format", "json", folder=directory)
        rows = records.decoded(printed) if printed.strip() else []
        if not isinstance(rows, list):
            raise NotUnderstood("opencode session list printed no list")
        return rows

    def conversation(self, session_id: str) -> records.Conversation:
        """A session and everything that was said in it. Raises NotUnderstood and FileNotFoundError."""
        return records.understood(records.decoded(self._run("export", session_id)), records.Conversation)

    def _run(self, *words: str, folder: str = "") -> bytes:
        try:
            argv = (self.path, PURE, *words)
            status, printed, said = self.services.processes.run(argv, timeout_s=RUN_S, folder=folder)
        except TimeoutError as error:
            raise NotUnderstood(str(error)) from None
        if status:
            last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise NotUnderstood(f"opencode {' '.join(words)} gave {status}: {last[0]}")
        return printed
