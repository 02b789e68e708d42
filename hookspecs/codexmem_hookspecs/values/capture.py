"""Sessions, what was said in them, and what just happened in a host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple

from codexmem_hookspecs.known import Known

Tier = Literal["human", "final", "other_agent", "commentary", "context", "tool"]
"""Whose words an item holds, most trusted first: the user, the agent's answer, another agent, the agent thinking
aloud, text that the harness injected, a tool's input or output (Codex 0.171, tiered extraction input)."""

SessionKind = Literal["main", "subagent", "internal"]
MemoryMode = Literal["enabled", "disabled", "polluted"]
Moment = Literal["startup", "resume", "clear", "compact", "fork", "prompt"]
EventKind = Literal["start", "prompt", "tool", "cited", "stop", "idle", "compaction", "end", "deleted"]
"""``cited``: the host has taken citations out of an answer, so that its transcript will never show them."""


def unheard(_path: str) -> None:
    """For a query that does not ask which files are whose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation in one host, keyed by (host, id)."""

    host: str
    id: str
    locator: str = ""
    """The host's own way to find it again: a path, a URL."""
    cwd: str = ""
    """Where the session began, exactly as the host recorded it."""
    updated_at_ms: int = 0
    """Last activity, UNIX milliseconds: the newest time stated in the records if it is sane, else the file's; never
    later than now."""
    touched_at_ms: int = 0
    """When the store last changed, UNIX milliseconds, never later than now. Idle time counts from here."""
    stamp: str = ""
    """Changes whenever the session may have changed; costs no more than a stat (``mtime_ns:size:inode``)."""
    revision: str = ""
    """Changes only when the content changed; the same for a plain file and its compressed copy."""
    kind: SessionKind = "main"
    source: str = ""
    """How the host was started (``cli``, ``exec``, ``vscode``); text only."""
    memory_mode: MemoryMode = "enabled"
    """What the session itself asked for (Codex: ``memory_mode`` of session_meta)."""
    forked_from: str = ""
    """Id of the session whose history this one repeats at its beginning."""
    size_bytes: int = 0
    """Length of the uncompressed content. Of two stores of one session the longer wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionQuery:
    """Which sessions a pass wants."""

    folder: str = ""
    """Look here and nowhere else, and recognise files by their content, not by their names or places."""
    known: Known = field(default_factory=Known)
    """What the engine holds in which state: do not open that, do not yield it. A scan leaves it out by itself when it
    is given this. Empty with ``folder``."""
    claim: Callable[[str], None] = unheard
    """With ``folder``: tell that this file is a transcript of yours. Files that no host claims are reported."""


class Part(NamedTuple):
    """A piece of a message. Anything but text is a placeholder, for its bytes are never kept.

    This and the two below are named tuples (``part._replace(text=…)`` changes one), because a pass makes a hundred
    thousand of them: a frozen dataclass takes three times as long.
    """

    kind: Literal["text", "image", "audio", "file"]
    text: str = ""


class ToolUse(NamedTuple):
    """A tool call or its result; both carry the same id."""

    id: str
    name: str = ""
    status: Literal["started", "completed", "failed", "unknown"] = "unknown"
    input: str = ""
    """Arguments in full, as the host recorded them (JSON or free text)."""
    output: str = ""
    """Result in full."""


class Item(NamedTuple):
    """One thing said or done."""

    tier: Tier
    role: Literal["user", "assistant", "tool", "system"]
    position: int
    """Never decreases; reading ``after`` it gives what came later. For files: the byte just past the record."""
    parts: tuple[Part, ...] = ()
    tool: ToolUse | None = None
    at_ms: int = 0
    """UNIX milliseconds, 0 when the host did not say."""
    cwd: str = ""
    """Working directory when it differs from the session's."""
    aside: bool = False
    """Whether a subagent says or does this, in the store of the session that started it (Claude Code: sidechains)."""

    @property
    def text(self) -> str:
        """The parts as one text; for a tool its input and output."""
        if self.tool is not None:
            return "\n".join(text for text in (self.tool.input, self.tool.output) if text)
        return "\n".join(part.text or f"[{part.kind} omitted]" for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A record that could not be understood. It stops nothing, and it is reported."""

    position: int
    reason: str
    line: int = 0
    """1-based line number where the store has lines; 0 when it was not counted from the beginning."""


class FileStat(NamedTuple):
    """One file met by a scan. A named tuple: a scan makes ten thousand of them."""

    path: str
    """Relative to the folder, with ``/``."""
    size: int
    mtime_ns: int
    inode: int

    @property
    def stamp(self) -> str:
        """For :attr:`Session.stamp`."""
        return f"{self.mtime_ns}:{self.size}:{self.inode}"


class Line(NamedTuple):
    """One line of a file, without its end."""

    number: int
    """1-based, counted from where reading began."""
    end: int
    """Byte just past the line's end in the uncompressed content."""
    data: bytes
    problem: str = ""
    """Why ``data`` is empty although the line is not: it is longer than the cap."""


class Presence(Enum):
    """Whether a session still exists in its host. Only ``gone`` forgets."""

    present = "present"
    gone = "gone"
    unknown = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a host, recorded durably before any plugin hears of it."""

    id: str
    """Sorts in order of time."""
    host: str
    kind: EventKind
    session: Session
    at_ms: int
    """When the hook started, UNIX milliseconds."""
    moment: Moment | Literal[""] = ""
    """For ``start`` and ``prompt``: the moment for which context was asked."""
    prompt: str = ""
    tool: str = ""
    cited: str = ""
    """For ``cited``: the blocks that were taken out, as they stood in the answer."""
    answer: str = ""
    """For ``stop``: how the agent's last words end, as the host tells them; its transcript may not hold them yet."""
    message: str = ""
    """The host's name of the message that it is about; what is cited in one counts once, however often it is told."""
    newer: tuple[EventKind, ...] = ()
    """Kinds already recorded later for this session: an ``end`` with a newer ``start`` must not commit a live one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """That a plugin needs an event, and for how long the host waits on it (0: not at all)."""

    kind: EventKind
    wait_s: float = 0.0

    @property
    def name(self) -> str:
        """Events may be wanted by many plugins; the kind is the key within one."""
        return self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a host is told at a moment: text for the model, a line for the user."""

    context: str = ""
    notice: str = ""
