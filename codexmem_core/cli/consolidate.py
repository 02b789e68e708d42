"""``codexmem consolidate``."""

from __future__ import annotations

import click

from codexmem_core.cli.reports import now_option, only_memory_option, run_and_show
from codexmem_core.cli.state import State, json_option


@click.command("consolidate")
@now_option
@only_memory_option
@json_option
@click.pass_obj
def command(state: State, now: bool, memory: str) -> None:  # noqa: FBT001 - a command's flag
    """Bring the memory files up to date with the notes; no session is read."""
    run_and_show(state, extract=False, now=now, memory=memory)
