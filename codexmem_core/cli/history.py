"""``codexmem history``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.consolidate.history import HistoryEntry


@click.command("history")
@memory_option
@json_option
@click.pass_obj
def command(state: State, memory: str) -> None:
    """List the consolidations whose state is kept, newest first."""
    from codexmem_core.readpath.history import history_of

    engine = state.engine
    plugin = engine.memory_plugin(memory)
    entries = history_of(engine.access, plugin)
    value = {"memory": engine.memories[plugin].name, "history": [asdict(entry) for entry in entries]}
    state.show(value, lambda: "\n".join(map(_line, entries)) or "nothing was consolidated yet (see codexmem status)")


def _line(entry: HistoryEntry) -> str:
    at = datetime.fromtimestamp(entry.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    counts = f"+{entry.added} ~{entry.modified} -{entry.deleted}"
    folded = " (with everything before it)" if entry.folded else ""
    return f"{entry.id[:10]}  {at} UTC  {counts:<14} {entry.message}{folded}"
