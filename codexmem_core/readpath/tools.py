"""The memory tools: typed for the command line, as text for agents. They act on the memory that the session reads.

Whatever goes out is free of secrets, and an agent is never shown an exception: errors are ``<tool> error: <reason>``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from codexmem_hookspecs.errors import Refused
from codexmem_hookspecs.values.capture import Session

from codexmem_core.readpath import arguments as given
from codexmem_core.readpath import inspecting, modes
from codexmem_core.readpath.errors import ToolError
from codexmem_core.readpath.listing import list_entries
from codexmem_core.readpath.notes import add_note
from codexmem_core.readpath.offered import TOOLS, are_on
from codexmem_core.readpath.reading import FolderListing, Window, read_window
from codexmem_core.readpath.resetting import reset
from codexmem_core.readpath.results import Found
from codexmem_core.readpath.roots import memory_folder
from codexmem_core.readpath.search import MemorySearch
from codexmem_core.readpath.usage import COMMAND_LINE, is_recap, record_opened
from codexmem_core.safety.fence import fence
from codexmem_core.safety.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codexmem_hookspecs.values.capture import MemoryMode
    from codexmem_hookspecs.values.read import Ask
    from msgspec import Struct

    from codexmem_core.readpath.access import MemoryAccess
    from codexmem_core.readpath.listing import Listing
    from codexmem_core.readpath.modes import SessionMode
    from codexmem_core.readpath.notes import NoteAdded
    from codexmem_core.readpath.resetting import ResetPlan

NOBODY = Session(host="", id="")
"""Asks when no agent does: a user at the command line."""


class MemoryTools:
    """All memory tools of one home. Keep it: searches stay warm in it. Threads may share it."""

    def __init__(self, access: MemoryAccess) -> None:
        self._access = access
        self._searches: dict[str, MemorySearch] = {}
        self._lock = threading.Lock()

    # for agents

    def call(self, name: str, arguments: Mapping[str, object], session: Session, ask: Ask | None = None) -> str:
        """A tool's text. Raises KeyError for a name that is none of these."""
        tool = TOOLS[name]
        try:
            if tool.reads and not are_on(self._access.config()):
                raise ToolError("the memory tools are switched off (settings use_memories and dedicated_tools)")
            if tool.reads and (refusal := self._access.rules_for(session).refusal(tool.effect)):
                raise ToolError(refusal)
            return redact(self._answer(given.arguments(arguments, tool.kind), session, ask))
        except Exception as error:  # noqa: BLE001 - an agent reads errors as text
            if not isinstance(error, (ToolError, Refused)):
                self._access.log.warning("tool failed", tool=name, error=str(error))
            return redact(f"{name} error: {error}")

    # for the command line, each of a memory by its plugin

    def search(self, plugin: str, asked: given.Search) -> Found:
        """Raises ToolError, Refused."""
        root = self._access.root(plugin)
        with self._lock:
            search = self._searches.setdefault(root, MemorySearch(root))
        return search.search(asked)

    def read(self, plugin: str, asked: given.Read, session: Session = NOBODY) -> Window | FolderListing:
        """A recap that is opened counts as used. Raises ToolError, Refused."""
        folder = memory_folder(self._access.root(plugin))
        window = read_window(folder, asked.path, line_offset=asked.line_offset, max_lines=asked.max_lines)
        if isinstance(window, Window) and is_recap(window.path) and self._access.rules_for(session).learns:
            # The header names the session, wherever the window begins.
            record_opened(self._access, plugin, session, folder.read(window.path).decode("utf-8", "replace"))
        return window

    def entries(self, plugin: str, asked: given.List) -> Listing:
        """Raises ToolError, Refused."""
        folder = memory_folder(self._access.root(plugin))
        return list_entries(folder, asked.path, cursor=asked.cursor, max_results=asked.max_results)

    def note(self, plugin: str, asked: given.Note, session: Session = NOBODY) -> NoteAdded:
        """Raises ToolError, Refused."""
        if self._access.tombstones().holds(f"{asked.title}\n{asked.note}"):
            raise ToolError(
                "the note holds what the user had forgotten; only the user may let it be learned again: "
                "codexmem forget --lift"
            )
        folder = memory_folder(self._access.root(plugin), write=True)
        said_in = f"{session.host}:{session.id}".strip(":") or COMMAND_LINE
        return add_note(folder, asked.note, title=asked.title, now_ms=self._access.clock.now_ms(), said_in=said_in)

    def mode(self, session: str, mode: MemoryMode | None = None) -> SessionMode:
        """Show or set the mode of ``HOST:ID`` or an id; the user's own wish needs no approval. Raises ToolError."""
        key = modes.session_key(self._access, session)
        if mode is None:
            return modes.current_mode(self._access, key)
        return modes.set_mode(self._access, key, mode, approved=True)

    def inspect(self, memory: str, *, min_consolidated_threads: int = 0) -> dict[str, Any]:
        """See :func:`codexmem_core.readpath.inspecting.inspect`."""
        return inspecting.inspect(self._access, memory, min_consolidated_threads=min_consolidated_threads)

    def reset(self, confirm: Callable[[ResetPlan], bool]) -> ResetPlan:
        """Wipe every memory after ``confirm`` said yes. Raises ToolError."""
        plan = reset(self._access, confirm)
        with self._lock:
            for search in self._searches.values():
                search.clear()
        return plan

    # inside

    def _answer(self, asked: Struct, session: Session, ask: Ask | None) -> str:
        access = self._access
        if isinstance(asked, given.Mode):
            return self._mode(asked, session, ask)
        if isinstance(asked, given.Reset):
            if ask is None:
                raise ToolError("nobody can be asked here; the user can say codexmem reset")
            return self.reset(lambda plan: ask(f"{plan.text()}\nDelete it?")).done()
        if isinstance(asked, given.Inspect):
            needed = asked.min_consolidated_threads or 0
            return inspecting.as_text(self.inspect(access.memory_of(session), min_consolidated_threads=needed))
        return self._of_memory(access.installed(access.used_by(session)), asked, session)

    def _of_memory(self, plugin: str, asked: Struct, session: Session) -> str:
        """What stands in the memory goes out as reference; our own words about it do not."""
        if isinstance(asked, given.List):
            return self.entries(plugin, asked).text()
        if isinstance(asked, given.Note):
            return self.note(plugin, asked, session).text()
        found: Found | Window | FolderListing
        if isinstance(asked, given.Search):
            found = self.search(plugin, asked)
        else:
            assert isinstance(asked, given.Read)
            found = self.read(plugin, asked, session)
        if isinstance(found, FolderListing) or (isinstance(found, Found) and not found.total):
            return found.text()
        return fence(found.text(), source=f"codexmem memory {self._access.memories[plugin].name}")

    def _mode(self, asked: given.Mode, session: Session, ask: Ask | None) -> str:
        named = asked.session_id or session.id
        if not named:
            raise ToolError("which session calls is not known here; name one with session_id")
        key = modes.session_key(self._access, named, host=session.host)
        approved = (
            ask is not None
            and modes.needs_approval(self._access, key, asked.mode)
            and ask(f"{':'.join(key)} took in content from outside. Learn from it all the same?")
        )
        return modes.set_mode(self._access, key, asked.mode, approved=approved).text()
