"""What a place says about memory: a project's own file, and the user's list of folders that are left out.

Both can only switch off. Of several files above a folder the strictest counts, so that no project that somebody else
wrote can switch on what the user switched off further up.
"""

from __future__ import annotations

import os
import stat
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from codexmem_core import config as configuration
from codexmem_core.paths import inside_any
from codexmem_core.project_files import LONGEST_BYTES, may_switch_off, project_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.values.read import Effect
    from codexmem_hookspecs.values.records import SettingValue

    from codexmem_core.config import Config

Memory = Literal["on", "off", "read_only", "no_context"]

BYPASS = "CODEXMEM_BYPASS"
"""Environment variable of a host: what is started with it is neither captured nor given anything."""

_GLOB = frozenset("*?[")
_ANYWHERE = ("*", "?", "[")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRules:
    """What holds for sessions in one folder."""

    memory: Memory = "on"
    """``off``: neither context nor learning. ``read_only``: context, but nothing is learned or noted. ``no_context``:
    learned from, but given nothing."""
    place: str = ""
    """The file or the setting that says so; empty when nothing does."""
    warnings: tuple[str, ...] = ()
    """What was not understood in the files, and what a project may not set."""

    @property
    def gives(self) -> bool:
        """Whether sessions are given memory: at their start, and by the tools that read it."""
        return self.memory in ("on", "read_only")

    @property
    def learns(self) -> bool:
        """Whether sessions are learned from, noted, counted, and told to plugins."""
        return self.memory in ("on", "no_context")

    @property
    def reason(self) -> str:
        """For people; empty when everything is on."""
        return f'memory = "{self.memory}" ({self.place})' if self.memory != "on" else ""

    def refusal(self, effect: Effect) -> str:
        """Why a session here may not call a tool that does this; empty when it may.

        A tool that does not say what it does could do both. Deleting is always allowed.
        """
        if effect in ("reads", "unknown") and not self.gives:
            return f"this session is given no memory, the user wants it so: {self.reason}"
        if effect in ("adds", "changes", "unknown") and not self.learns:
            return f"nothing is written down for this session, the user wants it so: {self.reason}"
        return ""


