"""``codexmem forget``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.readpath.forgetting.effect import Effect
    from codexmem_core.readpath.forgetting.wanted import Kind


@click.command("forget")
@click.argument("target", metavar="SESSION|FILE|TEXT")
@click.option("--session", "kind", flag_value="session", help="TARGET is a session: HOST:ID, or an id.")
@click.option("--file", "kind", flag_value="file", help="TARGET is a transcript, a recap, a note or a skill.")
@click.option("--text", "kind", flag_value="text", help="TARGET is words, wherever they stand.")
@click.option("--yes", is_flag=True, help="Do not ask, however much a text stands in.")
@click.option("--lift", is_flag=True, help="Let it be learned again.")
@json_option
@click.pass_obj
def command(state: State, target: str, kind: Kind | None, yes: bool, lift: bool) -> None:  # noqa: FBT001 - flags
    """Take a session, a file or a text out of every store, and never learn it again.

    Without an option TARGET is a session if there is one of that name, else a file, else a text. What else was learned
    stays. Agents' own transcripts are never changed. Before a text goes, it is told how much that would take.
    """
    from codexmem_core.publishing import publish_payloads
    from codexmem_core.readpath import forget
    from codexmem_core.readpath.forgetting.effect import effect_of
    from codexmem_core.readpath.forgetting.targets import target_of

    engine = state.engine
    meant = target_of(engine.access, target, kind)
    if lift:
        count = forget.lift(engine, meant)
        state.show({"lifted": count}, lambda: f"may be learned again: {meant.name or 'the text'}")
        return
    if meant.kind == "text" and not yes:
        _ask(effect_of(engine.access, meant))
    report = forget.forget(engine, meant)
    publish_payloads(engine)
    state.show({"forgotten": True, **asdict(report)}, report.text)


def _ask(effect: Effect) -> None:
    """Raises ToolError for a no, and UsageError where much would go and nobody can be asked."""
    from codexmem_core.readpath.errors import ToolError

    if sys.stdin.isatty():
        if (effect.sessions or effect.files) and not click.confirm(f"{effect.text()}\nGo on?", err=True):
            raise ToolError("nothing was changed")
    elif effect.is_large:
        raise click.UsageError(f"{effect.text()} Nobody can be asked here, so nothing was changed: say --yes.")
