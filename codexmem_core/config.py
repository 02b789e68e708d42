"""Settings: where each value comes from, and what was wrong with the others.

A wrong value is a warning that names the key, the range and the default used; an unknown key is a warning; nothing
stops working. Names and defaults of ``[memories]`` are Codex's (Codex 0.171), but for ``dedicated_tools``.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.session_files import expanded
from codexmem_hookspecs.values.records import Setting, SettingValue

from codexmem_core import paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENVIRONMENT = "environment "
"""Begins the origin of a value that a variable sets."""

ENGINE_TABLES: dict[str, tuple[Setting, ...]] = {
    "memories": (
        Setting(
            key="home",
            default="",
            path=True,
            help="folder of everything codexmem knows; empty: the platform's data folder",
        ),
        Setting(key="read", default="", help="memory that new sessions read; empty: the only one installed, else v1"),
        Setting(
            key="ready_sessions", default=20, low=1, high=4096, help="sessions in one consolidation of a ready memory"
        ),
        Setting(key="generate_memories", default=True, help="learn from sessions"),
        Setting(key="use_memories", default=True, help="give memory to new sessions"),
        Setting(key="dedicated_tools", default=True, help="offer the memory tools to agents"),
        Setting(
            key="citations",
            default="auto",
            choices=("auto", "on", "off"),
            help="ask agents to cite what they used; auto: where the host hides it (OpenCode)",
        ),
        Setting(key="disable_on_external_context", default=False, help="do not learn from sessions that used the web"),
        Setting(key="max_raw_memories_for_consolidation", default=256, low=1, high=4096, help="sessions consolidated"),
        Setting(key="max_unused_days", default=30, low=0, high=365, help="days until an unused session is let go"),
        Setting(key="max_rollout_age_days", default=10, low=0, high=90, help="older sessions are not extracted"),
        Setting(key="max_rollouts_per_startup", default=2, low=1, high=128, help="sessions a pass, models that cost"),
        Setting(
            key="min_rollout_idle_hours", default=6, low=1, high=48, help="hours without activity before extraction"
        ),
        Setting(
            key="bypass",
            default=(),
            help="folders in which agents are neither captured nor given memory: patterns such as ~/private/**",
        ),
        Setting(key="extract_model", default="", help="model for extraction"),
        Setting(key="consolidation_model", default="", help="model for consolidation"),
    ),
    "models": (
        Setting(key="backend", default="extractive", help="extractive (built in, offline, free) or a registered one"),
        Setting(key="model", default="", help="model of both stages, unless [memories] names one for a stage"),
        Setting(key="base_url", default="", help="openai, anthropic: another server that speaks the same API"),
        Setting(key="wire", default="responses", choices=("responses", "chat"), help="openai: which API is spoken"),
        Setting(
            key="api_key_env",
            default="",
            help="environment variable that holds the key; empty: the provider's usual one, and none for a base_url",
        ),
        Setting(key="stream", default=False, help="ask for a stream, where a provider needs it"),
        Setting(key="structured", default=True, help="let the provider enforce the JSON schema of answers"),
        Setting(key="tool_calls", default=True, help="the model has tool calls; false: one JSON action an answer"),
        Setting(key="efforts", default=(), help="effort levels that the model knows; empty: none is asked for"),
        Setting(
            key="context_window", default=0, low=0, high=100_000_000, help="tokens the model reads at once; 0: unknown"
        ),
        Setting(
            key="max_output_tokens", default=0, low=0, high=1_000_000, help="longest answer; 0: the provider's own"
        ),
        Setting(key="timeout_s", default=300.0, low=0.1, high=3600, help="seconds until a request is given up"),
        Setting(key="costs", default=True, help="calls cost money or quota; false for a model of your own: no limits"),
        Setting(
            key="recipe", default="", choices=("", "codex", "claude"), help="command: codex exec or claude -p as model"
        ),
        Setting(key="command", default=(), help="command: a program of your own, prompt in, answer out"),
        Setting(
            key="job_minutes", default=15.0, low=0.01, high=60, help="minutes without a sign of life until a job ends"
        ),
    ),
    "budget": (
        Setting(key="calls_per_day", default=200, low=0, high=1_000_000, help="requests a day (UTC), all memories"),
        Setting(
            key="tokens_per_day", default=2_000_000, low=0, high=10_000_000_000, help="tokens a day (UTC), all memories"
        ),
    ),
    "worker": (
        Setting(
            key="idle_s", default=300, low=1, high=86_400, help="seconds without an event after which the worker ends"
        ),
        Setting(
            key="rest_s", default=30, low=0, high=3_600, help="seconds between a pass that did something and the next"
        ),
    ),
    "plugins": (Setting(key="disabled", default=(), help="plugins that are not loaded, by name"),),
}

OTHER_NAMES = {("memories", "read"): ("version",)}
"""By which a setting is understood too, in the file and in variables."""


class SettingError(Exception):
    """A setting that is not there, or a value that does not fit it; the message says which and what would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A setting's value and where it came from."""

    value: SettingValue
    origin: str
    """``default``, ``environment NAME``, ``command line`` or the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Effective settings by table and key."""

    path: str
    tables: Mapping[str, Mapping[str, Value]]
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)
    stamp: tuple[int, ...] = ()
    """Of the file before it was read; empty: there was none."""

    @property
    def outdated(self) -> bool:
        """Whether the file is not any more what was read."""
        return _stamp(self.path) != self.stamp

    def table(self, name: str) -> dict[str, SettingValue]:
        """Plain values of one table."""
        return {key: value.value for key, value in self.tables.get(name, {}).items()}

    def flag(self, table: str, key: str) -> bool:
        """A bool."""
        return bool(self.tables[table][key].value)

    def number(self, table: str, key: str) -> int:
        """A whole number."""
        value = self.tables[table][key].value
        assert isinstance(value, int)
        return value

    def decimal(self, table: str, key: str) -> float:
        """A number."""
        value = self.tables[table][key].value
        assert isinstance(value, int | float)
        return float(value)

    def text(self, table: str, key: str) -> str:
        """A string."""
        return str(self.tables[table][key].value)

    def names(self, table: str, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.tables[table][key].value
        assert isinstance(value, tuple)
        return value


def load(
    path: str,
    environ: Mapping[str, str],
    *,
    plugin_settings: Mapping[str, Sequence[Setting]] | None = None,
    complete: bool = True,
) -> Config:
    """Read the file and the environment. Never raises: an unreadable file is a warning and defaults are used.

    ``complete=False`` reads before plugins are known, so tables that may be theirs are not called unknown.
    """
    warnings: list[str] = []
    stamp = _stamp(path)
    document = _read(path, warnings)
    settings = {**ENGINE_TABLES, **{name: tuple(given) for name, given in (plugin_settings or {}).items()}}
    tables = {}
    for name, known in settings.items():
        given = document.get(name, {})
        if not isinstance(given, dict):
            warnings.append(f"{path}: [{name}] is no table; its defaults are used")
            given = {}
        tables[name] = _table(name, known, given, environ, path, warnings)
    if complete:
        unknown = [name for name in document if name not in settings]
        warnings += [f"{path}: unknown table [{name}]{_suggestion(name, settings)}" for name in unknown]
    return Config(path=path, tables=tables, warnings=tuple(warnings), settings=settings, stamp=stamp)


def names_of(table: str, key: str) -> tuple[str, ...]:
    """All names of a setting, its own first: where several are given, the first counts."""
    return key, *OTHER_NAMES.get((table, key), ())


def home_of(option: str, config: Config, environ: Mapping[str, str]) -> str:
    """``--home``, else CODEXMEM_HOME, else ``[memories] home``, else the platform's user data folder."""
    for chosen in (option, environ.get("CODEXMEM_HOME", ""), config.text("memories", "home")):
        if chosen:
            return os.path.abspath(os.path.expanduser(chosen))
    return paths.default_home()


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: str, warnings: list[str]) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        warnings.append(f"{path}: cannot be read ({error}); defaults are used")
        return {}


