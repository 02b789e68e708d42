"""``codexmem import``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.interop.adopt import Adoption, MemoryPlan


@click.group("import")
def command() -> None:
    """Take over the memory of another tool, once and as often as you like.

    Notes, their uses, session modes and files come; what is here already stays, and so does everything at the source.
    """


def _dry_run(function: Any) -> Any:
    return click.option("--dry-run", is_flag=True, help="Only show what would come.")(function)


@command.command("opencode-codex-memory")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@_dry_run
@json_option
@click.pass_obj
def opencode_codex_memory(state: State, folder: str, dry_run: bool) -> None:  # noqa: FBT001 - a command's flag
    """Take over a home of the OpenCode plugin opencode-codex-memory.

    DIR is the folder that holds its memory.db and memories/, mostly ~/.local/share/opencode.
    """
    from codexmem_core.interop.adopt_opencode import read_opencode_memory

    engine = state.engine
    place = os.path.realpath(folder)
    _take_over(state, read_opencode_memory(place, engine.home.below("cache")), dry_run=dry_run)


@command.command("codex")
@click.argument("home", metavar="[HOME]", required=False, default="")
@_dry_run
@json_option
@click.pass_obj
def codex(state: State, home: str, dry_run: bool) -> None:  # noqa: FBT001 - a command's flag
    """Take over Codex CLI's own memory, both versions, as it is now.

    HOME is Codex's home; without it CODEX_HOME, else ~/.codex. To exchange with it from now on see [codex-interop].
    """
    from codexmem_hookspecs.session_files import home_in

    from codexmem_core.capture.sessions import discover
    from codexmem_core.interop.adopt_codex import HOST, codex_at_rest, read_codex
    from codexmem_core.interop.adoptable import NothingToAdopt

    engine = state.engine
    place = home or next(iter(home_in(engine.environ, "CODEX_HOME", ".codex")), "")
    if not place:
        raise NothingToAdopt("neither CODEX_HOME nor HOME says where Codex's home is; say where it is as the argument")
    place = os.path.realpath(place)
    if HOST in engine.hosts:  # transcripts say to the millisecond how far they go
        discover(engine.stages, engine.catalogue, host=HOST)
    ends = {one.session.id: one.session.updated_at_ms for one in engine.catalogue.candidates(host=HOST)}
    with codex_at_rest(place, engine.home.locks):
        found = read_codex(place, engine.home.below("cache"), lambda key: ends.get(key.id, 0))
        _take_over(state, found, dry_run=dry_run)


def _take_over(state: State, found: Any, *, dry_run: bool) -> None:
    from codexmem_core.interop.adopt import adopt, plan_adoption
    from codexmem_core.publishing import publish_payloads

    engine = state.engine
    done = plan_adoption(engine.access, found) if dry_run else adopt(engine.access, found)
    if not dry_run:
        publish_payloads(engine)
    state.show(_as_json(done, dry_run=dry_run), lambda: _as_text(done, dry_run=dry_run))


def _as_json(done: Adoption, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "source": done.source,
        "place": done.place,
        "memories": {
            plan.memory: {
                "installed": plan.installed,
                "notes": len(plan.notes),
                "uses": len(plan.uses),
                "known": plan.known,
                "settled": len(plan.settled),
                "left_out": dict(plan.left_out),
                "files": [file.path for file in plan.files.written],
                "files_known": plan.files.known,
            }
            for plan in done.memories
        },
        "modes": {":".join(key): mode for key, mode in done.modes.items()},
        "reads": {":".join(key): memory for key, memory in done.reads.items()},
        "conflicts": list(done.conflicts),
        "skipped": list(done.skipped),
    }


def _as_text(done: Adoption, *, dry_run: bool) -> str:
    if done.empty:
        lines = [f"nothing new in {done.place}"]
    else:
        lines = [f"{'would take over' if dry_run else 'taken over'} from {done.place}:"]
        lines += [line for plan in done.memories if plan.installed for line in _memory_lines(plan)]
    lines += [
        f"  {plan.memory}: {count} notes stay there: {reason}"
        for plan in done.memories
        for reason, count in plan.left_out.items()
    ]
    if done.modes:
        lines.append(f"  {len(done.modes)} sessions that are not to be remembered")
    if done.reads:
        lines.append(f"  {len(done.reads)} sessions that go on reading their memory")
    lines += [f"  conflict: {one}" for one in done.conflicts]
    lines += [f"  not understood: {one}" for one in done.skipped]
    if not dry_run and not done.empty:
        lines.append("codexmem run brings the memory's files up to date with it")
    return "\n".join(lines)


def _memory_lines(plan: MemoryPlan) -> list[str]:
    known = f", {plan.known} known" if plan.known else ""
    uses = f", uses of {len(plan.uses)} more" if plan.uses else ""
    coming = f"{len(plan.notes)} notes{known}{uses}; {len(plan.settled)} sessions count as read"
    return [f"  {plan.memory}: {coming}", *(f"      {file.path}" for file in plan.files.written)]
