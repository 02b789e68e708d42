"""Finds plugins by entry point and refuses broken ones, each alone and with its reason."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Literal, Protocol

import pluggy
from codexmem_hookspecs.markers import HOOK_API, PROJECT
from codexmem_hookspecs.specs import REQUIRED
from codexmem_hookspecs.values.consolidate import Memory
from codexmem_hookspecs.values.records import Command

from codexmem_core.plugins.calls import Collected, Hooks, Registered, new_manager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Deadline, Services

State = Literal["active", "disabled", "refused"]


class RefusedPluginError(Exception):
    """Why a plugin is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """A plugin as ``codexmem plugins`` shows it."""

    name: str
    """Entry-point name: the owner key of jobs, settings, folder, lock, log and budget."""
    distribution: str
    version: str
    state: State
    reason: str = ""
    hooks: tuple[str, ...] = ()


class Candidate(Protocol):
    """A plugin that announces itself, before it is trusted."""

    @property
    def name(self) -> str:
        """Of the entry point."""
        ...

    @property
    def distribution(self) -> str:
        """Who ships it."""
        ...

    @property
    def version(self) -> str:
        """Of the distribution."""
        ...

    def load(self) -> tuple[object, object]:
        """The plugin and its module's HOOK_API. Raises whatever its import raises."""
        ...


