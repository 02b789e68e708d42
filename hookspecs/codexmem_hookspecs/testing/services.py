"""Small real services for a plugin's own tests: a temporary home, real files, a fixed clock, a log that remembers.

They do what the contract says and nothing more: no compressed files, no redaction, no network. A plugin that passes
here meets the engine's services, which are stricter, unchanged.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codexmem_hookspecs.errors import Refused, Rewritten, Unreadable
from codexmem_hookspecs.testing.model import ScriptedModel
from codexmem_hookspecs.values.capture import FileStat, Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codexmem_hookspecs.services import Transcript
    from codexmem_hookspecs.values.capture import Item, MemoryMode, Session
    from codexmem_hookspecs.values.read import ToolInfo
    from codexmem_hookspecs.values.records import SettingValue

NOW_MS = 1_800_000_000_000
"""15 January 2027: the time at which tests run unless they say otherwise."""
LINE_CAP = 32 * 1024 * 1024
"""Bytes; a longer line is passed over with a problem."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PlainFolder:
    """A folder of real files that refuses the obvious: absolute, climbing and dotfile paths."""

    def __init__(self, root: str, *, write: bool = False, opened: list[str] | None = None) -> None:
        self._root = os.path.abspath(root)
        self._write = write
        self._opened: list[str] = [] if opened is None else opened

    @property
    def root(self) -> str:
        """Absolute path."""
        return self._root

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """Whole content."""
        with open(self._file(path), "rb") as file:
            content = file.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise Refused(f"{path} is larger than {limit_bytes} bytes")
        return content

    def write(self, path: str, content: bytes, *, exclusive: bool = False) -> None:
        """Write through a temporary file beside it."""
        target = self._path(path)
        if not self._write:
            raise Refused(f"{self._root} is not for writing")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if exclusive and os.path.lexists(target):
            raise FileExistsError(target)
        with open(target + ".part", "wb") as file:
            file.write(content)
        os.replace(target + ".part", target)

    def remove(self, path: str) -> bool:
        """False when there was nothing."""
        if not self._write:
            raise Refused(f"{self._root} is not for writing")
        try:
            os.unlink(self._path(path))
        except FileNotFoundError:
            return False
        return True

    def scan(self, under: str = "", *, suffixes: tuple[str, ...] = (), links: bool = False) -> Iterator[FileStat]:
        """Files below; a folder reached twice is walked once."""
        seen: set[tuple[int, int]] = set()
        waiting = [under.strip("/")]
        while waiting:
            inside = waiting.pop()
            folder = self._path(inside) if inside else self._root
            stat = os.stat(folder)
            if (stat.st_dev, stat.st_ino) in seen:
                continue
            seen.add((stat.st_dev, stat.st_ino))
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = f"{inside}/{entry.name}" if inside else entry.name
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=links):
                        waiting.append(path)
                    elif entry.is_file(follow_symlinks=False) and (not suffixes or entry.name.endswith(suffixes)):
                        yield _stat(path, entry.stat())

    def stat(self, path: str) -> FileStat:
        """One file's stat."""
        return _stat(path, os.stat(self._path(path)))

    def lines(self, path: str, after: int = 0) -> Iterator[Line]:
        """Lines past a byte, streamed."""
        try:
            file = open(self._file(path), "rb")  # noqa: SIM115 - closed by the with below; opening may fail otherwise
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror}") from error
        with file:
            size = os.fstat(file.fileno()).st_size
            if after:
                file.seek(after - 1)
                if after > size or file.read(1) != b"\n":
                    raise Rewritten(f"{path}: no line ends at byte {after}")
            end, number = after, 0
            while raw := file.readline(LINE_CAP + 1):
                end, number = end + len(raw), number + 1
                problem = ""
                while not raw.endswith(b"\n"):
                    problem = "longer than 32 MiB" if len(raw) > LINE_CAP else problem
                    rest = file.readline(LINE_CAP)
                    if not rest:
                        problem = problem or "the file ends inside this line"
                        break
                    raw, end = rest, end + len(rest)
                data = b"" if problem else raw.rstrip(b"\r\n")
                yield Line(number, end, data.removeprefix(BYTE_ORDER_MARK) if not end - len(raw) else data, problem)

    def tail(self, path: str, size: int = 65_536) -> tuple[bytes, int]:
        """The last bytes, and the whole length."""
        with open(self._file(path), "rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - size))
            return file.read(), length

    @contextmanager
    def lock(self, name: str, wait_s: float = 0.0) -> Iterator[bool]:  # noqa: ARG002 - tests do not wait
        """A lock file; the value says whether it is held."""
        os.makedirs(self._root, exist_ok=True)
        with open(self._path(name + ".lock"), "wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
            else:
                yield True

    def _path(self, path: str) -> str:
        names = path.split("/")
        if os.path.isabs(path) or not path or any(name.startswith(".") or not name for name in names):
            raise Refused(f"{path!r} leaves {self._root} or names a dotfile")
        return os.path.join(self._root, path)

    def _file(self, path: str) -> str:
        absolute = self._path(path)
        self._opened.append(absolute)
        return absolute


def _stat(path: str, stat: os.stat_result) -> FileStat:
    return FileStat(path, stat.st_size, stat.st_mtime_ns, stat.st_ino)


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

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float) -> tuple[int, bytes, bytes]:  # noqa: ARG002
        """Raises FileNotFoundError."""
        raise FileNotFoundError(argv[0])


class NoTools:
    """Tools: there are none."""

    def list(self) -> Sequence[ToolInfo]:
        """No tools."""
        return ()

    def call(self, name: str, arguments: Mapping[str, object], session: Session) -> str:  # noqa: ARG002
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
    deadline: PlainDeadline = field(default_factory=PlainDeadline)
    clock: FixedClock = field(default_factory=FixedClock)
    log: RecordingLog = field(default_factory=RecordingLog)

    def __post_init__(self) -> None:
        self.environ.setdefault("HOME", self.home)

    def settings_for(self, cwd: str) -> Mapping[str, SettingValue]:  # noqa: ARG002 - no project files here
        """The settings; projects change nothing."""
        return self.settings

    @property
    def folder(self) -> PlainFolder:
        """A folder of the plugin's own."""
        return PlainFolder(os.path.join(self.home, "codexmem", "plugins", "plugin"), write=True, opened=self.opened)

    def open_folder(self, root: str, *, write: bool = False) -> PlainFolder:
        """Any folder."""
        return PlainFolder(root, write=write, opened=self.opened)
