"""``codexmem context``."""

from __future__ import annotations

import os

import click

from codexmem_core.cli.state import State, json_option


@click.command("context")
@click.option("--host", default="", metavar="NAME", help="As this host would be given it; without: uncut.")
@click.option("--cwd", default="", metavar="DIR", help="Where the session would start.")
@click.option("--memory", default="", metavar="NAME", help="Of this memory instead of the one new sessions read.")
@json_option
@click.pass_obj
def command(state: State, host: str, cwd: str, memory: str) -> None:
    """Print exactly what a new session would be given."""
    from codexmem_core.readpath.session_start import session_start_context

    text = session_start_context(state.engine, host=host, memory=memory)
    value = {
        "context": text,
        "bytes": len(text.encode()),
        "memory": state.engine.memories[state.engine.memory_plugin(memory)].name,
        "host": host,
        "cwd": os.path.abspath(cwd) if cwd else os.getcwd(),
    }
    if state.as_json or text:
        state.show(value, lambda: text)
    else:
        switched_on = state.engine.config.flag("memories", "use_memories")
        why = (
            "nothing yet: no session has left anything in this memory (see codexmem status)"
            if switched_on
            else "nothing: [memories] use_memories is off"
        )
        click.echo(why, err=True)
