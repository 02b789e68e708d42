"""What the engine hands to a hook that names ``services``: bound to that plugin and to this call's deadline.

A plugin reaches the network, the disk and models only through these; redaction, path guard, budgets and logging are
on the engine's side of them, so that no plugin can forget one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from codexmem_hookspecs.known import Known
from codexmem_hookspecs.values.capture import FileStat, Item, Line, MemoryMode, Session, Skipped
from codexmem_hookspecs.values.extract import ExtractionRequest, Reply
from codexmem_hookspecs.values.read import Ask, Caller, ToolInfo
from codexmem_hookspecs.values.records import SettingValue

NO_CHANGES: Mapping[str, str] = MappingProxyType({})
"""For a program that is run in the environment as it is."""


class Transcript(Protocol):
    """A session's items, redacted and without private spans by construction.

    Iterate as often as you like: the host's store is parsed once a pass, however many readers there are.
    """

    @property
    def session(self) -> Session:
        """The session that it belongs to."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest of everything up to the last item: a cursor is only good for the transcript it counted."""
        ...

    @property
    def skipped(self) -> Sequence[Skipped]:
        """Records that could not be understood, with their places."""
        ...

    def __iter__(self) -> Iterator[Item]:
        """All items from the beginning."""
        ...

    def after(self, position: int) -> Iterator[Item]:
        """Items whose position is greater."""
        ...


class Transcripts(Protocol):
    """Opens transcripts of any host."""

    def open(self, session: Session) -> Transcript:
        """Parse once, then serve from the pass's cache. An empty transcript is not an error.

        Raises Unreadable when the host cannot give it now.
        """
        ...

    def tail(self, session: Session, after: int) -> Iterator[Item]:
        """Redacted items past a position, reading only what is new. Raises Unreadable and Rewritten."""
        ...


class Folder(Protocol):
    """One folder behind the path guard: nothing outside of it, no link followed, writes atomic.

    Paths are relative with ``/``. Every method raises Refused for a path that is absolute, climbs, or names a dotfile.
    """

    @property
    def root(self) -> str:
        """Absolute path."""
        ...

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """Raises FileNotFoundError; Refused when it is no regular file or larger than the limit."""
        ...

    def write(self, path: str, content: bytes, *, exclusive: bool = False) -> None:
        """Write temp, fsync, rename. ``exclusive`` creates only and raises FileExistsError."""
        ...

    def remove(self, path: str) -> bool:
        """False when there was nothing."""
        ...

    def scan(
        self,
        under: str = "",
        *,
        suffixes: tuple[str, ...] = (),
        links: bool = False,
        known: Known | None = None,
        on_error: Callable[[str, OSError], None] | None = None,
    ) -> Iterator[FileStat]:
        """Files below, each with its stat, in no order. Left out are dotfiles, and what ``known`` holds as root/path.

        ``links`` follows links to folders, each real folder once, so that loops end and nothing appears twice. A folder
        that cannot be read stops nothing: ``on_error`` hears of it, with its path, else it is a warning.
        """
        ...

    def stat(self, path: str) -> FileStat:
        """One file's stat. Raises FileNotFoundError."""
        ...

    def stat_folder(self, path: str) -> FileStat:
        """The same of a folder; its size says nothing. Raises FileNotFoundError; Refused when it is none."""
        ...

    def lines(self, path: str, after: int = 0) -> Iterator[Line]:
        """Lines of a text file, streamed; ``.zst`` is decompressed on the way (recognised by its magic bytes).

        ``after`` counts bytes of the uncompressed content. A UTF-8 byte order mark at the beginning is removed. A line
        over the cap (32 MiB) comes with a ``problem`` and without its data; a last line without its end comes as far
        as it goes. Raises Rewritten when the
        content ends before ``after`` or no line ends there, Unreadable when it cannot be opened or decompressed.
        """
        ...

    def tail(self, path: str, size: int = 65_536) -> tuple[bytes, int]:
        """The last bytes of the uncompressed content, and its whole length."""
        ...

    def lock(self, name: str, wait_s: float = 0.0) -> AbstractContextManager[bool]:
        """A lock between processes that a crash frees; the value says whether it is held."""
        ...


class Workspace(Protocol):
    """A memory's files as hooks see them: read-only. Only the engine writes a memory root."""

    @property
    def memory(self) -> str:
        """The memory's name."""
        ...

    def read(self, path: str) -> str:
        """Text of a file, undecodable bytes replaced; empty when there is none."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a regular file is there."""
        ...

    def walk(self, under: str = "") -> Iterator[str]:
        """Paths of all files, sorted; dotfiles left out."""
        ...


class Response(Protocol):
    """An HTTP answer, or why there was none."""

    @property
    def status(self) -> int:
        """0 when there was no answer."""
        ...

    @property
    def body(self) -> object:
        """Decoded JSON, else text."""
        ...

    @property
    def error(self) -> str:
        """Why there was no answer, or empty."""
        ...


class Http(Protocol):
    """The one HTTP client; it never raises."""

    def request(
        self,
        method: str,
        url: str,
        *,
        json: object = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 10.0,
        attempts: int = 1,
    ) -> Response:
        """Timeouts are cut to the call's deadline; loopback never goes through a proxy."""
        ...


