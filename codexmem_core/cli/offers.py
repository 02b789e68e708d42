"""Switches of plugins that are offered to whoever sets a host up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from codexmem_hookspecs.values.records import Setting

from codexmem_core.config_file import SettingsFileError, set_value

if TYPE_CHECKING:
    from collections.abc import Collection

    from codexmem_core.cli.state import State
    from codexmem_core.plugins.calls import Collected


def make_offers(state: State, hosts: Collection[str], *, ask: bool) -> None:
    """Ask about each switch that is off and has something to offer now; who is not asked is told how to turn it on."""
    engine = state.engine
    collected: Collected[Setting] = engine.plugins.hooks.collect("codexmem_settings", Setting, named=False)
    for registered in collected.records.values():
        plugin, setting = registered.plugin, registered.record
        if setting.offer is None or setting.offer.host not in hosts or engine.config.flag(plugin, setting.key):
            continue
        try:
            question = setting.offer.question(engine.services_for(plugin))
        except Exception as error:  # noqa: BLE001 - an offer that cannot be made is none
            engine.log(plugin).info("nothing is offered", error=str(error))
            continue
        if not question:
            continue
        path = engine.config.path
        if ask and not state.as_json and click.confirm(question, default=False):
            try:
                set_value(path, plugin, setting.key, value=True)
            except SettingsFileError as error:
                click.echo(str(error), err=True)
            else:
                click.echo(f"written: {path} ([{plugin}] {setting.key} = true)")
        elif not state.as_json:
            click.echo(f"{question} Not now; later: {setting.key} = true in [{plugin}] of {path}")