def _table(
    name: str,
    known: Sequence[Setting],
    given: Mapping[str, object],
    environ: Mapping[str, str],
    path: str,
    warnings: list[str],
) -> dict[str, Value]:
    values: dict[str, Value] = {}
    by_key = {one: setting for setting in known for one in names_of(name, setting.key)}
    for setting in known:
        names = names_of(name, setting.key)
        variables = [f"CODEXMEM_{name}_{one}".upper().replace("-", "_") for one in names]
        in_environ: dict[str, object] = {one: _from_text(setting, environ[one]) for one in variables if one in environ}
        in_file = {f"{path}: {name}.{one}": given[one] for one in names if one in given}
        said = in_environ or in_file
        if not said:
            values[setting.key] = Value(value=setting.default, origin="default")
            continue
        where, *others = said
        origin = f"{ENVIRONMENT}{where}" if in_environ else path
        value = typed(setting, said[where], where, warnings)
        if setting.path:
            folder = "" if in_environ else os.path.dirname(os.path.abspath(path))
            value = expanded(str(_placed(setting, str(value), where, folder, warnings)), environ)
        values[setting.key] = Value(value=value, origin=origin)
        warnings += [f"{one} is passed over: {where} says otherwise" for one in others if said[one] != said[where]]
    for key in given:
        if key == "dual_write" and name == "memories":
            warnings.append(f"{path}: memories.dual_write has no effect: install a second memory to write both")
        elif key not in by_key:
            warnings.append(f"{path}: unknown key {name}.{key}{_suggestion(key, by_key)}")
    return values


