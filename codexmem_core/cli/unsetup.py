"""``codexmem unsetup``."""

from __future__ import annotations

import click

from codexmem_core.cli.host_files import change_and_show, finish
from codexmem_core.cli.state import State, json_option

NEXT = """
Done: {titles} without codexmem, from the next session on.
What is remembered stays; codexmem reset deletes it."""


@click.command("unsetup")
@click.argument("hosts", metavar="HOST...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@json_option
@click.pass_obj
def command(state: State, hosts: tuple[str, ...], yes: bool, dry_run: bool) -> None:  # noqa: FBT001 - a command's flags
    """Take everything of codexmem out of an agent's settings, and leave what others put there.

    Shows the exact change of each file and asks. What is remembered stays.
    """
    finish(state, change_and_show(state, hosts, out=True, yes=yes, dry_run=dry_run), NEXT)
