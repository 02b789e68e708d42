"""``codexmem config``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, current_folder, json_option

if TYPE_CHECKING:
    from codexmem_core.config import Config


@click.command("config")
@json_option
@click.pass_obj
def command(state: State) -> None:
    """Show effective settings and where each came from."""
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
        lines += [f"{key} = {_toml(value.value)}  # {value.origin}" for key, value in values.items()]
    lines += [f"\nwarning: {warning}" for warning in warnings]
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{part}"' for part in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
