"""What the server registers. The SDK takes most of a second to import, so nothing here does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codexmem_hookspecs import hookimpl
from codexmem_hookspecs.values.records import Command, DoctorCheck, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from codexmem_hookspecs.services import Services


class McpPlugin:
    """The command that hosts start, and the check that it can."""

    @hookimpl
    def codexmem_commands(self) -> Iterable[Command]:
        """``codexmem mcp``."""
        summary = "Serve the memory tools to a host's agents (MCP over standard input and output)."
        return [Command(name="mcp", summary=summary, load=_command, serves_tools=True)]

    @hookimpl
    def codexmem_doctor_checks(self) -> Iterable[DoctorCheck]:
        """Whether the server could start."""
        return [DoctorCheck(name="mcp", summary="The MCP server can start.", run=_check)]


def _command() -> click.Command:
    from codexmem_mcp.command import command

    return command


def _check(services: Services) -> Iterable[Finding]:
    try:
        import codexmem_mcp.server  # noqa: F401 - importing is the check
    except ImportError as error:
        fix = "install codexmem-mcp again, with its dependencies"
        return [Finding(level="fail", message=f"the MCP server cannot start: {error}", fix=fix)]
    names = [tool.name for tool in services.tools.list()]
    return [Finding(level="ok", message=f"{len(names)} tools: {', '.join(names)}")]


plugin = McpPlugin()
