"""``codexmem config``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from codexmem_hookspecs.toml_text import written

from codexmem_core.cli.state import State, current_folder, json_option

if TYPE_CHECKING:
    from codexmem_core.config import Config


@click.group("config", invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show effective settings and where each came from, or set one."""
    if ctx.invoked_subcommand is None:
        _show(ctx.ensure_object(State))


@command.command("set")
@click.argument("name", metavar="TABLE.KEY")
@click.argument("value")
@json_option
@click.pass_obj
def set_one(state: State, name: str, value: str) -> None:
    """Write one setting into your file: true or false, a number, a text, or several with commas between."""
    from codexmem_core.config import from_text, setting_named
    from codexmem_core.config_file import set_value
    from codexmem_core.publishing import publish_payloads

    config = state.engine.config
    table, setting = setting_named(config, name)
    wanted = from_text(setting, value, name)
    set_value(config.path, table, setting.key, wanted)
    engine = state.renewed()
    publish_payloads(engine)
    now = engine.config.tables[table][setting.key]
    if now.value != wanted:
        click.echo(f"warning: {now.origin} comes before the file and says {written(now.value)}", err=True)
    problem = engine.model_choice.problem if table == "models" else ""
    if problem:
        click.echo(f"warning: {problem}", err=True)
    state.show(
        {"setting": f"{table}.{setting.key}", "value": now.value, "origin": now.origin, "path": config.path},
        lambda: f"{config.path}: {table}.{setting.key} = {written(wanted)}",
    )


def _show(state: State) -> None:
    engine = state.engine
    config = engine.config
    here = engine.projects.rules(current_folder())
    warnings = [*engine.setting_warnings, *here.warnings]
    value = {
        "path": config.path,
        "home": engine.home.root,
        "here": {"memory": here.memory, "place": here.place},
        "tables": {
            table: {key: {"value": v.value, "origin": v.origin} for key, v in values.items()}
            for table, values in config.tables.items()
        },
        "warnings": warnings,
    }
    state.show(value, lambda: _as_text(config, engine.home.root, here.reason, warnings))


def _as_text(config: Config, home: str, here: str, warnings: list[str]) -> str:
    lines = [f"# {config.path}", f"# home: {home}", *([f"# in this folder: {here}"] if here else [])]
    for table, values in config.tables.items():
        if values:
            lines.append(f"\n[{table}]")
        lines += [f"{key} = {written(value.value)}  # {value.origin}" for key, value in values.items()]
    lines += [f"\nwarning: {warning}" for warning in warnings]
    return "\n".join(lines)
