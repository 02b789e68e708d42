"""``codexmem read``."""

from __future__ import annotations

from dataclasses import asdict

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option


@click.command("read")
@click.argument("path")
@click.option("--offset", type=click.IntRange(min=1), default=1, help="First line, counted from 1.")
@click.option("--lines", type=click.IntRange(min=1), default=None, help="At most so many lines.")
@memory_option
@json_option
@click.pass_obj
def command(state: State, path: str, offset: int, lines: int | None, memory: str) -> None:
    """Show a file of the memory, or lines of it, without secrets."""
    from codexmem_core.readpath.arguments import Read

    engine = state.engine
    asked = Read(path=path, line_offset=offset, max_lines=lines)
    window = engine.memory_tools.read(engine.memory_plugin(memory), asked)
    state.show(asdict(window), lambda: window.text().removesuffix("\n"))
