"""How OpenCode is reached now: a server that listens, else its program, else not at all. Never its database.

(OpenCode memory: D4.) OpenCode 1 and 2 may both be there, each with sessions of its own; the one that was last at work
is asked for models.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import ModelRefused, Unreadable
from codexmem_hookspecs.json_lines import NotUnderstood

from codexmem_host_opencode.program import USUAL, Program
from codexmem_host_opencode.second import service as second
from codexmem_host_opencode.seen import Seen, seen
from codexmem_host_opencode.server import Server, credentials, reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem_hookspecs.services import Services

    from codexmem_host_opencode.records import Conversation
    from codexmem_host_opencode.second.service import Service

UNREACHABLE = "no server of OpenCode answers, and its program is not found"
SECOND = 2


class Reach:
    """For one call of a hook."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._named = str(services.settings.get("url", ""))

    @cached_property
    def seen(self) -> Sequence[Seen]:
        """Where OpenCode 1 was at work, the last one first."""
        return [one for one in self._all_seen if one.word.generation != SECOND]

    @cached_property
    def second_seen(self) -> Sequence[Seen]:
        """The same of OpenCode 2."""
        return [one for one in self._all_seen if one.word.generation == SECOND]

    @cached_property
    def _all_seen(self) -> Sequence[Seen]:
        return seen(self._services)

    # OpenCode 1

    @cached_property
    def server(self) -> Server | None:
        """The first that answers: the one that the user named, then those that were seen."""
        urls = [self._named] if self._named else [one.word.url for one in self.seen]
        for url in dict.fromkeys(filter(None, urls)):
            if server := reached(url, self._services):
                return server
        return None

    @cached_property
    def program(self) -> Program:
        """The one that the user named, else the one that was last seen at work and is there, else the usual name."""
        named = str(self._services.settings.get("program", ""))
        ran = [one.word.program for one in self.seen if one.word.program]
        others = {os.path.realpath(one.word.program) for one in self.second_seen if one.word.program}
        paths = [named] if named else [*dict.fromkeys(ran), USUAL]
        programs = [Program(path, self._services, others) for path in paths]
        return next((program for program in programs if program.is_there), programs[-1])

    @property
    def asked(self) -> Server:
        """The one that answers, else one that is started for as long as this pass goes on. Raises ModelRefused."""
        if self.server is not None:
            return self.server
        try:
            return self.program.served()
        except FileNotFoundError:
            raise ModelRefused(f"opencode: {UNREACHABLE}; set [host-opencode] program", "transport") from None
        except TimeoutError as error:
            raise ModelRefused(f"opencode: {error}", "transport") from None

    # OpenCode 2

    @cached_property
    def _registered(self) -> Service | str:
        """The service, or why there is none."""
        pids = {one.word.pid for one in self.second_seen}
        try:
            if self._named:
                return second.ready(self._named.rstrip("/"), credentials(self._services.environ), self._services)
            return second.registered(self._services, pids)
        except second.Unavailable as why:
            return str(why)

    @property
    def service(self) -> Service | None:
        """The registered service, or the one that the user named."""
        return None if isinstance(self._registered, str) else self._registered

    @property
    def no_service(self) -> str:
        """Why there is none; empty when there is."""
        return self._registered if isinstance(self._registered, str) else ""

    @cached_property
    def seconds(self) -> Sequence[Service]:
        """Everything that answers for OpenCode 2, the service first."""
        found = [self.service] if self.service is not None else []
        return [*found, *second.processes(self.second_seen, self._services)]

    @cached_property
    def prefers_second(self) -> bool:
        """Whether OpenCode 2 was the last at work; where none was seen, whether it is the one that answers."""
        if self._all_seen:
            return self._all_seen[0].word.generation == SECOND
        return self.service is not None

    # Either

    def conversation(self, session_id: str) -> Conversation:
        """A session and everything that was said in it. Raises Unreadable."""
        reasons: list[str] = []
        servers: list[Service | Server] = [*self.seconds, *([self.server] if self.server is not None else [])]
        for server in servers:
            try:
                return server.conversation(session_id)
            except NotUnderstood as problem:
                reasons.append(f"{server.url}: {problem}")
        try:
            return self.program.conversation(session_id)
        except FileNotFoundError:
            reasons = reasons or [UNREACHABLE]
        except NotUnderstood as problem:
            reasons.append(str(problem))
        raise Unreadable("; ".join(reasons)) from None