class Projects:
    """One reading of each project file, made anew when its stat changes. Threads may share it."""

    def __init__(self, config: Callable[[], Config], environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ
        self._read: dict[str, tuple[tuple[int, ...], _Document]] = {}

    def rules(self, cwd: str) -> ProjectRules:
        """What holds in a folder, which need not exist. Where nothing is said, and without a folder, memory is on."""
        if not os.path.isabs(cwd):
            return ProjectRules()
        said: list[tuple[Memory, str]] = []
        warnings: list[str] = []
        pattern = next((one for one, globs in self._bypass.items() if inside_any(cwd, globs)), "")
        if pattern:
            said.append(("off", f'[memories] bypass = "{pattern}"'))
        for path in project_files(cwd):
            document = self._document(path)
            warnings += document.warnings
            said.append((document.memory, path))
        memory = _strictest({memory for memory, _ in said})
        # Where only several together say it, all of them are named.
        alone = [place for one, place in said if one == memory][:1]
        place = " and ".join(alone or [place for one, place in said if one != "on"])
        return ProjectRules(memory=memory, place=place, warnings=tuple(warnings))

    def table(self, plugin: str, cwd: str) -> dict[str, SettingValue]:
        """A plugin's table, with what the nearest project file says of the keys that a project may set."""
        values = self._config().tables.get(plugin, {})
        paths = project_files(cwd)
        here = self._document(paths[0]).tables.get(plugin, {}) if paths else {}
        return {
            key: value.value if value.origin.startswith(configuration.ENVIRONMENT) else here.get(key, value.value)
            for key, value in values.items()
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of the files that were read so far."""
        return tuple(told for _, document in self._read.values() for told in document.warnings)

    @property
    def setting_warnings(self) -> tuple[str, ...]:
        """Patterns of the user that name no place."""
        return tuple(
            f'memories.bypass: "{pattern}" is passed over: it must begin with /, ~/ or **/'
            for pattern in self._config().names("memories", "bypass")
            if pattern not in self._bypass
        )

    @property
    def asked_folders(self) -> tuple[str, ...]:
        """Folders in and below which the user's list may say something: a hook there cannot answer by itself."""
        patterns = [glob for globs in self._bypass.values() for glob in globs]
        return tuple(dict.fromkeys(_literal(pattern)[0] for pattern in patterns))

    @cached_property
    def _bypass(self) -> dict[str, tuple[str, ...]]:
        """Each pattern of the user with the absolute ones that it stands for."""
        given = self._config().names("memories", "bypass")
        return {pattern: globs for pattern in given if (globs := self._absolute(pattern))}

    def _absolute(self, pattern: str) -> tuple[str, ...]:
        """The pattern from the root on, also with its links resolved; nothing for one that names no place."""
        home = self._environ.get("HOME", "")
        if pattern == "~" or pattern.startswith("~/"):
            pattern = f"{home}{pattern[1:]}" if os.path.isabs(home) else ""
        elif pattern.startswith(_ANYWHERE):
            pattern = f"/{pattern}"
        if not pattern.startswith("/"):
            return ()
        for ending in ("/**", "/"):
            pattern = pattern.removesuffix(ending)  # a folder means everything in it anyway
        place, rest = _literal(os.path.normpath(pattern or "/*"))
        return tuple(
            dict.fromkeys(os.path.join(one, rest) if rest else one for one in (place, os.path.realpath(place)))
        )

    def _document(self, path: str) -> _Document:
        stamp = _stamp(path)
        kept = self._read.get(path)
        if kept is None or kept[0] != stamp:
            kept = self._read[path] = (stamp, _Document.of(path, self._config()))
        return kept[1]


@dataclass(frozen=True, slots=True)
class _Document:
    """One project file."""

    memory: Memory
    tables: Mapping[str, Mapping[str, SettingValue]]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, path: str, config: Config) -> _Document:
        """What it says.

        A file that may be about memory and cannot be understood means off: who wrote it wanted to keep something apart.
        """
        try:
            given = tomllib.loads(_text(path))
        except (OSError, ValueError, RecursionError) as error:
            memory: Memory = "off" if may_switch_off(path) else "on"
            told = "; memory is off there until it can" if memory == "off" else ""
            return cls(memory, {}, (f"{path}: cannot be read ({error}){told}",))
        warnings: list[str] = []
        memory = given.pop("memory", "on")
        if memory not in get_args(Memory):
            choices = ", ".join(get_args(Memory))
            warnings.append(f"{path}: memory must be one of {choices}; it is taken for off")
            memory = "off"
        tables = {name: _allowed(path, name, table, config, warnings) for name, table in given.items()}
        return cls(memory, tables, tuple(warnings))


def _allowed(path: str, name: str, table: object, config: Config, warnings: list[str]) -> dict[str, SettingValue]:
    """The keys of a plugin that a project may set."""
    known = {setting.key: setting for setting in config.settings.get(name, ()) if setting.project}
    if not isinstance(table, dict) or not known:
        what = f"[{name}]" if isinstance(table, dict) else name
        warnings.append(f"{path}: {what} is passed over: a project's file may not set it")
        return {}
    values: dict[str, SettingValue] = {}
    for key, value in table.items():
        if key in known:
            values[key] = configuration.typed(known[key], value, f"{path}: {name}.{key}", warnings)
        else:
            warnings.append(f"{path}: {name}.{key} is passed over: a project's file may not set it")
    return values


def bypassed(environ: Mapping[str, str]) -> bool:
    """Whether the variable asks for no capture and no context."""
    return environ.get(BYPASS, "") not in ("", "0")


def _strictest(said: set[Memory]) -> Memory:
    gives = not said & {"off", "no_context"}
    learns = not said & {"off", "read_only"}
    if gives:
        return "on" if learns else "read_only"
    return "no_context" if learns else "off"


def _literal(pattern: str) -> tuple[str, str]:
    """A pattern's folder without wildcards, and the rest."""
    parts = pattern.split("/")
    plain = next((number for number, part in enumerate(parts) if _GLOB & set(part)), len(parts))
    return "/".join(parts[:plain]) or "/", "/".join(parts[plain:])


def _text(path: str) -> str:
    """Raises OSError for what is no file of a sensible size, ValueError for what is no UTF-8."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a pipe of that name must not stop anybody
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > LONGEST_BYTES:
            raise OSError(f"no file of at most {LONGEST_BYTES} bytes")
        return file.read(LONGEST_BYTES + 1).decode("utf-8-sig")


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode
