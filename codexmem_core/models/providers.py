"""The backends that every installation has beside the built-in one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codexmem_core.models.anthropic import anthropic
from codexmem_core.models.command import command
from codexmem_core.models.openai import openai
from codexmem_core.models.reached import Reached
from codexmem_core.models.selection import STAGES, ModelSettings, ModelSettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Deadline, Services
    from codexmem_hookspecs.values.records import ModelBackend

    from codexmem_core.models.command import Programs
    from codexmem_core.models.exchange import Exchange


def provided(
    settings: ModelSettings,
    environ: Mapping[str, str],
    exchange: Callable[[Deadline], Exchange],
    programs: Callable[[Deadline], Programs],
    folder: str,
) -> dict[str, Reached]:
    """By name. ``folder``: where programs are run, inside the home."""
    made = (
        openai(settings, environ, exchange),
        anthropic(settings, environ, exchange),
        command(settings, environ, programs, folder),
    )
    return {reached.backend.name: reached for reached in made}


def with_own_services(backend: ModelBackend, services_for: Callable[[Deadline], Services]) -> ModelBackend:
    """A plugin's backend that is given its own plugin's services, whoever asks it."""
    turn = backend.turn
    return replace(
        backend,
        ask=lambda request, transcript, services: backend.ask(request, transcript, services_for(services.deadline)),
        turn=None if turn is None else lambda request, services: turn(request, services_for(services.deadline)),
    )


def registered(backend: ModelBackend) -> Reached:
    """A plugin's backend: its credentials are its own business."""
    return Reached(backend=backend, provider=backend.name, picks_model=True)


def check(reached: Reached, settings: ModelSettings) -> None:
    """Raises ModelSettingsError when the chosen backend lacks a setting, before anything is asked."""
    name = reached.backend.name
    if name == "command" and not settings.recipe and not settings.command:
        raise ModelSettingsError(
            'the backend command needs a program: set [models] recipe = "codex" or "claude", or command = ["program"]'
        )
    if reached.picks_model or reached.backend.reads_transcript:
        return
    missing = [stage for stage in STAGES if not settings.model(stage, reached.defaults)]
    if missing:
        raise ModelSettingsError(f"the backend {name} has no model for {' and '.join(missing)}: set [models] model")
