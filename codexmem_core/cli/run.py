"""``codexmem run``."""

from __future__ import annotations

from typing import Any

import click

from codexmem_core.cli.reports import now_option, only_memory_option, run_and_show, session_options
from codexmem_core.cli.state import State, json_option


@click.command("run")
@session_options
@now_option
@only_memory_option
@json_option
@click.pass_obj
def command(state: State, /, **options: Any) -> None:
    """Read finished sessions and bring the memories up to date."""
    run_and_show(state, **options)
