"""``codexmem extract``."""

from __future__ import annotations

from typing import Any

import click

from codexmem_core.cli.reports import only_memory_option, run_and_show, session_options
from codexmem_core.cli.state import State, json_option


@click.command("extract")
@session_options
@only_memory_option
@json_option
@click.pass_obj
def command(state: State, /, **options: Any) -> None:
    """Take notes of finished sessions; the memory files stay as they are until they are consolidated."""
    run_and_show(state, consolidate=False, **options)
