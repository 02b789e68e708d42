"""``codexmem worker``."""

from __future__ import annotations

import os

import click

from codexmem_core.cli.state import State, json_option


@click.command("worker")
@click.option("--stop", "stopping", is_flag=True, help="End the one that runs; what it held is given back untouched.")
@json_option
@click.pass_obj
def command(state: State, stopping: bool) -> None:  # noqa: FBT001 - a command's flag
    """Work in the foreground as the worker that hooks start, or end it. Hooks start it by themselves."""
    from codexmem_core.host import alone

    engine = state.engine
    if stopping:
        stopped = alone.stop(engine.home)
        state.show({"stopped": stopped}, lambda: "stopped" if stopped else "no worker was running")
        return
    owner = alone.owner(engine.home)
    if owner is not None:
        raise click.ClickException(f"a worker runs already (process {owner.pid}): codexmem worker --stop ends it")
    from codexmem_core.worker.main import work

    engine.make_home()
    home, config = engine.home.root, engine.config_path
    engine.close()
    raise click.exceptions.Exit(work(home, config, os.environ))
