"""``codexmem note``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option


@click.command("note")
@click.argument("text")
@click.option("--title", default="", help="Its heading, and a part of its file's name.")
@memory_option
@json_option
@click.pass_obj
def command(state: State, text: str, title: str, memory: str) -> None:
    """Write down something to remember; the next consolidation takes it into the memory. "-" reads standard input."""
    from codexmem_core.readpath.arguments import Note

    engine = state.engine
    words = sys.stdin.read() if text == "-" else text
    added = engine.memory_tools.note(engine.memory_plugin(memory), Note(note=words, title=title))
    state.show(asdict(added), added.text)
