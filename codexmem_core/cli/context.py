"""``codexmem context``."""

from __future__ import annotations

import os

import click

from codexmem_core.cli.state import State, current_folder, json_option


@click.command("context")
@click.option("--host", default="", metavar="NAME", help="As this host would be given it; without: uncut.")
@click.option("--cwd", default="", metavar="DIR", help="Where the session would start.")
@click.option("--memory", default="", metavar="NAME", help="Of this memory instead of the one new sessions read.")
@json_option
@click.pass_obj
def command(state: State, host: str, cwd: str, memory: str) -> None:
    """Print exactly what a new session would be given."""
    from codexmem_core.projects import BYPASS, bypassed
    from codexmem_core.readpath.answer import context_for
    from codexmem_core.readpath.session_start import why_none

    engine, folder = state.engine, os.path.abspath(cwd) if cwd else current_folder()
    why = f"{BYPASS} is set" if bypassed(engine.environ) else why_none(engine, folder)
    text = "" if why else context_for(engine, host=host, memory=memory, cwd=folder)
    if not (text or why):
        why = "no session has left anything in this memory yet (see codexmem status)"
    value = {
        "context": text,
        "bytes": len(text.encode()),
        "memory": engine.memories[engine.memory_plugin(memory)].name,
        "host": host,
        "cwd": folder,
        "why_nothing": why,
    }
    if state.as_json:
        state.show(value, lambda: text)
    elif text:
        click.echo(text, nl=False)  # these bytes and no others
    else:
        click.echo(f"nothing: {why}", err=True)
    for warning in engine.projects.warnings:
        click.echo(f"warning: {warning}", err=True)
