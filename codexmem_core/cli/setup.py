"""``codexmem setup``."""

from __future__ import annotations

import sys

import click

from codexmem_core.cli.host_files import change_and_show, finish
from codexmem_core.cli.offers import make_offers
from codexmem_core.cli.state import State, json_option

NEXT = """
Done: {titles} with codexmem. The next session begins with what is remembered, and is remembered once it has ended.
Sessions of before: codexmem run    Check: codexmem doctor    Undo: codexmem unsetup {names}"""


@click.command("setup")
@click.argument("hosts", metavar="HOST...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@json_option
@click.pass_obj
def command(state: State, hosts: tuple[str, ...], yes: bool, dry_run: bool) -> None:  # noqa: FBT001 - a command's flags
    """Let an agent remember: put hooks, trust in them and the memory tools into its own settings.

    Shows the exact change of each file and asks. Entries of others stay. Say it again after moving or upgrading
    codexmem, and whenever doctor asks for it; what is as it should be is not touched.
    """
    from codexmem_core.publishing import publish_payloads
    from codexmem_core.setup.findings import import_problem

    problem = import_problem(sys.executable)
    if problem:
        raise click.ClickException(
            f"hooks would do nothing: {sys.executable} -I cannot import codexmem ({problem});"
            " install it in a virtual environment, not with --user"
        )
    changes = change_and_show(state, hosts, out=False, yes=yes, dry_run=dry_run)
    if any(change.written for change in changes):
        publish_payloads(state.engine)
    if not dry_run:
        ready = [change.host for change in changes if change.written or not (change.edits or change.error)]
        make_offers(state, ready, ask=not yes and sys.stdin.isatty())
    finish(state, changes, NEXT)
