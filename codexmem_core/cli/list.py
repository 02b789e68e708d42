"""``codexmem list``."""

from __future__ import annotations

from dataclasses import asdict

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option


@click.command("list")
@click.argument("path", default="")
@click.option("--cursor", default="", metavar="CURSOR", help="Go on where the answer before ended.")
@click.option("--max-results", type=click.IntRange(1, 2_000), default=2_000, help="At most so many.")
@memory_option
@json_option
@click.pass_obj
def command(state: State, path: str, cursor: str, max_results: int, memory: str) -> None:
    """List one folder of the memory."""
    from codexmem_core.readpath.arguments import List

    engine = state.engine
    asked = List(path=path, cursor=cursor, max_results=max_results)
    listing = engine.memory_tools.entries(engine.memory_plugin(memory), asked)
    state.show({**asdict(listing), "truncated": listing.truncated}, listing.text)
