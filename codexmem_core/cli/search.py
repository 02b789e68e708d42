"""``codexmem search``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from codexmem_core.cli.reports import memory_option
from codexmem_core.cli.state import State, json_option

MODES = ("ranked", "any", "all_on_same_line", "all_within_lines")


@click.command("search")
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@click.option(
    "--mode",
    "match_mode",
    type=click.Choice(MODES),
    default="ranked",
    show_default=True,
    help="ranked: best passages for the words together; any: lines with any QUERY; the others: with all of them.",
)
@click.option("--line-count", type=click.IntRange(min=1), default=None, help="Lines of a window of all_within_lines.")
@click.option("--since", default="", metavar="DATE", help="Only files whose name states this day or time, or later.")
@click.option("--until", default="", metavar="DATE", help="… or earlier; a day counts whole.")
@click.option("--path", default="", metavar="PATH", help="Only this file or folder of the memory.")
@click.option("--context", "context_lines", type=click.IntRange(0, 100), default=0, help="Lines around each place.")
@click.option("--max-results", type=click.IntRange(1, 200), default=None, help="At most so many; 10 ranked, else 200.")
@click.option("--cursor", default="", metavar="CURSOR", help="Go on where the answer before ended.")
@click.option("--case-sensitive", is_flag=True, help="Tell upper from lower case; ranked never does.")
@click.option("--normalized", is_flag=True, help="Compare letters and digits only.")
@memory_option
@json_option
@click.pass_obj
def command(state: State, /, queries: tuple[str, ...], memory: str, **options: Any) -> None:
    """Search the memory's files. Without a QUERY, --since and --until list what was learned when."""
    from codexmem_core.readpath.arguments import Search

    if not queries and not (options["since"] or options["until"]):
        raise click.UsageError("say what to look for, or --since or --until")
    engine = state.engine
    # Ranked, several words are one question; otherwise each is a query of its own.
    asked = [" ".join(queries)] if queries and options["match_mode"] == "ranked" else list(queries)
    found = engine.memory_tools.search(engine.memory_plugin(memory), Search(queries=asked, **options))
    state.show({**asdict(found), "truncated": found.truncated}, found.text)
