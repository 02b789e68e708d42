"""What Notebook is: its places, and that it has no hooks."""

from collections.abc import Callable, Mapping, Sequence

from codexmem_hookspecs.values.capture import Answer, Event, EventKind, Item, Moment, Session
from codexmem_hookspecs.values.read import Caller
from codexmem_hookspecs.values.setup import Edit, InstalledHook, SetupRequest


class NotebookHost:
    """Pure functions; nothing here touches a file or the network."""

    name = "notebook"
    title = "Notebook (example)"
    answers: Mapping[str, Moment] = {}
    kinds: Mapping[str, EventKind] = {}
    limit_bytes = 0
    hides_citations = False
    keeps_context = False
    gives_tools = False

    def tool_name(self, name: str) -> str:
        """Notebook shows a tool under its own name."""
        return name

    def caller(self, caller: Caller, environ: Mapping[str, str], read: Callable[[str], bytes | None]) -> str:
        """Notebook starts no MCP server that could be asked."""
        return ""

    def homes(self, environ: Mapping[str, str]) -> Sequence[str]:
        """``NOTEBOOK_HOME``, else ``~/.notebook``."""
        return [environ.get("NOTEBOOK_HOME") or f"{environ.get('HOME', '')}/.notebook"]

    def own_memories(self, environ: Mapping[str, str]) -> Sequence[str]:
        """Notebook has no memory of its own."""
        return []

    def decode(self, event: str, payload: Mapping[str, object], at_ms: int) -> Sequence[Event]:
        """Notebook has no hooks; its sessions are found by looking."""
        return []

    def encode(self, event: str, answer: Answer) -> bytes:
        """And so there is nobody to answer."""
        return b""

    def own_text(self, item: Item) -> bool:
        """Nothing of ours can be in a session."""
        return False

    def own_agent(self, session: Session) -> bool:
        """Notebook has no agent that works on memory."""
        return False

    def plan(self, request: SetupRequest) -> Sequence[Edit]:
        """Nothing to set up without hooks and MCP servers."""
        return ()

    def installed(self, request: SetupRequest) -> Sequence[InstalledHook]:
        """And so nothing is there."""
        return ()