def _suggestion(word: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def from_text(setting: Setting, text: str, where: str) -> SettingValue:
    """What a user typed, as the setting's value. Raises SettingError when it does not fit."""
    warnings: list[str] = []
    value = typed(setting, _from_text(setting, text), where, warnings)
    if setting.path:
        value = _placed(setting, str(value), where, "", warnings)
    if warnings:
        raise SettingError(warnings[0].rpartition("; ")[0])
    return value


def setting_named(config: Config, name: str) -> tuple[str, Setting]:
    """Table and setting of ``TABLE.KEY``, under any of its names. Raises SettingError."""
    table, _, key = name.partition(".")
    known = {one: setting for setting in config.settings.get(table, ()) for one in names_of(table, setting.key)}
    if key in known:
        return table, known[key]
    every = [f"{table}.{setting.key}" for table, settings in config.settings.items() for setting in settings]
    close = difflib.get_close_matches(name, every, 1)
    raise SettingError(f"there is no setting {name}{f'; did you mean {close[0]}?' if close else ''}")


def _from_text(setting: Setting, text: str) -> object:
    if isinstance(setting.default, bool):
        return {"1": True, "true": True, "0": False, "false": False}.get(text.strip().lower(), text)
    if isinstance(setting.default, int | float):
        try:
            return float(text) if isinstance(setting.default, float) else int(text)
        except ValueError:
            return text
    if isinstance(setting.default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def typed(setting: Setting, value: object, where: str, warnings: list[str]) -> SettingValue:
    """The value if it fits the setting; else a warning, and the nearest allowed number or the default."""
    default = setting.default
    problem = ""
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        problem = "must be true or false"
    elif isinstance(default, int | float):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return _clamped(setting, value, where, warnings)
        problem = f"must be a number{_range(setting)}"
    elif isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        problem = "must be a list of strings"
    elif isinstance(value, str) and (not setting.choices or value in setting.choices):
        return value
    elif setting.choices:
        problem = f"must be one of {', '.join(setting.choices)}"
    else:
        problem = "must be a string"
    warnings.append(f"{where} {problem}; the default {default!r} is used")
    return default


def _placed(setting: Setting, path: str, where: str, folder: str, warnings: list[str]) -> SettingValue:
    """A path that means the same wherever it is read. A relative one counts from ``folder``; "": it is wrong."""
    if not path or os.path.isabs(path) or path.startswith("~/"):
        return path
    if folder:
        return os.path.normpath(os.path.join(folder, path))
    warnings.append(f"{where} must be an absolute path, or begin with ~/; the default {setting.default!r} is used")
    return setting.default


def _clamped(setting: Setting, value: float, where: str, warnings: list[str]) -> SettingValue:
    whole = math.floor(value) if isinstance(setting.default, int) else value
    low = whole if setting.low is None else max(whole, setting.low)
    kept = low if setting.high is None else min(low, setting.high)
    kept = int(kept) if isinstance(setting.default, int) else kept
    if kept != whole:
        warnings.append(f"{where} is {value}, outside{_range(setting)}; {kept} is used")
    return kept


def _range(setting: Setting) -> str:
    if setting.low is None and setting.high is None:
        return ""
    return f" {setting.low if setting.low is not None else ''}..{setting.high if setting.high is not None else ''}"
