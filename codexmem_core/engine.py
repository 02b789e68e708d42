"""The composition root: makes what a command needs, each part when it is first wanted."""

from __future__ import annotations

import os
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from codexmem_hookspecs.values.records import ModelBackend, Setting

from codexmem_core import config as configuration
from codexmem_core import paths
from codexmem_core.plugins.discovery import Candidate, Plugins, installed
from codexmem_core.plugins.stages import Stages
from codexmem_core.projects import Projects, bypassed
from codexmem_core.services.bound import BoundServices, Shared
from codexmem_core.services.clock import SystemClock
from codexmem_core.services.leash import Leash
from codexmem_core.services.log import LogBook
from codexmem_core.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from codexmem_hookspecs.hosts import Host
    from codexmem_hookspecs.services import Clock, Deadline
    from codexmem_hookspecs.values.consolidate import Memory

    from codexmem_core.capture.guards import Guards
    from codexmem_core.config import Config
    from codexmem_core.host.spool import Spool
    from codexmem_core.plugins.calls import Collected
    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.readpath.answer import Answers
    from codexmem_core.readpath.context import Contexts
    from codexmem_core.readpath.tombstones import TombstoneBook
    from codexmem_core.readpath.tools import MemoryTools
    from codexmem_core.services.model_choice import ModelChoice
    from codexmem_core.services.models import ChosenModel
    from codexmem_core.services.serving import ServingPrograms
    from codexmem_core.services.sessions import CatalogueSessions
    from codexmem_core.services.tools import AgentTools
    from codexmem_core.services.transcripts import TranscriptCache
    from codexmem_core.store.jobs import Jobs

BUILT_IN = "extractive"
"""The model that costs nothing; no plugin can take its name over."""

DEFAULT_MEMORY = "v1"
"""Read by new sessions when several memories are installed and none is chosen."""


class UnknownNameError(Exception):
    """No installed plugin provides what was named; the message lists what there is."""