class Models(Protocol):
    """The user's model; budget, breaker, ledger and redaction are inside."""

    def ask(self, request: ExtractionRequest, transcript: Transcript) -> Reply:
        """One question. The handle is what the built-in backend reads."""
        ...


class Processes(Protocol):
    """Child programs: in a group of their own, killed on timeout, marked so that they are never captured."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float,
        folder: str = "",
        environ: Mapping[str, str] = NO_CHANGES,
    ) -> tuple[int, bytes, bytes]:
        """Exit status, output, errors. Raises TimeoutError; FileNotFoundError when program or folder are not there.

        ``folder``: where it runs, absolute; empty: wherever this process does. ``environ``: what is different in the
        environment that it inherits.
        """
        ...

    def serve(
        self,
        argv: Sequence[str],
        *,
        says: str,
        timeout_s: float,
        folder: str = "",
        environ: Mapping[str, str] = NO_CHANGES,
    ) -> str:
        """Start a program that goes on working, unless it already does; it is ended with the pass, not with the call.

        ``says``: regular expression for what it prints when it is ready; its first group is returned. Raises
        FileNotFoundError, and TimeoutError when the program ends or the time is over before that.
        """
        ...


class Sessions(Protocol):
    """The catalogue of sessions."""

    def get(self, host: str, id: str) -> Session:  # noqa: A002 - the field's name
        """Raises KeyError."""
        ...

    def mode(self, session: Session) -> MemoryMode:
        """Whether the session may be remembered."""
        ...

    def memory_of(self, session: Session) -> str:
        """Name of the memory that the session reads. Looking freezes nothing."""
        ...

    def register_own(self, host: str, id: str) -> None:  # noqa: A002 - the field's name
        """Say that the session is a helper of ours: never capture it."""
        ...

    def caller(self, caller: Caller) -> Session:
        """The session that calls a tool: as the host tells it, else the one last seen in the process that serves it.

        Else the newest one of that host and folder. Only a session that was active since the tools are served, and has
        not ended, counts as the newest. When none is left the session has no id; for its host, or for none that is
        installed, it is treated like a new one.
        """
        ...


class Tools(Protocol):
    """The tools that agents are given, memory tools and plugins' own."""

    def list(self, *, asks: bool = False) -> Sequence[ToolInfo]:
        """All tools, sorted by name. ``asks``: calls will come with an ``ask``, so tools that need one are there."""
        ...

    def call(self, name: str, arguments: Mapping[str, object], session: Session, ask: Ask | None = None) -> str:
        """The tool's text. Errors are text too.

        What only the user may allow is done after ``ask`` put it to the user; without it the text says how else.
        """
        ...


class Deadline(Protocol):
    """How long this call may still take."""

    @property
    def left_s(self) -> float:
        """Seconds left, never negative."""
        ...

    @property
    def cancelled(self) -> bool:
        """True when the work is no longer wanted; ask in every loop that may be long."""
        ...


class Clock(Protocol):
    """The one clock."""

    def now_ms(self) -> int:
        """UNIX milliseconds."""
        ...


class Log(Protocol):
    """Bound to the plugin and redacted."""

    def info(self, event: str, **fields: object) -> None:
        """Something that happened."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """Something that a user should see; ``status`` and ``run`` show it."""
        ...


@runtime_checkable
class Services(Protocol):
    """Everything above, bound to one plugin."""

    @property
    def settings(self) -> Mapping[str, SettingValue]:
        """The plugin's own table, typed and clamped."""
        ...

    def settings_for(self, cwd: str) -> Mapping[str, SettingValue]:
        """The same with the project's .codexmem.toml merged in, where a setting allows it."""
        ...

    def learns_in(self, cwd: str) -> bool:
        """Whether anything may be learned from a folder: a project's own file and the user's list may say no.

        Sessions are left out by the engine; ask before you take in what else belongs to a project.
        """
        ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment; plugins never read ``os.environ``."""
        ...

    @property
    def folder(self) -> Folder:
        """``<home>/plugins/<name>``, the plugin's own."""
        ...

    def open_folder(self, root: str, *, write: bool = False) -> Folder:
        """Another folder behind the same guard; writing only where the user set it."""
        ...

    @property
    def http(self) -> Http:
        """The one HTTP client."""
        ...

    @property
    def models(self) -> Models:
        """The user's model."""
        ...

    @property
    def transcripts(self) -> Transcripts:
        """Transcripts of any host."""
        ...

    @property
    def processes(self) -> Processes:
        """Child programs."""
        ...

    @property
    def sessions(self) -> Sessions:
        """The catalogue."""
        ...

    @property
    def tools(self) -> Tools:
        """The agents' tools."""
        ...

    @property
    def memories(self) -> Mapping[str, str]:
        """Folders of the installed memories by name, to compare places with; only the engine writes there."""
        ...

    @property
    def deadline(self) -> Deadline:
        """Of this call."""
        ...

    @property
    def clock(self) -> Clock:
        """The one clock."""
        ...

    @property
    def log(self) -> Log:
        """Bound to the plugin."""
        ...
