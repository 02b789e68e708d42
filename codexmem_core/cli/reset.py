"""``codexmem reset``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.readpath.resetting import ResetPlan


@click.command("reset")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def command(state: State, yes: bool) -> None:  # noqa: FBT001 - a command's flag
    """Delete everything that was remembered, in every memory, with its history."""
    from codexmem_core.publishing import publish_payloads

    if not (yes or sys.stdin.isatty()):
        raise click.UsageError("nobody can be asked here: say --yes")

    def confirmed(plan: ResetPlan) -> bool:
        return yes or click.confirm(f"{plan.text()}\nGo on?", err=True)

    plan = state.engine.memory_tools.reset(confirmed)
    publish_payloads(state.engine)
    state.show({"reset": True, **asdict(plan)}, plan.done)
