"""What is taken out of a transcript before anybody reads it, and what is noticed on the way."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from codexmem_core.readpath import citations
from codexmem_core.readpath.citing import count_citations
from codexmem_core.readpath.modes import asked_to_forget
from codexmem_core.safety.fence import without_fenced

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from codexmem_hookspecs.values.capture import Item, Session

    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.readpath.tombstones import Tombstones

_WEB = frozenset({"webfetch", "websearch", "websearchcall", "toolsearch", "toolsearchcall", "fetchurl"})
_OTHERS_TOOLS = "mcp__"
"""Begins the names of tools that come from MCP servers."""


class Sieve:
    """One reading of one session: redacted items in, what may be learned from out.

    Everything of a forgotten session and every forgotten text go, what was said while the agent was in a folder that is
    not learned from, what our own tools were asked and answered, and the markup of citations. What they answer is
    remembered already: learning it again would make old news new, also out of the result of a tool that called ours.
    Citations of final answers are counted when the reading has ended, unless their host tells of them by events. With
    ``disable_on_external_context`` a session that called a web tool, or a tool of another program's, is polluted from
    then on.
    """

    def __init__(self, access: MemoryAccess, session: Session, tombstones: Tombstones) -> None:
        self._access = access
        self._session = session
        self._tombstones = tombstones
        self._own_tools = access.own_tools(session.host)
        self._forgotten = (session.host, session.id) in tombstones.sessions
        host = access.hosts.get(session.host)
        self._counts = host is None or not host.hides_citations
        self._learns = cache(lambda cwd: access.rules(cwd).learns)
        self._own_calls: set[str] = set()
        self._cited: dict[int, list[str]] = {}
        self._external = ""
        self._ended = False

    def item(self, item: Item) -> Item | None:
        """The item without what does not belong in it; None when nothing is left."""
        if self._forgotten or not self._learns(item.cwd):
            return None
        if item.tool is not None:
            if item.tool.name in self._own_tools or item.tool.id in self._own_calls:
                self._own_calls |= {item.tool.id} - {""}
                return None
            if not self._external and is_external(item.tool.name):
                self._external = item.tool.name
            item = item._replace(tool=item.tool._replace(output=without_fenced(item.tool.output)))
        elif item.role == "assistant" and citations.has_markup(item.text):
            if self._counts and item.tier == "final":
                self._cited.setdefault(item.position, []).extend(citations.parse(item.text).session_ids)
            parts = tuple(part._replace(text=citations.strip(part.text)) for part in item.parts)
            item = item._replace(parts=tuple(part for part in parts if part.text or part.kind != "text"))
            if not item.parts:
                return None
        return self._tombstones.without_item(item)

    def end(self) -> None:
        """The reading is over. Twice is the same as once."""
        if self._ended or self._forgotten:
            return
        self._ended = True
        if self._cited:
            count_citations(self._access, self._session, self._cited)
        if self._external and self._access.config().flag("memories", "disable_on_external_context"):
            mark_polluted(self._access, self._session, self._external)


def is_external(tool: str, ours: Container[str] = ()) -> bool:
    """Whether a tool brings in what others wrote: the web, tool search, other programs' servers (Codex 0.171).

    ``ours``: whole names by which the host shows our own tools. Another program's tool has another name, whatever its
    server is called.
    """
    if tool in ours:
        return False
    space, _, last = tool.lower().rpartition(".")
    return tool.startswith(_OTHERS_TOOLS) or space == "web" or re.sub(r"[^a-z]", "", last) in _WEB


def watch_tools(access: MemoryAccess, calls: Iterable[tuple[Session, Sequence[str]]]) -> None:
    """The same of calls that hosts told by an event, as they happened."""
    if access.config().flag("memories", "disable_on_external_context"):
        for session, tools in calls:
            own = access.own_tools(session.host)
            external = next((tool for tool in tools if is_external(tool, own)), "")
            if external:
                mark_polluted(access, session, external)


def mark_polluted(access: MemoryAccess, session: Session, tool: str) -> bool:
    """Never learn from the session, and let the memories that did forget it. False when the mode was said before."""
    catalogue = access.catalogue()
    key = (session.host, session.id)
    if catalogue.is_mode_stated(*key):
        return False
    catalogue.mark_polluted(*key)
    for plugin in access.memories:
        asked_to_forget(access, plugin, key)
    access.log.info("session took in outside content", session=":".join(key), tool=tool)
    return True
