"""The only ways to call a hook: collect records, call each plugin on its own, call the one that owns the item.

Results are drained here, inside the ``try``: a generator's error belongs to its plugin. Services are bound here and
nowhere else. pluggy itself would stop at the first exception and cost one memory its turn when another fails.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pluggy
from codexmem_hookspecs.errors import ModelRefused, Rewritten, TryLater, Unreadable
from codexmem_hookspecs.specs import GROUPS

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Deadline, Services

T = TypeVar("T")

RECORD_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}\Z")
MAY_ANSWER_NOTHING = frozenset({"codexmem_capture_event"})
"""Hooks whose success is None. Everywhere else a missing answer is an error."""


class PluginError(Exception):
    """A plugin failed in a hook; names both."""

    def __init__(self, plugin: str, hook: str, cause: BaseException | str) -> None:
        text = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        super().__init__(f"{plugin}: {hook}: {text}")
        self.plugin = plugin
        self.hook = hook


class MissingHookError(PluginError):
    """The plugin that owns the item does not implement the hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What one plugin answered, or why it did not."""

    plugin: str
    value: T | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered(Generic[T]):
    """A record and the plugin that gave it."""

    plugin: str
    record: T


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected(Generic[T]):
    """Valid records by name, sorted, and what was wrong with others, by plugin."""

    records: Mapping[str, Registered[T]]
    problems: tuple[tuple[str, str], ...]

    def by_plugin(self) -> dict[str, T]:
        """The record of each plugin, for hooks that give exactly one."""
        return {registered.plugin: registered.record for registered in self.records.values()}


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows every hook of the contract."""
    manager = pluggy.PluginManager("codexmem")
    for group in GROUPS:
        manager.add_hookspecs(group)
    return manager


def trace_to_stderr(manager: pluggy.PluginManager) -> None:
    """Print every hook call and its result (``CODEXMEM_TRACE=1``)."""

    def before(hook_name: str, hook_impls: Iterable[pluggy.HookImpl], _kwargs: Mapping[str, Any]) -> None:
        print(f"→ {hook_name} [{', '.join(i.plugin_name for i in hook_impls)}]", file=sys.stderr)  # noqa: T201

    def after(outcome: pluggy.Result[Any], hook_name: str, _impls: Iterable[object], _kwargs: object) -> None:
        shown = f"raised {outcome.exception!r}" if outcome.exception else f"{outcome.get_result()!r:.200}"
        print(f"← {hook_name} {shown}", file=sys.stderr)  # noqa: T201

    manager.add_hookcall_monitoring(before, after)


class Hooks:
    """Calls hooks of the registered plugins."""

    def __init__(self, manager: pluggy.PluginManager, services_for: Callable[[str, Deadline | None], Services]) -> None:
        self._manager = manager
        self._services_for = services_for

    def with_hook(self, hook: str) -> tuple[str, ...]:
        """Names of the plugins that implement it, sorted."""
        impls = getattr(self._manager.hook, hook).get_hookimpls()
        return tuple(sorted(impl.plugin_name for impl in impls))

    def collect(self, hook: str, kind: type[T] | None = None, *, named: bool = True) -> Collected[T]:
        """Records of every plugin. Two plugins that claim one name lose it both; a plugin that raises loses its own.

        With ``named=False`` names only count within one plugin: the key is then ``<plugin>.<name>``.
        """
        given: dict[str, list[Registered[T]]] = {}
        problems: list[tuple[str, str]] = []
        for plugin in self.with_hook(hook):
            try:
                records = list(self.call_one(plugin, hook))
            except Exception as error:  # noqa: BLE001 - whatever a plugin raises stops only its own records
                problems.append((plugin, str(error)))
                continue
            for record in records:
                name = getattr(record, "name", None)
                if kind is not None and not isinstance(record, kind):
                    problems.append((plugin, f"{hook}: {record!r:.80} is no {kind.__name__}"))
                elif not isinstance(name, str) or not RECORD_NAME.match(name):
                    problems.append((plugin, f"{hook}: {name!r} is no name of lower-case letters, digits, - and _"))
                else:
                    key = name if named else f"{plugin}.{name}"
                    given.setdefault(key, []).append(Registered(plugin=plugin, record=record))
        for key, claims in given.items():
            if len(claims) > 1:
                owners = ", ".join(claim.plugin for claim in claims)
                problems += [(claim.plugin, f"{hook}: the name {key} is claimed by {owners}") for claim in claims]
        records_by_name = {key: claims[0] for key, claims in sorted(given.items()) if len(claims) == 1}
        return Collected(records=records_by_name, problems=tuple(problems))

    def call_each(self, hook: str, /, *, deadline: Deadline | None = None, **arguments: object) -> list[Outcome[Any]]:
        """Every plugin that implements the hook, each with its own outcome."""
        outcomes: list[Outcome[Any]] = []
        for plugin in self.with_hook(hook):
            try:
                value = self.call_one(plugin, hook, deadline=deadline, **arguments)
                outcomes.append(Outcome(plugin=plugin, value=value))
            except Exception as error:  # noqa: BLE001 - one plugin's failure is one outcome
                outcomes.append(Outcome(plugin=plugin, error=error))
        return outcomes

    def call_one(self, plugin: str, hook: str, /, *, deadline: Deadline | None = None, **arguments: object) -> Any:
        """The plugin that owns the item. Raises MissingHookError, PluginError, and the contract's own exceptions."""
        try:
            value = self._invoke(plugin, hook, deadline, arguments)
            drained = list(value) if isinstance(value, Iterator) else value
        except (PluginError, ModelRefused, TryLater, Unreadable, Rewritten):
            raise
        except Exception as error:
            raise PluginError(plugin, hook, error) from error
        if drained is None and hook not in MAY_ANSWER_NOTHING:
            raise PluginError(plugin, hook, "returned None; a missing answer is an error")
        return drained

    def call_stream(
        self, plugin: str, hook: str, /, *, deadline: Deadline | None = None, **arguments: object
    ) -> Iterator[Any]:
        """Like call_one for an iterator that is too long to drain; its errors carry the plugin's name as well."""
        try:
            value = self._invoke(plugin, hook, deadline, arguments)
            if value is None:
                raise PluginError(plugin, hook, "returned None; a missing answer is an error")
            yield from value
        except (PluginError, ModelRefused, TryLater, Unreadable, Rewritten):
            raise
        except Exception as error:
            raise PluginError(plugin, hook, error) from error

    def _invoke(self, plugin: str, hook: str, deadline: Deadline | None, arguments: dict[str, object]) -> Any:
        caller = getattr(self._manager.hook, hook)
        impls = caller.get_hookimpls()
        if all(impl.plugin_name != plugin for impl in impls):
            raise MissingHookError(plugin, hook, "not implemented")
        if "services" in caller.spec.argnames:
            arguments["services"] = self._services_for(plugin, deadline)
        others = [impl.plugin for impl in impls if impl.plugin_name != plugin]
        answers = self._manager.subset_hook_caller(hook, others)(**arguments)
        return answers[0] if answers else None
