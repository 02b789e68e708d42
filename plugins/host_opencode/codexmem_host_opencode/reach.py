"""How OpenCode is reached now: a server that listens, else its program, else not at all. Never its database.

(OpenCode memory: D4.)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import ModelRefused, Unreadable
from codexmem_hookspecs.json_lines import NotUnderstood

from codexmem_host_opencode.program import USUAL, Program
from codexmem_host_opencode.seen import Seen, seen
from codexmem_host_opencode.server import Server, reached

if TYPE_CHECKING:
    from codexmem_hookspecs.services import Services

    from codexmem_host_opencode.records import Conversation

UNREACHABLE = "no server of OpenCode answers, and its program is not found"


class Reach:
    """For one call of a hook."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @cached_property
    def seen(self) -> list[Seen]:
        """Where it was at work, the last one first."""
        return seen(self._services)

    @cached_property
    def server(self) -> Server | None:
        """The first that answers: the one that the user named, then those that were seen."""
        named = str(self._services.settings.get("url", ""))
        urls = [named] if named else [one.word.url for one in self.seen]
        for url in dict.fromkeys(filter(None, urls)):
            if server := reached(url, self._services):
                return server
        return None

    @cached_property
    def program(self) -> Program:
        """The one that the user named, else the one that was last seen at work, else the one of that name."""
        named = str(self._services.settings.get("program", ""))
        ran = next((one.word.program for one in self.seen if one.word.program), "")
        return Program(named or ran or USUAL, self._services)

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

    def conversation(self, session_id: str) -> Conversation:
        """A session and everything that was said in it. Raises Unreadable."""
        why = ""
        if self.server is not None:
            try:
                return self.server.conversation(session_id)
            except NotUnderstood as problem:
                why = f"{self.server.url}: {problem}"
        try:
            return self.program.conversation(session_id)
        except FileNotFoundError:
            raise Unreadable(why or UNREACHABLE) from None
        except NotUnderstood as problem:
            raise Unreadable("; ".join(filter(None, (why, str(problem))))) from None
