"""``codexmem diff``."""

from __future__ import annotations

from dataclasses import asdict

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option


@click.command("diff")
@click.argument("commit", required=False, default="")
@memory_option
@json_option
@click.pass_obj
def command(state: State, commit: str, memory: str) -> None:
    """Show what a consolidation changed (COMMIT of codexmem history); without: what changed since the last one."""
    from codexmem_core.readpath.history import diff_of

    engine = state.engine
    plugin = engine.memory_plugin(memory)
    diff = diff_of(engine.access, plugin, commit)
    value = {"memory": engine.memories[plugin].name, **asdict(diff)}
    state.show(value, lambda: diff.patch.rstrip("\n") or "nothing has changed")
