"""``codexmem mcp``."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services


@click.command("mcp")
@click.argument("host", default="")
@click.pass_obj
def command(services: Services, host: str) -> None:
    """Serve the memory tools to the agents of HOST, as an MCP server over standard input and output.

    Hosts start it (codexmem setup enters it there) and end it. Without HOST nobody's session is known.
    """
    if sys.stdin.isatty():
        click.echo("This speaks MCP on standard input and output: it is for agents. Ctrl-D ends it.", err=True)
    gc.disable()  # the SDK makes thousands of objects and keeps them all: looking for garbage meanwhile costs a tenth
    from codexmem_mcp.server import serve

    gc.enable()
    serve(services, host)
