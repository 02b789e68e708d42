"""``codexmem config``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from codexmem_core.cli.state import State, json_option

if TYPE_CHECKING:
    from codexmem_core.config import Config


@click.command("config")
@json_option
@click.pass_obj
def command(state: State) -> None:
    """Show effective settings and where each came from."""
    engine = state.engine
    config = engine.config
    value = {
        "path": config.path,
        "home": engine.home.root,
        "tables": {
            table: {key: {"value": v.value, "origin": v.origin} for key, v in values.items()}
            for table, values in config.tables.items()
        },
        "warnings": list(config.warnings),
    }
    state.show(value, lambda: _as_text(config, engine.home.root))


def _as_text(config: Config, home: str) -> str:
    lines = [f"# {config.path}", f"# home: {home}"]
    for table, values in config.tables.items():
        if values:
            lines.append(f"\n[{table}]")
        lines += [f"{key} = {_toml(value.value)}  # {value.origin}" for key, value in values.items()]
    lines += [f"\nwarning: {warning}" for warning in config.warnings]
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{part}"' for part in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
