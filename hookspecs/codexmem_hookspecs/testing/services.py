"""Small real services for a plugin's own tests: a temporary home, real files, a fixed clock, a log that remembers.

They do what the contract says and nothing more: no compressed files, no redaction, no network. A plugin that passes
here meets the engine's services, which are stricter, unchanged.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Unreadable
from codexmem_hookspecs.services import NO_CHANGES
from codexmem_hookspecs.testing.folder import PlainFolder
from codexmem_hookspecs.testing.model import ScriptedModel
from codexmem_hookspecs.values.capture import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Transcript
    from codexmem_hookspecs.values.capture import Item, MemoryMode
    from codexmem_hookspecs.values.read import Ask, Caller, ToolInfo
    from codexmem_hookspecs.values.records import SettingValue

NOW_MS = 1_800_000_000_000
"""15 January 2027: the time at which tests run unless they say otherwise."""


@dataclass
class RecordingLog:
    """A log that a test can read."""

    infos: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    warnings: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def info(self, event: str, **fields: object) -> None:
        """Something that happened."""
        self.infos.append((event, fields))

    def warning(self, event: str, **fields: object) -> None:
        """Something that a user should see."""
        self.warnings.append((event, fields))


@dataclass
class FixedClock:
    """A clock that stands until it is set."""

    at_ms: int = NOW_MS

    def now_ms(self) -> int:
        """UNIX milliseconds."""
        return self.at_ms


@dataclass
class PlainDeadline:
    """A deadline that does not come by itself."""

    left_s: float = 60.0
    cancelled: bool = False


@dataclass(frozen=True)
class NoAnswer:
    """What every request gets: the kit has no network."""

    status: int = 0
    body: object = ""
    error: str = "the test kit has no network"


class NoNetwork:
    """An HTTP client that reaches nobody and, like the real one, never raises."""

    def request(
        self,
        method: str,  # noqa: ARG002
        url: str,  # noqa: ARG002
        *,
        json: object = None,  # noqa: ARG002
        headers: Mapping[str, str] | None = None,  # noqa: ARG002
        timeout_s: float = 10.0,  # noqa: ARG002
        attempts: int = 1,  # noqa: ARG002
    ) -> NoAnswer:
        """No answer."""
        return NoAnswer()


class NoPrograms:
    """Child programs: there are none."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",  # noqa: ARG002
        timeout_s: float,  # noqa: ARG002
        folder: str = "",  # noqa: ARG002
        environ: Mapping[str, str] = NO_CHANGES,  # noqa: ARG002
    ) -> tuple[int, bytes, bytes]:
        """Raises FileNotFoundError."""
        raise FileNotFoundError(argv[0])

    def serve(
        self,
        argv: Sequence[str],
        *,
        says: str,  # noqa: ARG002
        timeout_s: float,  # noqa: ARG002
        folder: str = "",  # noqa: ARG002
        environ: Mapping[str, str] = NO_CHANGES,  # noqa: ARG002
    ) -> str:
        """Raises FileNotFoundError."""
        raise FileNotFoundError(argv[0])


class NoTools:
    """Tools: there are none."""

    def list(self, *, asks: bool = False) -> Sequence[ToolInfo]:  # noqa: ARG002
        """No tools."""
        return ()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],  # noqa: ARG002
        session: Session,  # noqa: ARG002
        ask: Ask | None = None,  # noqa: ARG002
    ) -> str:
        """Errors are text."""
        return f"{name} error: no such tool"


@dataclass
class KnownSessions:
    """A catalogue that a test fills."""

    known: dict[tuple[str, str], Session] = field(default_factory=dict)
    modes: dict[tuple[str, str], MemoryMode] = field(default_factory=dict)
    memory: str = "v1"
    own: set[tuple[str, str]] = field(default_factory=set)

    def get(self, host: str, id: str) -> Session:  # noqa: A002 - the contract's name
        """Raises KeyError."""
        return self.known[host, id]

    def mode(self, session: Session) -> MemoryMode:
        """What a test set, else what the session asked for."""
        return self.modes.get((session.host, session.id), session.memory_mode)

    def memory_of(self, session: Session) -> str:  # noqa: ARG002 - one memory for all
        """The one memory."""
        return self.memory

    def register_own(self, host: str, id: str) -> None:  # noqa: A002 - the contract's name
        """Remember a helper session."""
        self.own.add((host, id))

    def caller(self, caller: Caller) -> Session:
        """The last session of the host that was filled in, else one without an id."""
        of_host = [session for session in self.known.values() if session.host == caller.host]
        return of_host[-1] if of_host else Session(host=caller.host, id="", cwd=caller.cwd)


@dataclass
class KnownTranscripts:
    """Transcripts that a test fills in, by session."""

    known: dict[tuple[str, str], Transcript] = field(default_factory=dict)

    def open(self, session: Session) -> Transcript:
        """Raises Unreadable for a session that was not filled in."""
        try:
            return self.known[session.host, session.id]
        except KeyError:
            raise Unreadable(f"no transcript of {session.host} {session.id}") from None

    def tail(self, session: Session, after: int) -> Iterator[Item]:
        """Items past a position."""
        return self.open(session).after(after)


@dataclass
class PlainServices:
    """Services on a temporary home. Change any part before the plugin gets it."""

    home: str
    """Absolute path of a temporary folder: the user's home of the test."""
    settings: dict[str, SettingValue] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    """Absolute paths of files that were opened, in order; a scan or a stat opens nothing."""
    http: NoNetwork = field(default_factory=NoNetwork)
    models: ScriptedModel = field(default_factory=ScriptedModel)
    transcripts: KnownTranscripts = field(default_factory=KnownTranscripts)
    processes: NoPrograms = field(default_factory=NoPrograms)
    sessions: KnownSessions = field(default_factory=KnownSessions)
    tools: NoTools = field(default_factory=NoTools)
    memories: dict[str, str] = field(default_factory=dict)
    """Name → folder; by itself V1's in the temporary home."""
    apart: set[str] = field(default_factory=set)
    """Folders that are not learned from."""
    deadline: PlainDeadline = field(default_factory=PlainDeadline)
    clock: FixedClock = field(default_factory=FixedClock)
    log: RecordingLog = field(default_factory=RecordingLog)

    def __post_init__(self) -> None:
        self.environ.setdefault("HOME", self.home)
        self.memories.setdefault("v1", os.path.join(self.home, "codexmem", "memories"))

    def settings_for(self, cwd: str) -> Mapping[str, SettingValue]:  # noqa: ARG002 - no project files here
        """The settings; projects change nothing."""
        return self.settings

    def learns_in(self, cwd: str) -> bool:
        """But for the folders that a test names."""
        return cwd not in self.apart

    @property
    def folder(self) -> PlainFolder:
        """A folder of the plugin's own."""
        return PlainFolder(os.path.join(self.home, "codexmem", "plugins", "plugin"), write=True, opened=self.opened)

    def open_folder(self, root: str, *, write: bool = False) -> PlainFolder:
        """Any folder."""
        return PlainFolder(root, write=write, opened=self.opened)
