"""``codexmem inspect``."""

from __future__ import annotations

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option


@click.command("inspect")
@click.option(
    "--min-consolidated-sessions",
    type=click.IntRange(1, 4096),
    default=None,
    help="A memory is ready when one consolidation covered so many sessions; else [memories] ready_sessions.",
)
@memory_option
@json_option
@click.pass_obj
def command(state: State, min_consolidated_sessions: int | None, memory: str) -> None:
    """Show what the memories hold, what their jobs do and why, and under which settings."""
    from codexmem_core.readpath.inspecting import as_text

    engine = state.engine
    name = engine.memories[engine.memory_plugin(memory)].name
    value = engine.memory_tools.inspect(name, min_consolidated_threads=min_consolidated_sessions or 0)
    state.show(value, lambda: as_text(value))
