"""``codexmem mode``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_hookspecs.values.capture import MemoryMode


@click.command("mode")
@click.argument("session")
@click.argument("mode", type=click.Choice(("enabled", "disabled", "polluted")), required=False)
@json_option
@click.pass_obj
def command(state: State, session: str, mode: MemoryMode | None) -> None:
    """Show or set whether SESSION (HOST:ID, or an id) may be remembered; polluted: it took in outside content."""
    changed = state.engine.memory_tools.mode(session, mode)
    state.show(asdict(changed), changed.text)
