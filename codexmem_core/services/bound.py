"""Services bound to one plugin and one call. Each is imported when it is first wanted: most commands want few."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from codexmem_core.services.deadline import WorkDeadline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.services import Clock, Deadline, Log, Sessions, Tools, Transcripts
    from codexmem_hookspecs.values.records import SettingValue

    from codexmem_core.config import Config
    from codexmem_core.paths import Home
    from codexmem_core.projects import Projects
    from codexmem_core.safety.files import GuardedFolder
    from codexmem_core.services.http import HttpClient
    from codexmem_core.services.leash import Leash
    from codexmem_core.services.log import LogBook
    from codexmem_core.services.models import BoundModels, ChosenModel
    from codexmem_core.services.processes import ChildProcesses
    from codexmem_core.services.serving import ServingPrograms

CALL_SECONDS = 900.0
"""Longest time of a call that has no deadline of its own: the 15 minutes of a job."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What every plugin's services are made from. The callables make expensive parts when they are first wanted."""

    config: Callable[[], Config]
    projects: Projects
    environ: Mapping[str, str]
    leash: Leash
    serving: ServingPrograms
    home: Home
    clock: Clock
    log: LogBook
    transcripts: Callable[[], Transcripts]
    sessions: Callable[[], Sessions]
    tools: Callable[[], Tools]
    memories: Callable[[], Mapping[str, str]]
    model: Callable[[], ChosenModel]


class BoundServices:
    """Everything that a hook may reach, for one plugin."""

    def __init__(self, shared: Shared, plugin: str, deadline: Deadline | None = None) -> None:
        self._shared = shared
        self._plugin = plugin
        self._deadline = deadline or WorkDeadline(CALL_SECONDS)

    @property
    def plugin(self) -> str:
        """The plugin; its model calls are counted under this name."""
        return self._plugin

    @property
    def settings(self) -> Mapping[str, SettingValue]:
        """The plugin's own table."""
        return self._shared.config().table(self._plugin)

    def settings_for(self, cwd: str) -> Mapping[str, SettingValue]:
        """With the project's file merged in."""
        return self._shared.projects.table(self._plugin, cwd)

    def learns_in(self, cwd: str) -> bool:
        """Whether a project may be learned from."""
        return self._shared.projects.rules(cwd).learns

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the command."""
        return self._shared.environ

    @cached_property
    def folder(self) -> GuardedFolder:
        """The plugin's own folder, made when first wanted."""
        return self.open_folder(self._shared.home.plugin(self._plugin), write=True)

    def open_folder(self, root: str, *, write: bool = False) -> GuardedFolder:
        """A folder behind the path guard; what a scan cannot enter is a warning."""
        from codexmem_core.safety.files import GuardedFolder

        log = self.log
        return GuardedFolder(
            root,
            write=write,
            links=not write,
            on_error=lambda path, error: log.warning("cannot be read", place=path, error=str(error)),
        )

    @cached_property
    def http(self) -> HttpClient:
        """The one HTTP client."""
        from codexmem_core.services.http import HttpClient

        return HttpClient(self._deadline)

    @cached_property
    def models(self) -> BoundModels:
        """The user's model."""
        from codexmem_core.services.models import BoundModels

        return BoundModels(self._shared.model(), self)

    @property
    def transcripts(self) -> Transcripts:
        """Of any host."""
        return self._shared.transcripts()

    @cached_property
    def processes(self) -> ChildProcesses:
        """Child programs."""
        from codexmem_core.services.processes import ChildProcesses

        return ChildProcesses(self._shared.environ, self._shared.leash, self._deadline, self._shared.serving)

    @property
    def sessions(self) -> Sessions:
        """The catalogue."""
        return self._shared.sessions()

    @property
    def tools(self) -> Tools:
        """The agents' tools."""
        return self._shared.tools()

    @property
    def memories(self) -> Mapping[str, str]:
        """Name → folder of each installed memory."""
        return self._shared.memories()

    @property
    def deadline(self) -> Deadline:
        """Of this call."""
        return self._deadline

    @property
    def clock(self) -> Clock:
        """The one clock."""
        return self._shared.clock

    @property
    def log(self) -> Log:
        """Bound to the plugin."""
        return self._shared.log.bound(self._plugin)
