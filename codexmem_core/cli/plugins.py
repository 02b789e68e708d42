"""``codexmem plugins``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.plugins.discovery import PluginInfo


@click.command("plugins")
@json_option
@click.pass_obj
def command(state: State) -> None:
    """List plugins, what they implement, and why any was refused."""
    infos = state.engine.plugins.infos
    state.show({"plugins": [asdict(info) for info in infos]}, lambda: _as_text(infos, verbose=state.verbose > 0))


def _as_text(infos: list[PluginInfo], *, verbose: bool) -> str:
    if not infos:
        return "no plugins are installed: choose features with extras, for example v1 and claude"
    lines = []
    for info in infos:
        state = info.state if info.state == "active" else f"{info.state}: {info.reason}"
        lines.append(f"{info.name}  {info.distribution} {info.version}  {state}")
        stages = sorted({_stage(hook) for hook in info.hooks})
        lines += [f"    {hook}" for hook in info.hooks] if verbose else [f"    {', '.join(stages)}"] if stages else []
    return "\n".join(lines)


def _stage(hook: str) -> str:
    word = hook.removeprefix("codexmem_").split("_")[0]
    return {"memory": "consolidate", "read": "read path"}.get(word, word)