class InstalledPlugin:
    """A candidate that an entry point names."""

    def __init__(self, entry_point: EntryPoint) -> None:
        self._entry_point = entry_point

    @property
    def name(self) -> str:
        """Of the entry point."""
        return self._entry_point.name

    @property
    def distribution(self) -> str:
        """Who ships it."""
        return self._entry_point.dist.name if self._entry_point.dist else ""

    @property
    def version(self) -> str:
        """Of the distribution."""
        return self._entry_point.dist.version if self._entry_point.dist else ""

    def load(self) -> tuple[object, object]:
        """Import it."""
        plugin = self._entry_point.load()
        return plugin, getattr(sys.modules[self._entry_point.module], "HOOK_API", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPlugin:
    """A candidate given as an object, for embedding and for tests of plugins."""

    name: str
    plugin: object
    api: int | None = HOOK_API
    distribution: str = "(in process)"
    version: str = ""

    def load(self) -> tuple[object, object]:
        """The object; an exception given in its place is raised."""
        if isinstance(self.plugin, BaseException):
            raise self.plugin
        return self.plugin, self.api


class Plugins:
    """The registered plugins, and what became of every other one."""

    def __init__(
        self,
        candidates: Iterable[Candidate],
        *,
        disabled: Iterable[str] = (),
        services_for: Callable[[str, Deadline | None], Services],
    ) -> None:
        self.manager = new_manager()
        self.hooks = Hooks(self.manager, services_for)
        self._found: dict[str, _Found] = {}
        candidates = sorted(candidates, key=lambda candidate: candidate.name)
        twice = {name for name, count in Counter(candidate.name for candidate in candidates).items() if count > 1}
        blocked = set(disabled)
        for candidate in candidates:
            self._add(candidate, twice=candidate.name in twice, blocked=candidate.name in blocked)
        self._refuse_conflicts("codexmem_capture_host")
        self._refuse_conflicts("codexmem_memory")

    @property
    def infos(self) -> list[PluginInfo]:
        """Every plugin that was found, sorted by name."""
        return [self._found[name].info for name in sorted(self._found)]

    @property
    def active(self) -> list[str]:
        """Names of the plugins in use, sorted."""
        return sorted(name for name, found in self._found.items() if found.state == "active")

    @property
    def refusals(self) -> dict[str, str]:
        """Why each refused plugin is."""
        return {name: found.reason for name, found in sorted(self._found.items()) if found.state == "refused"}

    @property
    def memories(self) -> dict[str, Memory]:
        """Memory of each plugin that gives one, sorted by plugin."""
        found = self.hooks.collect("codexmem_memory", Memory).by_plugin()
        return {plugin: found[plugin] for plugin in sorted(found)}

    @property
    def hosts(self) -> dict[str, Host]:
        """Host of each plugin that gives one, sorted by plugin."""
        collected: Collected[Host] = self.hooks.collect("codexmem_capture_host")
        found = collected.by_plugin()
        return {plugin: found[plugin] for plugin in sorted(found)}

    @cached_property
    def commands(self) -> Mapping[str, Registered[Command]]:
        """Commands of ``codexmem`` that plugins add, by name."""
        collected: Collected[Command] = self.hooks.collect("codexmem_commands", Command)
        return collected.records

    @property
    def tool_server(self) -> str:
        """Name of the command that serves the tools to hosts' agents; empty when none is installed."""
        return next((name for name, one in self.commands.items() if one.record.serves_tools), "")

    def distribution(self, plugin: str) -> str:
        """``name version`` of the plugin's distribution."""
        candidate = self._found[plugin].candidate
        return f"{candidate.distribution} {candidate.version}"

    def _add(self, candidate: Candidate, *, twice: bool, blocked: bool) -> None:
        found = _Found(candidate)
        self._found[candidate.name] = found
        if blocked:
            found.state, found.reason = "disabled", "disabled by name"
            return
        try:
            if twice:
                raise RefusedPluginError(f"two distributions announce a plugin called {candidate.name}")
            plugin, api = candidate.load()
            if api != HOOK_API:
                raise RefusedPluginError(f"speaks HOOK_API {api}, this engine speaks {HOOK_API}")
            found.hooks = register(self.manager, plugin, candidate.name)
        except BaseException as error:  # a plugin's import may even call sys.exit; it stops only itself
            if isinstance(error, KeyboardInterrupt):
                raise
            found.state = "refused"
            found.reason = str(error) if isinstance(error, RefusedPluginError) else f"{type(error).__name__}: {error}"

    def _refuse_conflicts(self, hook: str) -> None:
        """One memory or host an entry point, with a name of its own; who breaks that is refused, both if they clash."""
        collected: Collected[object] = self.hooks.collect(hook)
        counts = Counter(registered.plugin for registered in collected.records.values())
        reasons = dict(collected.problems)
        reasons |= {plugin: f"{hook} gives {n} records; one an entry point" for plugin, n in counts.items() if n > 1}
        for plugin in self.hooks.with_hook(hook):
            if plugin not in reasons and not counts[plugin]:
                reasons[plugin] = f"{hook} gives no record"
        for plugin, reason in reasons.items():
            named = ", ".join(self.distribution(other) for other in self._found if other in reason)
            self.manager.unregister(name=plugin)
            found = self._found[plugin]
            found.state, found.hooks = "refused", ()
            found.reason = f"{reason} ({named})" if named else reason


@dataclass(slots=True)
class _Found:
    """A candidate and what became of it. Its distribution's data is only read when somebody asks for it."""

    candidate: Candidate
    state: State = "active"
    reason: str = ""
    hooks: tuple[str, ...] = ()

    @property
    def info(self) -> PluginInfo:
        return PluginInfo(
            name=self.candidate.name,
            distribution=self.candidate.distribution,
            version=self.candidate.version,
            state=self.state,
            reason=self.reason,
            hooks=self.hooks,
        )


def register(manager: pluggy.PluginManager, plugin: object, name: str) -> tuple[str, ...]:
    """Register after checking it against the contract; returns its hooks. Raises RefusedPluginError."""
    try:
        manager.register(plugin, name)
    except (pluggy.PluginValidationError, ValueError) as error:
        if manager.has_plugin(name):
            manager.unregister(name=name)
        raise RefusedPluginError(str(error).replace("\n", " ")) from error
    callers = manager.get_hookcallers(plugin) or []
    hooks = tuple(sorted(caller.name for caller in callers))
    try:
        for caller in callers:
            _check_hook(caller, plugin)
        _check_completeness(set(hooks))
    except RefusedPluginError:
        manager.unregister(name=name)
        raise
    return hooks


def _check_hook(caller: pluggy.HookCaller, plugin: object) -> None:
    if not caller.has_spec():
        raise RefusedPluginError(f"implements {caller.name}, which the contract does not know")
    for impl in caller.get_hookimpls():
        if impl.plugin is not plugin:
            continue
        if inspect.iscoroutinefunction(impl.function) or inspect.isasyncgenfunction(impl.function):
            raise RefusedPluginError(f"{caller.name} is a coroutine; hooks are synchronous")
        if impl.wrapper or impl.hookwrapper:
            raise RefusedPluginError(f"{caller.name} is a wrapper; plugins run on their own")


def _check_completeness(hooks: set[str]) -> None:
    if not hooks:
        raise RefusedPluginError("implements no hook; is the object a class that was not called?")
    for given, needed in REQUIRED.items():
        missing = sorted(needed - hooks)
        if given in hooks and missing:
            raise RefusedPluginError(f"{given} also needs {', '.join(missing)}")


def installed() -> list[Candidate]:
    """Every plugin that an installed distribution announces."""
    return [InstalledPlugin(entry_point) for entry_point in entry_points(group=PROJECT)]


def in_process(plugins: Sequence[tuple[str, object]]) -> list[Candidate]:
    """Plugins given as objects."""
    return [GivenPlugin(name=name, plugin=plugin) for name, plugin in plugins]
