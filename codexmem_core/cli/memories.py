"""``codexmem memories``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.engine import Engine

_SHOWN = ("root", "database", "notes", "waiting", "sessions_reading", "summary_bytes", "readiness", "error")


@click.group("memories", invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show the memories side by side: what each holds, and whether it is ready for new sessions to read."""
    if ctx.invoked_subcommand is None:
        state = ctx.ensure_object(State)
        value = _value(state.engine)
        state.show(value, lambda: _as_text(value))


@command.command("use")
@click.argument("name")
@json_option
@click.pass_obj
def use(state: State, name: str) -> None:
    """Let new sessions read memory NAME. Sessions that were given another one keep it."""
    from codexmem_core.config_file import set_value
    from codexmem_core.publishing import publish_payloads

    state.engine.memory_plugin(name)
    path = state.engine.config.path
    set_value(path, "memories", "read", name)
    engine = state.renewed()
    publish_payloads(engine)
    value = _value(engine)
    reads, memory = value["reads"], value["memories"][name]
    warnings = []
    if reads != name:
        warnings.append(f"new sessions still read {reads}: {value['chosen_by']} comes before the file")
    if not memory.get("readiness", {}).get("ready"):
        missing = memory.get("error") or "; ".join(memory["readiness"]["missing"])
        warnings.append(f"{name} is not ready, sessions are given what there is; missing: {missing}")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    state.show(
        {"reads": reads, "config": path, "warnings": warnings},
        lambda: f"{path}: new sessions read {name}; those that were given another memory keep it",
    )


def _value(engine: Engine) -> dict[str, Any]:
    from codexmem_core.status import status_of

    status = status_of(engine)
    databases = {memory.name: engine.home.below(memory.database) for memory in engine.memories.values()}
    return {
        "reads": status["reads"],
        "chosen_by": engine.config.tables["memories"]["read"].origin,
        "memories": {
            name: {key: part for key, part in {**memory, "database": databases[name]}.items() if key in _SHOWN}
            for name, memory in status["memories"].items()
        },
        "not_installed": status["not_installed"],
        "on_disk": status["on_disk"],
        "warnings": status["warnings"],
    }


def _as_text(value: dict[str, Any]) -> str:
    from codexmem_core.cli.status import lost_lines, readiness_line, warning_lines

    lines = []
    for name, memory in value["memories"].items():
        lines.append(f"{name}{' (new sessions read it)' if name == value['reads'] else ''}")
        lines.append(f"  files     {memory['root']}, summary {memory['summary_bytes']} bytes")
        if "error" in memory:
            lines.append(f"  database  {memory['error']}")
            continue
        lines.append(f"  notes     {memory['notes']} in {memory['database']}; {memory['waiting']} sessions wait")
        lines.append(f"  read by   {memory['sessions_reading']} sessions so far")
        lines.append(f"  {readiness_line(memory)}")
    lines += lost_lines(value)
    others = [name for name in value["memories"] if name != value["reads"]]
    if not value["memories"]:
        lines.append("no memory is installed: add an extra, v1 or v2")
    lines += [f"switch new sessions with: codexmem memories use {name}" for name in others]
    return "\n".join([*lines, *warning_lines(value)])
