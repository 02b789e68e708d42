"""The model backends that there are, and the one that the user chose, with its budget and breaker."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from codexmem_core.models.breaker import Breaker, Scopes
from codexmem_core.models.budget import Budget
from codexmem_core.models.built_in import EXTRACTIVE
from codexmem_core.models.day import DayLimits
from codexmem_core.models.providers import check, registered
from codexmem_core.models.selection import STAGES, ModelSettingsError, settings_of
from codexmem_core.services.models import ChosenModel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from codexmem_hookspecs.services import Clock
    from codexmem_hookspecs.values.records import ModelBackend

    from codexmem_core.config import Config
    from codexmem_core.models.reached import Reached
    from codexmem_core.models.selection import ModelSettings
    from codexmem_core.store.catalogue import Catalogue


class ModelChoice:
    """What ``[models]`` and ``[budget]`` come to.

    ``provided``: the engine's own backends. ``sharers``: plugins of the memories, which share the budget.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        catalogue: Callable[[], Catalogue],
        *,
        plugins: Iterable[ModelBackend],
        provided: Callable[[ModelSettings], Mapping[str, Reached]],
        sharers: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._config = config
        self._sharers = sharers
        self._clock = clock
        self._catalogue = catalogue
        self._settings = settings_of(config)
        self._reached = {
            **{backend.name: registered(backend) for backend in plugins},
            EXTRACTIVE.name: registered(EXTRACTIVE),
            **provided(self._settings),
        }

    @property
    def backends(self) -> dict[str, ModelBackend]:
        """By name: plugins' own, and the engine's, whose names nobody takes over."""
        return {name: reached.backend for name, reached in self._reached.items()}

    @cached_property
    def model(self) -> ChosenModel:
        """The chosen one. Raises ModelSettingsError when there is none such, or it lacks a setting."""
        reached = self._chosen
        check(reached, self._settings)
        if reached.backend.reads_transcript:
            return ChosenModel(reached.backend)
        limits, costs = DayLimits.of(self._config), reached.backend.costs
        return ChosenModel(
            reached.backend,
            budget=Budget(self._catalogue, self._clock, limits, costs=costs, sharers=self._sharers()),
            breaker=self.breaker,
            attempts=reached.attempts,
            names={stage: self._settings.model(stage, reached.defaults) for stage in STAGES},
        )

    @cached_property
    def breaker(self) -> Breaker:
        """What must not be called now, as the chosen backend sees it. Raises ModelSettingsError."""
        reached = self._chosen
        scopes = Scopes(provider=reached.provider, credentials=reached.credentials, models=self._settings.chosen)
        return Breaker(self._catalogue, self._clock, scopes)

    @property
    def lacks(self) -> str:
        """What the chosen one misses before it can be asked; empty: nothing. Raises ModelSettingsError."""
        return self._chosen.lacks()

    @property
    def problem(self) -> str:
        """Why nothing can be asked of the chosen one; empty: something can."""
        try:
            check(self._chosen, self._settings)
        except ModelSettingsError as error:
            return str(error)
        return self.lacks

    @property
    def _chosen(self) -> Reached:
        name = self._settings.backend
        if name not in self._reached:
            there = ", ".join(sorted(self._reached))
            raise ModelSettingsError(f"no model backend called {name} (there are: {there}); see [models] backend")
        return self._reached[name]
