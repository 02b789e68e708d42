"""What all commands share: the options before the command, and the engine made from them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

from codexmem_core.cli.following import FollowingServices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_core.engine import Engine
    from codexmem_core.worker.engines import Engines

F = TypeVar("F", bound="Callable[..., object]")


class State:
    """The object that click carries."""

    def __init__(self) -> None:
        self.home = ""
        self.config = ""
        self.as_json = False
        self.verbose = 0
        self.debug = False
        self._engine: Engine | None = None
        self._engines: Engines | None = None

    def take_over(self, options: Mapping[str, Any]) -> None:
        """The options that were given before the command."""
        self.home, self.config, self.as_json = options["home"], options["config"], options["as_json"]
        self.verbose, self.debug = options["verbose"], options["debug"]

    @property
    def engine(self) -> Engine:
        """Made when a command first wants it."""
        if self._engine is None:
            from codexmem_core.engine import Engine

            self._engine = Engine(home=self.home, config=self.config)
        return self._engine

    def renewed(self) -> Engine:
        """One that knows what has just been changed in the settings."""
        before, self._engine = self.engine, self.engine.renewed()
        before.close()
        return self._engine

    def show(self, value: dict[str, Any], text: Callable[[], str]) -> None:
        """Print one JSON object, or the text."""
        click.echo(json.dumps(value, ensure_ascii=False, indent=2) if self.as_json else text())

    def plugin_commands(self) -> dict[str, str]:
        """Name and summary of commands that plugins add."""
        return {name: registered.record.summary for name, registered in self.engine.plugins.commands.items()}

    def plugin_command(self, name: str) -> click.Command | None:
        """A plugin's command, given its own services as ``ctx.obj``."""
        registered = self.engine.plugins.commands.get(name)
        if registered is None:
            return None
        command = registered.record.load()
        services: object = self.engine.services_for(registered.plugin)
        if registered.record.serves_tools:
            services = FollowingServices(self._following(), registered.plugin)
        command.context_settings = {**command.context_settings, "obj": services}
        return command

    def _following(self) -> Engines:
        from codexmem_core.worker.engines import Engines

        self._engines = Engines(self.engine.home.root, self.engine.config_path, self.engine.environ)
        return self._engines

    def explain(self, error: Exception) -> str:
        """One line: what, where, what to do."""
        text = str(error) or type(error).__name__
        known = type(error).__module__.startswith("codexmem") or isinstance(error, OSError)
        return text if known else f"{type(error).__name__}: {text} (--debug shows where)"

    def close(self) -> None:
        """Give everything back."""
        for made in (self._engine, self._engines):
            if made is not None:
                made.close()


def current_folder() -> str:
    """Where the command runs; empty when that folder is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def json_option(function: F) -> F:
    """``--json`` after the command means the same as before it."""

    def set_it(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's callback
        if value:
            ctx.ensure_object(State).as_json = True

    option = click.option("--json", is_flag=True, expose_value=False, callback=set_it, help="Print one JSON object.")
    return option(function)
