"""Which model is asked, and with how much effort (OpenCode memory 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codexmem_hookspecs.errors import ModelRefused
from codexmem_hookspecs.models.effort import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codexmem_host_opencode.server import Server

CATALOGUE_S = 5.0
CONFIGURED: Mapping[str, str] = {"extraction": "small_model", "consolidation": "model"}
AGENTS: Mapping[str, str] = {"extraction": "memorize-extract", "consolidation": "memorize"}
"""Agents that a user may have for this work; only their models are of interest."""


class ModelName(NamedTuple):
    """A model as OpenCode names it."""

    provider: str
    model: str

    @property
    def body(self) -> dict[str, str]:
        """As a prompt says it."""
        return {"providerID": self.provider, "modelID": self.model}


def chosen(server: Server, stage: str, option: str) -> ModelName | None:
    """The user's option, OpenCode's own configuration, a model of a user's agent; None: OpenCode decides.

    Raises ModelRefused for an option that names no provider.
    """
    if option:
        return named(option)
    configured = server.get("/config", CATALOGUE_S).body
    if isinstance(configured, dict) and (found := parsed(configured.get(CONFIGURED[stage]))):
        return found
    agents = server.get("/agent", CATALOGUE_S).body
    for agent in agents if isinstance(agents, list) else ():
        if isinstance(agent, dict) and agent.get("name") == AGENTS[stage]:
            return of_agent(agent.get("model"))
    return None


def named(option: str) -> ModelName:
    """The model that the user chose. Raises ModelRefused."""
    found = parsed(option)
    if found is None:
        raise ModelRefused(f'opencode: the model "{option}" is not written as PROVIDER/MODEL', "invalid")
    return found


def parsed(name: object) -> ModelName | None:
    """``provider/model``; what follows the first slash is the model's name."""
    if not isinstance(name, str):
        return None
    provider, _, model = name.partition("/")
    return ModelName(provider, model) if provider and model else None


def of_agent(model: object) -> ModelName | None:
    """A model as an agent's settings say it; OpenCode 2 calls its name ``id``."""
    if not isinstance(model, dict):
        return parsed(model)
    provider, name = model.get("providerID"), model.get("modelID") or model.get("id")
    return ModelName(provider, name) if isinstance(provider, str) and isinstance(name, str) else None


def variant(server: Server, model: ModelName | None, effort: str) -> str:
    """The level to ask for: as wanted where nobody knows what the model has; empty when it has none."""
    if model is None:
        return effort
    known = _variants(server.get("/config/providers", CATALOGUE_S).body, model)
    if known is None:
        return effort
    levels = [level for level, settings in known.items() if not _is_off(settings)]
    return effort if effort in levels else nearest(effort, levels)


def _is_off(settings: object) -> bool:
    return isinstance(settings, dict) and settings.get("disabled") is True


def _variants(catalogue: object, model: ModelName) -> Mapping[str, object] | None:
    for provider in _listed(catalogue):
        if provider.get("id") == model.provider:
            models = provider.get("models")
            found = models.get(model.model) if isinstance(models, dict) else None
            variants = found.get("variants") if isinstance(found, dict) else None
            return variants if isinstance(variants, dict) else None
    return None


def _listed(catalogue: object) -> Iterator[Mapping[str, object]]:
    providers = catalogue.get("providers") if isinstance(catalogue, dict) else None
    for provider in providers if isinstance(providers, list) else ():
        if isinstance(provider, dict):
            yield provider