class Engine(Stores):
    """One command's view of one home. ``close`` gives files and databases back."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        home: str = "",
        config: str = "",
        clock: Clock | None = None,
        plugins: Sequence[Candidate] | None = None,
    ) -> None:
        self.environ = dict(os.environ if environ is None else environ)
        self.config_path = paths.config_path(config, self.environ)
        self._candidates = plugins
        self._first_config = configuration.load(self.config_path, self.environ, complete=False)
        place = paths.Home(configuration.home_of(home, self._first_config, self.environ))
        clock = clock or SystemClock()
        super().__init__(place, clock, LogBook(place.logs, clock))
        self.projects = Projects(lambda: self.config, self.environ)
        self.leash = Leash()

    # plugins and settings

    @property
    def outdated(self) -> bool:
        """Whether the settings may say something else by now."""
        return self._first_config.outdated

    def renewed(self) -> Engine:
        """One of the same home that knows what the settings say now. Close it."""
        environ, place, clock = self.environ, self.home.root, self.clock
        return Engine(environ=environ, home=place, config=self.config_path, clock=clock, plugins=self._candidates)

    @property
    def disabled(self) -> set[str]:
        """Plugins that the settings or CODEXMEM_DISABLE (names, commas between) switch off."""
        named = (name.strip() for name in self.environ.get("CODEXMEM_DISABLE", "").split(","))
        return {*self._first_config.names("plugins", "disabled"), *filter(None, named)}

    @cached_property
    def plugins(self) -> Plugins:
        """The installed plugins, but for those disabled by name."""
        candidates = installed() if self._candidates is None else self._candidates
        plugins = Plugins(candidates, disabled=self.disabled, services_for=self.services_for)
        if self.environ.get("CODEXMEM_TRACE", "0") not in ("", "0"):
            from codexmem_core.plugins.calls import trace_to_stderr

            trace_to_stderr(plugins.manager)
        return plugins

    @cached_property
    def config(self) -> Config:
        """Effective settings, plugins' tables included."""
        collected: Collected[Setting] = self.plugins.hooks.collect("codexmem_settings", Setting, named=False)
        by_plugin: dict[str, list[Setting]] = {name: [] for name in self.plugins.active}
        for registered in collected.records.values():
            by_plugin[registered.plugin].append(registered.record)
        return configuration.load(self.config_path, self.environ, plugin_settings=by_plugin)

    @cached_property
    def hosts(self) -> dict[str, Host]:
        """By host name."""
        return {host.name: host for host in self.plugins.hosts.values()}

    @cached_property
    def memories(self) -> dict[str, Memory]:
        """By plugin."""
        return self.plugins.memories

    @cached_property
    def stages(self) -> Stages:
        """The hooks, typed."""
        return Stages(self.plugins.hooks, {host.name: plugin for plugin, host in self.plugins.hosts.items()})

    def memory_plugin(self, name: str = "") -> str:
        """The plugin of a memory by its short name; without one, of the memory that new sessions read.

        Raises UnknownNameError.
        """
        by_name = {memory.name: plugin for plugin, memory in self.memories.items()}
        read = self.config.text("memories", "read")
        default = DEFAULT_MEMORY if DEFAULT_MEMORY in by_name else next(iter(sorted(by_name)), DEFAULT_MEMORY)
        wanted = name or (read if read in by_name else default)
        if wanted not in by_name:
            there = ", ".join(sorted(by_name)) or "none"
            raise UnknownNameError(f"no memory called {wanted} is installed (installed: {there})")
        return by_name[wanted]

    @property
    def backends(self) -> dict[str, ModelBackend]:
        """Model backends by name."""
        return self.model_choice.backends

    @property
    def model(self) -> ChosenModel:
        """The backend that the user chose. Raises ModelSettingsError."""
        return self.model_choice.model

    @property
    def costs(self) -> bool:
        """Whether that model costs money or quota; true of one that nobody knows."""
        name = self.config.text("models", "backend")
        if name == BUILT_IN:  # what most have, and nothing needs to be loaded to know it
            return False
        backend = self.backends.get(name)
        return backend is None or backend.costs

    @cached_property
    def model_choice(self) -> ModelChoice:
        """Backends, the chosen one, its breaker."""
        from codexmem_core.models.providers import provided, with_own_services
        from codexmem_core.services.http import HttpClient
        from codexmem_core.services.model_choice import ModelChoice
        from codexmem_core.services.processes import ChildProcesses

        collected: Collected[ModelBackend] = self.plugins.hooks.collect("codexmem_models", ModelBackend)
        given_ones = collected.records.values()
        return ModelChoice(
            self.config,
            self.clock,
            lambda: self.catalogue,
            plugins=[with_own_services(given.record, partial(self.services_for, given.plugin)) for given in given_ones],
            provided=lambda settings: provided(
                settings,
                self.environ,
                HttpClient,
                partial(ChildProcesses, self.environ, self.leash),
                self.home.below("children"),
            ),
            sharers=lambda: self.memories,
        )

    # stores

    def jobs(self, plugin: str) -> AbstractContextManager[Jobs]:
        """Notes and jobs of a memory, in its own database, opened once a command; threads connect on their own."""
        return self.jobs_at(self.home.below(self.memories[plugin].database), log=plugin)

    def memory_root(self, plugin: str) -> str:
        """The memory's folder."""
        return self.home.below(self.memories[plugin].folder)

    @cached_property
    def spool(self) -> Spool:
        """Events that hooks recorded."""
        from codexmem_core.host.spool import Spool

        return Spool(self.home.spool)

    # services

    def services_for(self, plugin: str, deadline: Deadline | None = None) -> BoundServices:
        """What a plugin is given."""
        return BoundServices(self._shared, plugin, deadline)

    @cached_property
    def transcripts(self) -> TranscriptCache:
        """What this command has read."""
        from codexmem_core.readpath.sieve import Sieve
        from codexmem_core.services.transcripts import TranscriptCache

        return TranscriptCache(
            self.stages.transcript,
            lambda session, item: session.host in self.hosts and self.hosts[session.host].own_text(item),
            self.home.below("cache"),
            lambda session: Sieve(self.access, session, self.tombstones.current()),
        )

    @cached_property
    def guards(self) -> Guards:
        """What is never captured."""
        from codexmem_core.capture.guards import Guards, own_folders

        return Guards(
            hosts=self.hosts,
            own_folders=own_folders(self.home.root, self.hosts.values(), self.environ),
            excluded=self.catalogue.excluded(),
            bypassed=self.catalogue.bypassed(),
            own=self.catalogue.own_sessions(),
            forgotten=self.catalogue.forgotten_sessions(),
            learning=self.config.flag("memories", "generate_memories"),
            rules=cache(self.projects.rules),
        )

    def look_again(self) -> None:
        """Let go of what is only true for one pass: who is left out, what was read, which model does not answer."""
        for name in ("guards", "model_choice"):
            self.__dict__.pop(name, None)
        if "transcripts" in self.__dict__:
            self.transcripts.close()

    @cached_property
    def tombstones(self) -> TombstoneBook:
        """What must not be learned again."""
        from codexmem_core.readpath.tombstones import TombstoneBook

        return TombstoneBook(lambda: self.catalogue, self.home.root)

    @cached_property
    def contexts(self) -> Contexts:
        """What sessions are given at their start."""
        from codexmem_core.readpath.context import Contexts

        return Contexts(self.stages)

    @cached_property
    def answers(self) -> Answers:
        """What hosts are told at a moment."""
        from codexmem_core.host.payloads import generation_of
        from codexmem_core.readpath.answer import Answers

        return Answers(self, generation_of)

    @cached_property
    def _shared(self) -> Shared:
        return Shared(
            config=lambda: self.config,
            projects=self.projects,
            environ=self.environ,
            leash=self.leash,
            serving=self._serving,
            home=self.home,
            clock=self.clock,
            log=self.log_book,
            transcripts=lambda: self.transcripts,
            sessions=lambda: self._sessions,
            tools=lambda: self._tools,
            memories=lambda: {memory.name: self.memory_root(plugin) for plugin, memory in self.memories.items()},
            model=lambda: self.model,
        )

    @cached_property
    def _serving(self) -> ServingPrograms:
        from codexmem_core.services.serving import ServingPrograms

        return ServingPrograms(self.environ, self.leash)

    @cached_property
    def _sessions(self) -> CatalogueSessions:
        from codexmem_core.services.sessions import CatalogueSessions

        return CatalogueSessions(
            self.catalogue,
            lambda: self.memories[self.memory_plugin()].name,
            hosts=self.hosts,
            environ=self.environ,
            log=self.log("tools"),
        )

    @cached_property
    def _tools(self) -> AgentTools:
        from codexmem_hookspecs.values.read import Tool

        from codexmem_core.readpath.offered import OfferedTools
        from codexmem_core.services.tools import AgentTools

        collected = partial(self.plugins.hooks.collect, "codexmem_read_tools", Tool)
        offer = OfferedTools(lambda: self.config)
        return AgentTools(
            offer,
            lambda: self.memory_tools,
            collected,
            self.services_for,
            self.hosts,
            lambda session: self.access.rules_for(session),  # noqa: PLW0108 - asked with a call, not with a list
        )

    @cached_property
    def memory_tools(self) -> MemoryTools:
        """The tools over the memories, kept so that searches stay warm."""
        from codexmem_core.readpath.tools import MemoryTools

        return MemoryTools(self.access)

    @cached_property
    def access(self) -> MemoryAccess:
        """The memories, for what works on them."""
        from codexmem_core.readpath.access import MemoryAccess

        return MemoryAccess(
            home=self.home,
            memories=self.memories,
            hosts=self.hosts,
            memory_of=lambda session: self._sessions.memory_of(session),  # noqa: PLW0108 - opens the catalogue when asked
            stages=self.stages,
            jobs_at=self.jobs_at,
            catalogue=lambda: self.catalogue,
            config=lambda: self.config,
            rules=self.projects.rules,
            bypassed=bypassed(self.environ),
            tombstones=lambda: self.tombstones.current(),  # noqa: PLW0108 - as above
            own_tools=lambda host: self._tools.shown_by(host),  # noqa: PLW0108 - as above
            clock=self.clock,
            log=self.log("tools"),
        )

    def close(self) -> None:
        """Give everything back."""
        if "transcripts" in self.__dict__:
            self.transcripts.close()
        self.close_stores()
        if "_serving" in self.__dict__:
            self._serving.close()
        self.leash.close()
        self.log_book.close()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should see: of the settings, projects' files, refused plugins, the databases and the log."""
        refused = [f"plugin {name} refused: {reason}" for name, reason in self.plugins.refusals.items()]
        return (*self.setting_warnings, *self.projects.warnings, *refused, *self.notices)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the databases and the log have to tell."""
        return (*self.store_notices, *self.log_book.warnings)

    @property
    def setting_warnings(self) -> tuple[str, ...]:
        """Of the settings, names of what is not installed included."""
        warnings = [*self.config.warnings, *self.projects.setting_warnings]
        read, names = self.config.text("memories", "read"), sorted(memory.name for memory in self.memories.values())
        if read and names and read not in names:
            used = self.memories[self.memory_plugin()].name
            warnings.append(f"memories.read is {read}, which is not installed ({', '.join(names)}); {used} is used")
        if disabled := self.disabled:  # distributions are only read when somebody asks
            strange = disabled - {info.name for info in self.plugins.infos}
            warnings += [f"no plugin called {name} is installed; nothing to disable" for name in sorted(strange)]
        return tuple(warnings)

    def host(self, name: str) -> Host:
        """Raises UnknownNameError."""
        if name not in self.hosts:
            there = ", ".join(sorted(self.hosts)) or "none"
            raise UnknownNameError(f"no host called {name} is installed (installed: {there})")
        return self.hosts[name]
